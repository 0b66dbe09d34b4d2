// The page of one run, which follows the run while it is trained.

import { button, h, toast } from "./dom.js";
import { fetchJson } from "./connection.js";
import { Chart } from "./charts.js";
import { chartControls } from "./chart_controls.js";
import { ChartGroups } from "./chart_groups.js";
import { saveFile, toCsv } from "./chart_files.js";
import { append, CHARTS, MEASURED, measuredSeries, seriesOf } from "./curves.js";
import { resumeDialog } from "./new_run.js";
import { doctorPanel } from "./doctor.js";
import { GamesPanel } from "./run_games.js";
import { eventList, facts, headline, noteList, settingsPanel, workerTable } from "./run_parts.js";

const POINTS = 1000;
const MOST_POINTS = 4000;
const CLOCK_MS = 1000;
const MANY_ROWS = 200;

export async function show(place, name) {
  const path = `/api/runs/${encodeURIComponent(name)}`;
  const [run, stats] = await Promise.all([fetchJson(path), fetchJson(`${path}/stats?points=${POINTS}`)]);
  document.title = `${run.id} - Rookery`;
  const view = new RunView(place, path, run, stats);
  return () => view.end();
}

class RunView {
  #path;
  #run;
  #stats;
  #source = null;
  #charts = [];
  #groups = null;
  #choice = { axis: "iteration", smoothing: 0, log: false };
  #parts = {};
  #clock = 0;
  #shown = {};
  #onSight = () => this.#follow();
  #onTheme = () => this.#charts.forEach(({ chart }) => chart.redraw());

  constructor(place, path, run, stats) {
    this.#path = path;
    this.#run = { ...run, control: run.control };
    this.#stats = stats;
    if (stats.rows >= MANY_ROWS) this.#choice.smoothing = 0.6;
    this.#build(place);
    this.#changeCurves();
    this.#showRun();
    this.#follow();
    this.#clock = setInterval(() => this.#tick(), CLOCK_MS);
    window.addEventListener("themechange", this.#onTheme);
    document.addEventListener("visibilitychange", this.#onSight);
  }

  end() {
    this.#source?.close();
    clearInterval(this.#clock);
    window.removeEventListener("themechange", this.#onTheme);
    document.removeEventListener("visibilitychange", this.#onSight);
    for (const { chart } of this.#charts) chart.end();
  }

  #build(place) {
    const part = (name, element = "div") => (this.#parts[name] = h(element, { class: `run-${name}` }));
    for (const chart of [...MEASURED, ...CHARTS]) {
      this.#charts.push({ ...chart, chart: new Chart(chart.title, { format: chart.format, hint: chart.hint }) });
    }
    this.#groups = new ChartGroups(this.#charts);
    const save = button("CSV", "save", () => this.#saveCsv(), "quiet");
    save.setAttribute("aria-label", "Save all curves as CSV");
    const controls = chartControls(this.#choice, () => this.#changeCurves(), save);
    this.#parts.curves = h(
      "section",
      { class: "stack", "aria-label": "Curves" },
      controls,
      this.#groups.element,
    );
    const doctor = doctorPanel(this.#path);
    const games = new GamesPanel(this.#path, this.#run);
    const main = [part("head"), part("notes"), part("facts"), this.#parts.curves, doctor, part("workers"), games.element];
    place.replaceChildren(h("div", { class: "stack run" }, main, h("div", { class: "columns" }, part("settings"), part("events"))));
  }

  /** Show everything but the curves. */
  #showRun() {
    const run = this.#run;
    const { state, control, game, notes } = run;
    this.#fill("head", [state, control, game, run.nets.length > 0], () => headline(run, this.#buttons()));
    this.#parts.head.querySelector(".run-time").update(run);
    this.#fill("notes", notes, () => (notes.length ? noteList(notes) : null));
    this.#fill("facts", [run, this.#stats.measurements.elo], () => facts(run, this.#stats.measurements));
    this.#fill("workers", run.workers, () => workerTable(run.workers));
    this.#fill("events", run.events, () => eventList(run.events));
    this.#fill("settings", [run.settings, run.differences], () => settingsPanel(run));
  }

  /** Make a part again if what it shows has changed, so that focus and scrolling stay. */
  #fill(name, shown, make) {
    const text = JSON.stringify(shown);
    if (this.#shown[name] === text) return;
    this.#shown[name] = text;
    const content = make();
    this.#parts[name].replaceChildren(...(content ? [content] : []));
    this.#parts[name].hidden = !content;
  }

  #buttons() {
    const { state, control, nets, id, game } = this.#run;
    const buttons = [];
    if (nets.length) {
      const query = new URLSearchParams({ game, player: `run:${id}` });
      buttons.push(h("a", { class: "button", href: `#/play?${query}` }, "Play against it"));
    }
    if (!control) return buttons;
    if (state === "running" || state === "starting") {
      buttons.push(button("Stop", "stop", (event) => this.#stop(event.currentTarget), "danger"));
    } else if (state === "stopped" || state === "finished" || state === "new") {
      buttons.push(button("Resume", "play", () => resumeDialog(this.#run), "primary"));
    }
    return buttons;
  }

  async #stop(clicked) {
    clicked.disabled = true;
    clicked.querySelector("span").textContent = "Stopping";
    try {
      await fetchJson(`${this.#path}/stop`, {});
      toast("The run writes its last checkpoint and stops.");
    } catch (error) {
      toast(error.message, true);
      this.#shown.head = "";
      this.#showRun();
    }
  }

  #showCurves() {
    const { columns, measurements } = this.#stats;
    for (const each of this.#charts) {
      const series = each.part
        ? measuredSeries(each, measurements, columns, this.#choice.axis, measurements[each.part].label || "Elo")
        : seriesOf(each, columns, this.#choice.axis);
      each.chart.update(series);
    }
    this.#parts.curves.hidden = !this.#groups.update();
  }

  #changeCurves() {
    const { axis, smoothing, log } = this.#choice;
    for (const { chart, part } of this.#charts) {
      chart.change({ smoothing: part ? 0 : smoothing, log: log && !part, xLabel: axis === "iteration" ? "iteration" : "minute" });
    }
    this.#showCurves();
  }

  /** Listen to news while the page can be seen; a browser opens only a few streams per server. */
  #follow() {
    this.#source?.close();
    if (document.hidden) return;
    const { rows, era } = this.#stats;
    this.#source = new EventSource(`${this.#path}/events?rows=${rows}&era=${era}`);
    this.#source.addEventListener("message", (event) => this.#receive(JSON.parse(event.data)));
  }

  #receive(news) {
    const added = news.columns.iteration?.length ?? 0;
    const isGap = news.era !== this.#stats.era || news.rows - added !== this.#stats.rows;
    this.#run = { ...news.run, control: this.#run.control };
    if (news.measurements) this.#stats.measurements = news.measurements;
    if (isGap && news.rows !== this.#stats.rows) this.#reload();
    else if (added) {
      append(this.#stats.columns, news.columns, added);
      this.#stats.rows = news.rows;
      if (this.#stats.columns.iteration.length > MOST_POINTS) this.#reload();
    }
    this.#showRun();
    this.#showCurves();
  }

  async #reload() {
    this.#stats.rows = -1;
    try {
      this.#stats = await fetchJson(`${this.#path}/stats?points=${POINTS}`);
      this.#showCurves();
    } catch {
      // The next news tries again.
    }
  }

  /** Let the time of a run go on between two lines. */
  #tick() {
    if (this.#run.state !== "running" || document.hidden) return;
    this.#run.minutes += CLOCK_MS / 60_000;
    const { minutes, iterations } = this.#run.limit;
    if (minutes && !iterations) this.#run.progress = Math.min(1, this.#run.minutes / minutes);
    this.#parts.head.querySelector(".run-time")?.update(this.#run);
  }

  #saveCsv() {
    const { columns } = this.#stats;
    const names = Object.keys(columns);
    const rows = columns.iteration.map((_, row) => names.map((name) => columns[name][row]));
    saveFile(`${this.#run.id}.csv`, toCsv(names, rows));
  }
}
