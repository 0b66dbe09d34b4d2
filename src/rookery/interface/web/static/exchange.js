// Copy, paste and save games and positions as text.

import { fetchJson } from "./connection.js";
import { button, field, h, toast } from "./dom.js";

const MOST_BYTES = 1_000_000;
const PASTED = "Moves one after the other, a position or a saved game; in chess, a FEN or a PGN.";

/** A card with the buttons. `current()` gives { line, view, result }; `load` takes a read game. */
export function exchangeCard({ current, load }) {
  const copyPosition = () => copied(current().view.position, "Position copied");
  const copyGame = async () => copied((await written(current())).text, "Game copied");
  const save = async () => saved(await written(current()));
  const paste = () => openPaste(current().line.game, load);
  return h(
    "section",
    { class: "card exchange", "aria-label": "Copy, paste and save" },
    h(
      "div",
      { class: "exchange-buttons" },
      button("Copy position", "copy", guarded(copyPosition), "small"),
      button("Copy game", "copy", guarded(copyGame), "small"),
      button("Paste", "paste", paste, "small"),
      button("Save file", "save", guarded(save), "small"),
    ),
  );
}

function guarded(action) {
  return async () => {
    try {
      await action();
    } catch (error) {
      toast(error.message, true);
    }
  };
}

function written({ line, result }) {
  const { game, start, moves } = line;
  return fetchJson("/api/games/write", { game, start, moves, ...(result ? { result } : {}) });
}

async function copied(text, message) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    toast(message);
    return;
  }
  showText(text); // no clipboard without https or localhost
}

function showText(text) {
  const area = h("textarea", { rows: "8", readonly: true });
  area.value = text;
  const close = h("button", { class: "button primary" }, "Close");
  const form = h(
    "form",
    { method: "dialog", class: "stack" },
    field("Copy this text", area),
    close,
  );
  openDialog("Copy", form);
  area.select();
}

function saved({ text, filename }) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  h("a", { href: url, download: filename }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Show a dialog and remove it when it is closed. */
export function openDialog(title, content) {
  const name = `dialog-${Date.now()}`;
  const dialog = h("dialog", { "aria-labelledby": name }, h("h2", { id: name }, title), content);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

function openPaste(game, load) {
  const area = h("textarea", {
    rows: "8",
    spellcheck: "false",
  });
  const file = h("input", { type: "file", accept: ".txt,.pgn,.fen,.json,text/plain" });
  const problem = h("p", { class: "notice error", role: "alert", hidden: true });
  const read = async (event) => {
    event.preventDefault();
    try {
      load(await fetchJson("/api/games/read", { game, text: area.value }));
      dialog.close();
    } catch (error) {
      problem.textContent = error.message;
      problem.hidden = false;
    }
  };
  file.addEventListener("change", async () => {
    const chosen = file.files[0];
    if (chosen && chosen.size <= MOST_BYTES) area.value = await chosen.text();
    else if (chosen) toast("This file is larger than 1 MB.", true);
  });
  const buttons = h(
    "div",
    { class: "row" },
    h("button", { class: "button primary" }, "Load"),
    h("button", { class: "button", type: "button", onclick: () => dialog.close() }, "Cancel"),
  );
  const fields = [field("Text", area, PASTED), field("Or a file", file), problem, buttons];
  const dialog = openDialog(
    "Paste a position or a game",
    h("form", { class: "stack", onsubmit: read }, fields),
  );
  area.focus();
}
