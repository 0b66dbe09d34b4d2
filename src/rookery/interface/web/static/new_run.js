// The dialogs that start and resume runs.

import { fetchJson } from "./connection.js";
import { openForm } from "./dialog.js";
import { field, h, select, toast } from "./dom.js";

const MINUTES = 10;

/** Open the dialog of a new run; `training` says what can be trained. */
export function newRunDialog(training) {
  const games = training.games.map(({ name }) => [name, name]);
  const game = select(games, games[0]?.[0], describe);
  const recipe = h("p", { class: "hint" });
  const minutes = minutesInput(MINUTES);
  const settings = h("textarea", {
    rows: "4",
    spellcheck: "false",
    placeholder: "net.width=64\nselfplay.simulations=64",
  });

  function describe() {
    const found = training.games.find(({ name }) => name === game.value);
    recipe.textContent = found ? `Starts from the recipe ${found.recipe}.` : "";
  }

  async function submit() {
    const run = await fetchJson("/api/runs", {
      game: game.value,
      minutes: Number(minutes.value),
      settings: readSettings(settings.value),
    });
    location.hash = `#/runs/${encodeURIComponent(run.id)}`;
  }

  describe();
  const fields = [
    field("Game", game),
    recipe,
    field("Minutes", minutes, "How long the run trains in total; it can be resumed for longer."),
    field(
      "Settings",
      settings,
      "One per line, as for rookery train --set; empty for those of the recipe.",
    ),
  ];
  const { refused } = training;
  openForm("New run", fields, { action: "Start", iconName: "play", submit, refused });
}

/** Ask for how long to resume a run. */
export function resumeDialog(run) {
  const suggested = Math.max(1, Math.ceil(Math.max(2 * run.minutes, run.limit?.minutes ?? 0)));
  const minutes = minutesInput(suggested);
  const taken = `It has taken ${run.minutes.toFixed(2)} minutes so far.`;
  const submit = async () => {
    const path = `/api/runs/${encodeURIComponent(run.id)}/resume`;
    await fetchJson(path, { minutes: Number(minutes.value) });
    toast(`${run.id} resumes.`);
  };
  openForm(`Resume ${run.id}`, [field("Minutes in total", minutes, taken)], {
    action: "Resume",
    iconName: "play",
    submit,
  });
}

function minutesInput(minutes) {
  return h("input", {
    type: "number",
    min: "0",
    step: "any",
    value: String(minutes),
    required: true,
  });
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
