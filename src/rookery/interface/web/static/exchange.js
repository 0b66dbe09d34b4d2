// Copy, paste and save games and positions as text.

import { fetchJson } from "./connection.js";
import { openDialog, openForm } from "./dialog.js";
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

function openPaste(game, load) {
  const area = h("textarea", { rows: "8", spellcheck: "false" });
  const file = h("input", { type: "file", accept: ".txt,.pgn,.fen,.json,.jsonl,text/plain" });
  file.addEventListener("change", async () => {
    const chosen = file.files[0];
    if (chosen && chosen.size <= MOST_BYTES) area.value = await chosen.text();
    else if (chosen) toast("This file is larger than 1 MB.", true);
  });
  openForm("Paste a position or a game", [field("Text", area, PASTED), field("Or a file", file)], {
    action: "Load",
    submit: async () => load(await fetchJson("/api/games/read", { game, text: area.value })),
  });
}
