// The runs: the list, one run (#/runs/NAME), or several compared (#/runs?compare=NAME,NAME).

import { button, h, toast } from "./dom.js";
import { fetchJson } from "./connection.js";
import { ago, duration, shortNumber, sparkline, stateBadge, wholeNumber } from "./figures.js";
import { newRunDialog } from "./new_run.js";

const RELOAD_MS = 4000;
const MAX_COMPARED = 8;

export async function show(place, parts, query) {
  if (parts.length) return (await import("./run.js")).show(place, parts[0]);
  const names = (query.get("compare") ?? "").split(",").filter(Boolean).slice(0, MAX_COMPARED);
  if (names.length) return (await import("./compare.js")).show(place, names);
  return showList(place);
}

async function showList(place) {
  const chosen = new Set();
  const body = h("div", {}, h("p", { class: "loading" }, "Reading the runs"));
  const compare = button("Compare", "", () => {
    location.hash = `#/runs?compare=${[...chosen].map(encodeURIComponent).join(",")}`;
  });
  const create = button("New run", "plus", openDialog, "primary");
  place.replaceChildren(
    h("div", { class: "page-head" }, h("h1", {}, "Runs"), h("div", { class: "row" }, compare, create)),
    body,
  );
  let shown = "";

  async function openDialog() {
    const training = await fetchJson("/api/training").catch((error) => toast(error.message, true));
    if (training) newRunDialog(training);
  }

  function countChosen() {
    compare.disabled = chosen.size < 2;
    compare.querySelector("span").textContent = chosen.size < 2 ? "Compare" : `Compare ${chosen.size} runs`;
  }

  async function load() {
    const runs = await fetchJson("/api/runs");
    const text = JSON.stringify(runs);
    if (text !== shown) {
      shown = text;
      const focused = document.activeElement?.dataset?.key;
      body.replaceChildren(runs.length ? table(runs, chosen, countChosen) : nothing());
      if (focused) body.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    }
  }

  countChosen();
  await load();
  const timer = setInterval(() => {
    if (!document.hidden) load().catch(() => {});
  }, RELOAD_MS);
  return () => clearInterval(timer);
}

function nothing() {
  return h(
    "section",
    { class: "card empty" },
    h("h2", {}, "No runs yet"),
    h("p", {}, "A run is one training from the first random games on. Start one here, or with rookery train in a terminal; it appears by itself."),
  );
}

function table(runs, chosen, onChoice) {
  const sorted = [...runs].sort((a, b) => order(a) - order(b) || (b.updated ?? 0) - (a.updated ?? 0));
  const names = ["", "Run", "Game", "State", "Strength", "Curve", "Iterations", "Time", "Updated"];
  const numbers = new Set(["Iterations", "Time"]);
  const head = names.map((name) =>
    h("th", { scope: "col", class: numbers.has(name) ? "number" : null }, name || h("span", { class: "visually-hidden" }, "Compare")),
  );
  const rows = sorted.map((run) => row(run, chosen, onChoice));
  return h(
    "div",
    { class: "card table-wrap" },
    h("table", { class: "table runs-table" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)),
  );
}

function order(run) {
  return run.state === "running" || run.state === "starting" ? 0 : 1;
}

function row(run, chosen, onChoice) {
  const check = h("input", {
    type: "checkbox",
    "aria-label": `Compare ${run.id}`,
    "data-key": `check ${run.id}`,
    checked: chosen.has(run.id),
    onchange: (event) => {
      if (event.target.checked) chosen.add(run.id);
      else chosen.delete(run.id);
      onChoice();
    },
  });
  const link = h("a", { href: `#/runs/${encodeURIComponent(run.id)}`, "data-key": run.id }, run.id);
  const note = run.notes?.length ? h("p", { class: "run-note" }, run.notes[0]) : null;
  const spark = run.spark?.values.length > 1 ? sparkline(run.spark.values, curveLabel(run.spark)) : null;
  const cell = (label, content, extra = "") => h("td", { "data-label": label, class: extra }, content ?? "");
  return h(
    "tr",
    {},
    cell("", check, "check-cell"),
    h("th", { scope: "row", class: "name-cell" }, link, note),
    cell("Game", run.game),
    cell("State", stateBadge(run.state)),
    cell("Strength", run.strength ? strengthText(run.strength) : h("span", { class: "muted" }, "not measured")),
    cell("Curve", spark, "spark-cell"),
    cell("Iterations", wholeNumber(run.iterations), "number"),
    cell("Time", run.minutes ? duration(run.minutes) : "", "number"),
    cell("Updated", ago(run.updated), "muted"),
  );
}

function curveLabel(spark) {
  const last = spark.values.at(-1);
  return spark.name === "errors" ? `Errors, now ${shortNumber(last)} %` : `Loss, now ${shortNumber(last)}`;
}

function strengthText(strength) {
  return h("span", { title: strength.label }, h("b", {}, `${shortNumber(strength.errors)} %`), ` ${strength.label}`);
}
