// The parts of a run's page that are not charts: headline, figures, workers, events, settings.

import { h } from "./dom.js";
import { ago, duration, percent, shortNumber, stateBadge, wholeNumber } from "./figures.js";

/** Make the title with state, progress and buttons. */
export function headline(run, buttons) {
  const time = h("p", { class: "run-time muted" });
  const bar = h("progress", { max: "1", "aria-label": "Progress of the run" });
  time.update = (now) => {
    time.textContent = timeText(now);
    bar.value = now.progress ?? 0;
    bar.hidden = now.progress === null || !isUnderWay;
  };
  const isUnderWay = run.state === "running" || run.state === "starting";
  time.update(run);
  return h(
    "section",
    { class: "card run-headline" },
    h(
      "div",
      { class: "page-head" },
      h(
        "div",
        { class: "row" },
        h("a", { class: "back", href: "#/runs" }, "Runs"),
        h("h1", {}, run.id),
        stateBadge(run.state),
      ),
      h("div", { class: "row" }, buttons),
    ),
    time,
    bar,
  );
}

function timeText(run) {
  const limit = run.limit?.minutes ? ` of ${duration(run.limit.minutes)}` : "";
  const end = run.limit?.iterations ? ` of ${wholeNumber(run.limit.iterations)}` : "";
  const parts = [
    run.game && `${run.game}, recipe ${run.recipe}`,
    run.iterations || end ? `iteration ${wholeNumber(run.iterations)}${end}` : "",
    `${duration(run.minutes)}${limit}`,
    run.start.device ? `on ${(run.start.devices ?? [run.start.device]).join(", ")}` : "",
    run.updated ? `last line ${ago(run.updated)}` : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

/** Make the notes on what is wrong with the folder of a run. */
export function noteList(notes) {
  return h("div", { class: "stack" }, notes.map((note) => h("p", { class: "notice warn" }, note)));
}

/** Make the newest figures. */
export function facts(run, measurements) {
  const now = run.newest;
  const elo = lastElo(measurements.elo);
  const strength = run.strength;
  const tiles = [
    strength && ["Strength", `${shortNumber(strength.errors)} %`, `${strength.label}${between(strength, " %")}`],
    elo && ["Elo", shortNumber(elo.elo), between(elo)],
    ["Loss", now.loss, `policy ${shortNumber(now.policy_loss)}, value ${shortNumber(now.value_loss)}`],
    ["Positions/s", now.positions_per_second, `${shortNumber(now.simulations_per_second)} simulations/s`],
    ["Games", run.games, `${shortNumber(run.totals.positions)} positions, ${shortNumber(now.mean_length)} plies each`],
    ["Policy entropy", now.policy_entropy, "nats, over the window"],
    ["Duplicate games", now.duplicate_games === undefined ? null : percent(now.duplicate_games), "of the last iteration"],
    ["Replay age", now.replay_age, `iterations; ${shortNumber(now.window_rows)} rows in the window`],
    ["Batch size", now.mean_batch, "rows per evaluation"],
    ["GPU load", now.device_busy === undefined ? null : percent(now.device_busy), `${shortNumber(now.device_mb)} MB in use`],
  ];
  if (!run.iterations) return h("p", { class: "card muted" }, firstWords(run.state));
  const shown = tiles.filter((tile) => tile && tile[1] !== null && tile[1] !== undefined);
  return h(
    "dl",
    { class: "tiles" },
    shown.map(([name, value, hint]) =>
      h(
        "div",
        { class: "tile" },
        h("dt", {}, name),
        h("dd", {}, h("span", { class: "figure" }, typeof value === "number" ? shortNumber(value) : value), h("span", { class: "hint" }, hint)),
      ),
    ),
  );
}

function firstWords(state) {
  if (state === "starting") return "The run is being prepared: the rules are compiled and the network is measured.";
  if (state === "running") return "The first iteration is under way. Figures and curves appear when it ends.";
  return "The run has not finished an iteration.";
}

function lastElo(elo) {
  const row = (elo?.iteration.length ?? 0) - 1;
  return row < 0 ? null : { elo: elo.elo[row], low: elo.low[row], high: elo.high[row] };
}

function between({ low, high }, unit = "") {
  if (low === null || high === null || low === high) return "";
  return ` (${shortNumber(low)} to ${shortNumber(high)}${unit})`;
}

/** Make the table of workers, null without any. */
export function workerTable(workers) {
  if (!workers.length) return null;
  const names = ["Worker", "State", "Device", "Speed", "Memory", "GPU memory", "GPU load", "Failures"];
  const rows = workers.flatMap((worker) => {
    const speed = worker.positions_per_second ?? worker.rows_per_second;
    const unit = worker.kind === "actor" ? "positions/s" : "rows/s";
    const state = worker.state ?? (worker.failures ? "restarted" : "healthy");
    const cells = [
      h("th", { scope: "row" }, worker.name),
      h("td", {}, h("span", { class: `badge ${state === "healthy" ? "good" : "warn"}` }, state)),
      h("td", {}, worker.device ?? ""),
      h("td", { class: "number" }, `${shortNumber(speed)} ${unit}`),
      h("td", { class: "number" }, `${shortNumber(worker.memory_mb)} MB`),
      h("td", { class: "number" }, worker.device_mb ? `${shortNumber(worker.device_mb)} MB` : "–"),
      h("td", { class: "number" }, percent(worker.device_busy)),
      h("td", { class: "number" }, shortNumber(worker.failures)),
    ];
    const events = worker.events.map(({ seconds, text }) => h("li", {}, h("time", {}, duration(seconds / 60)), text));
    const told = events.length
      ? [h("tr", { class: "worker-events" }, h("td", { colspan: String(names.length) }, h("ul", {}, events)))]
      : [];
    return [h("tr", {}, cells), ...told];
  });
  const head = names.map((name, at) => h("th", { scope: "col", class: at > 2 ? "number" : null }, name));
  return h(
    "section",
    { class: "card" },
    h("header", {}, h("h2", {}, "Workers")),
    h(
      "div",
      { class: "table-wrap", tabindex: "0", role: "region", "aria-label": "Workers" },
      h("table", { class: "table" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)),
    ),
  );
}

/** Make the list of events, newest first. */
export function eventList(events) {
  const items = [...events].reverse().map(({ seconds, text }) =>
    h("li", {}, h("time", {}, duration((seconds ?? 0) / 60)), h("span", {}, text)),
  );
  return h(
    "section",
    { class: "card" },
    h("header", {}, h("h2", {}, "Events")),
    items.length ? h("ol", { class: "event-list" }, items) : h("p", { class: "muted" }, "Nothing to report."),
  );
}

/** Make the settings: those that differ from the recipe, then all with a filter. */
export function settingsPanel(run) {
  const changed = run.differences.map(({ name, value, recipe }) =>
    h("tr", {}, h("th", { scope: "row", class: "mono" }, name), h("td", {}, text(value)), h("td", { class: "muted" }, text(recipe))),
  );
  const head = ["Setting", "This run", "Recipe"].map((name) => h("th", { scope: "col" }, name));
  const differences = changed.length
    ? h("table", { class: "table" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, changed))
    : h("p", { class: "muted" }, run.recipe ? `All settings are those of the recipe ${run.recipe}.` : "The settings cannot be read.");
  return h(
    "section",
    { class: "card stack" },
    h("h2", {}, "Settings"),
    h("div", { class: "table-wrap", tabindex: "0", role: "region", "aria-label": "Settings that differ" }, differences),
    allSettings(run.settings),
  );
}

function allSettings(settings) {
  const rows = Object.entries(settings).map(([name, value]) =>
    h("tr", {}, h("th", { scope: "row", class: "mono" }, name), h("td", {}, text(value))),
  );
  const filter = h("input", {
    type: "search",
    "aria-label": "Find a setting",
    placeholder: "Find a setting",
    oninput: (event) => {
      const wanted = event.target.value.trim().toLowerCase();
      for (const row of rows) row.hidden = !row.firstChild.textContent.toLowerCase().includes(wanted);
    },
  });
  return h(
    "details",
    { hidden: !rows.length },
    h("summary", {}, `All ${rows.length} settings`),
    h("div", { class: "stack all-settings" }, filter, h("div", { class: "table-wrap", tabindex: "0", role: "region", "aria-label": "All settings" }, h("table", { class: "table" }, h("tbody", {}, rows)))),
  );
}

/** Return a setting as --set takes it. */
export function text(value) {
  return value === "" ? "(empty)" : String(value);
}
