// The dialog that starts a new run.

import { button, field, h, select, toast } from "./dom.js";
import { fetchJson } from "./connection.js";

const MINUTES = 10;

/** Open the dialog; `training` says what can be trained. */
export function newRunDialog(training) {
  const error = h("p", { class: "notice error", role: "alert", hidden: !training.refused }, training.refused);
  const games = training.games.map(({ name }) => [name, name]);
  const game = select(games, games[0]?.[0], describe);
  const minutes = h("input", { type: "number", min: "0", step: "any", value: String(MINUTES), required: true });
  const settings = h("textarea", {
    rows: "4",
    spellcheck: "false",
    placeholder: "net.width=64\nselfplay.simulations=64",
  });
  const recipe = h("p", { class: "hint" });
  const start = button("Start", "play", null, "primary");
  start.type = "submit";
  start.disabled = Boolean(training.refused);
  const dialog = h(
    "dialog",
    { "aria-labelledby": "new-run-title" },
    h(
      "form",
      { class: "stack", method: "dialog", onsubmit: submit },
      h("h2", { id: "new-run-title" }, "New run"),
      field("Game", game),
      recipe,
      field("Minutes", minutes, "How long the run trains in total; it can be resumed for longer."),
      field("Settings", settings, "One per line, as for rookery train --set; empty for those of the recipe."),
      error,
      h("div", { class: "row" }, start, button("Cancel", "", () => dialog.close(), "quiet")),
    ),
  );

  function describe() {
    const found = training.games.find(({ name }) => name === game.value);
    recipe.textContent = found ? `Starts from the recipe ${found.recipe}.` : "";
  }

  async function submit(event) {
    event.preventDefault();
    start.disabled = true;
    error.hidden = true;
    try {
      const body = { game: game.value, minutes: Number(minutes.value), settings: readSettings(settings.value) };
      const run = await fetchJson("/api/runs", body);
      dialog.close();
      location.hash = `#/runs/${encodeURIComponent(run.id)}`;
    } catch (problem) {
      error.textContent = problem.message;
      error.hidden = false;
    }
    start.disabled = false;
  }

  describe();
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** Return settings by name from lines NAME=VALUE. */
function readSettings(text) {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf("=");
      if (at < 1) throw new Error(`${line} is not a setting; write NAME=VALUE`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

/** Ask for how long to resume a run. */
export function resumeDialog(run, onDone) {
  const suggested = Math.max(1, Math.ceil(Math.max(2 * run.minutes, run.limit?.minutes ?? 0)));
  const minutes = h("input", { type: "number", min: "0", step: "any", value: String(suggested), required: true });
  const error = h("p", { class: "notice error", role: "alert", hidden: true });
  const go = button("Resume", "play", null, "primary");
  go.type = "submit";
  const dialog = h(
    "dialog",
    { "aria-labelledby": "resume-title" },
    h(
      "form",
      { class: "stack", method: "dialog", onsubmit: submit },
      h("h2", { id: "resume-title" }, `Resume ${run.id}`),
      field("Minutes in total", minutes, `It has taken ${run.minutes} minutes so far.`),
      error,
      h("div", { class: "row" }, go, button("Cancel", "", () => dialog.close(), "quiet")),
    ),
  );

  async function submit(event) {
    event.preventDefault();
    go.disabled = true;
    try {
      await fetchJson(`/api/runs/${encodeURIComponent(run.id)}/resume`, { minutes: Number(minutes.value) });
      dialog.close();
      toast(`${run.id} resumes.`);
      onDone();
    } catch (problem) {
      error.textContent = problem.message;
      error.hidden = false;
    }
    go.disabled = false;
  }

  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
