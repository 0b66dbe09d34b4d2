// Several runs on the same charts, and the settings in which they differ.

import { h } from "./dom.js";
import { fetchJson } from "./connection.js";
import { Chart } from "./charts.js";
import { chartControls } from "./chart_controls.js";
import { ChartGroups } from "./chart_groups.js";
import { CHARTS, MEASURED, measuredSeries, places } from "./curves.js";
import { duration, shortNumber, stateBadge, wholeNumber } from "./figures.js";
import { text } from "./run_parts.js";

const POINTS = 600;

export async function show(place, names) {
  document.title = "Compare runs - Rookery";
  const runs = await Promise.all(names.map(load));
  const choice = { axis: "iteration", smoothing: 0, log: false };
  const charts = allCharts();
  const groups = new ChartGroups(charts);
  const controls = chartControls(choice, () => {
    for (const { chart, part } of charts) {
      const xLabel = choice.axis === "iteration" ? "iteration" : "minute";
      chart.change({ smoothing: part ? 0 : choice.smoothing, log: choice.log && !part, xLabel });
    }
    update();
  });
  place.replaceChildren(
    h(
      "div",
      { class: "stack" },
      h("div", { class: "page-head" }, h("div", { class: "row" }, h("a", { class: "back", href: "#/runs" }, "Runs"), h("h1", {}, `${runs.length} runs compared`))),
      overview(runs),
      controls,
      groups.element,
      settingsTable(runs),
    ),
  );

  function update() {
    for (const each of charts) each.chart.update(runs.flatMap((run) => seriesOfRun(each, run, choice.axis)));
    groups.update();
  }

  const redraw = () => charts.forEach(({ chart }) => chart.redraw());
  window.addEventListener("themechange", redraw);
  update();
  return () => {
    window.removeEventListener("themechange", redraw);
    for (const { chart } of charts) chart.end();
  };
}

async function load(name, row) {
  const path = `/api/runs/${encodeURIComponent(name)}`;
  const [run, stats] = await Promise.all([fetchJson(path), fetchJson(`${path}/stats?points=${POINTS}`)]);
  return { ...run, stats, color: `--chart-${(row % 8) + 1}` };
}

/** Make one chart per column, since each run is a line of it. */
function allCharts() {
  const single = CHARTS.flatMap(({ title, lines, ...rest }) =>
    lines.map(([column, label]) => ({ ...rest, column, title: lines.length > 1 ? `${title}: ${label}` : title })),
  );
  return [...MEASURED, ...single].map((each) => ({ ...each, chart: new Chart(each.title, { format: each.format }) }));
}

function seriesOfRun(chart, run, axis) {
  const { columns, measurements } = run.stats;
  if (chart.part) return measuredSeries(chart, measurements, columns, axis, run.id, run.color);
  const y = columns[chart.column];
  if (!y?.some((value) => value !== null)) return [];
  return [{ label: run.id, color: run.color, x: places(columns, axis), y }];
}

function overview(runs) {
  const rows = runs.map((run) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("span", { class: `swatch swatch${run.color}` }), h("a", { href: `#/runs/${encodeURIComponent(run.id)}` }, run.id)),
      h("td", {}, run.game),
      h("td", {}, stateBadge(run.state)),
      h("td", {}, run.strength ? `${shortNumber(run.strength.errors)} % ${run.strength.label}` : "not measured"),
      h("td", { class: "number" }, wholeNumber(run.iterations)),
      h("td", { class: "number" }, duration(run.minutes)),
    ),
  );
  const head = ["Run", "Game", "State", "Strength", "Iterations", "Time"].map((name, at) => h("th", { scope: "col", class: at > 3 ? "number" : null }, name));
  return scrolling("Runs", head, rows);
}

/** Make the table of settings that are not the same in all runs. */
function settingsTable(runs) {
  const names = [...new Set(runs.flatMap((run) => Object.keys(run.settings)))];
  const different = names.filter((name) => new Set(runs.map((run) => text(run.settings[name] ?? ""))).size > 1);
  const rows = different.map((name) =>
    h("tr", {}, h("th", { scope: "row", class: "mono" }, name), runs.map((run) => h("td", {}, text(run.settings[name] ?? "")))),
  );
  const head = ["Setting", ...runs.map((run) => run.id)].map((name) => h("th", { scope: "col" }, name));
  const content = rows.length ? scrolling("Settings that differ", head, rows) : h("p", { class: "card muted" }, "All settings are the same.");
  return h("section", { class: "stack" }, h("h2", {}, "Settings that differ"), content);
}

function scrolling(label, head, rows) {
  return h(
    "div",
    { class: "card table-wrap", tabindex: "0", role: "region", "aria-label": label },
    h("table", { class: "table" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)),
  );
}
