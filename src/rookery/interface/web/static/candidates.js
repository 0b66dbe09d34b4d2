// The candidates of an analysis: their colours, circles on the board, and a table.
//
// The scale is that of Lizzie: the best move is cyan, others go from green, nearly as often
// searched, to red.

import { h } from "./dom.js";
import { findMove } from "./game_line.js";
import { percent, score } from "./wdl_bar.js";

const MOST_MARKS = 12;
const LEAST_SHARE = 0.003; // of the visits; rarer moves get no circle
const LONGEST_SHOWN = 10;
const LEAST_PRIOR = 0.005; // of a row without visits

/** Return the colour of a candidate by its share of the best one's visits. */
export function candidateColor(share, isBest) {
  if (isBest) return "oklch(0.83 0.11 205)";
  const hue = 28 + 117 * Math.sqrt(Math.min(1, share));
  return `oklch(0.8 0.13 ${hue.toFixed(0)})`;
}

/** Write a number of visits in at most four characters. */
export function shortCount(count) {
  if (count < 1000) return String(count);
  if (count < 10_000) return `${(count / 1000).toFixed(1)}k`;
  if (count < 1_000_000) return `${Math.round(count / 1000)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** Return the circles for a board: win rate and visits of each candidate. */
export function searchMarks(view, lines) {
  const most = Math.max(1, ...lines.map((line) => line.visits));
  const total = lines.reduce((sum, line) => sum + line.visits, 0);
  const taken = new Set();
  const marks = lines.slice(0, MOST_MARKS).map((line, index) => {
    const move = findMove(view, line.move);
    if (!move || line.visits < LEAST_SHARE * total) return null;
    const place = String(move.to ?? move.from);
    const share = line.visits / most;
    const mark = {
      ...{ from: move.from, to: move.to, isBest: index === 0, strength: Math.sqrt(share) },
      ...{ isCovered: taken.has(place), width: 5 + 11 * Math.sqrt(share) },
      color: candidateColor(share, index === 0),
      texts: [(100 * score(line.wdl)).toFixed(1), shortCount(line.visits)],
    };
    taken.add(place);
    return mark;
  });
  return marks.filter(Boolean).reverse(); // the best is drawn last, on top
}

/** Return the heat of a board: how likely the net alone finds each cell. */
export function priorHeat(view, lines) {
  const byCell = new Map();
  for (const line of lines) {
    const cell = findMove(view, line.move)?.to;
    if (cell) byCell.set(cell.join(), (byCell.get(cell.join()) ?? 0) + (line.prior ?? 0));
  }
  const most = Math.max(0.01, ...byCell.values());
  return [...byCell].map(([key, prior]) => ({
    cell: key.split(",").map(Number),
    strength: prior / most,
  }));
}

/** Return texts of the prior for the cells of the heat. */
export function priorMarks(view, lines) {
  const shown = lines.filter((line) => (line.prior ?? 0) >= 0.01).slice(0, MOST_MARKS);
  return shown
    .map((line) => {
      const move = findMove(view, line.move);
      const text = percent(line.prior, 0).replace(" ", "");
      return move && { to: move.to ?? move.from, texts: [text], color: "oklch(0.93 0.03 60)" };
    })
    .filter(Boolean);
}

/** The table: one row per candidate; its variation plays on the board while it is pointed at. */
export class CandidateTable {
  /** `preview(moves)` shows a continuation, `preview(null)` ends it, `play(moves)` makes them. */
  constructor({ preview, play }) {
    this.preview = preview;
    this.play = play;
    this.body = h("tbody");
    const names = ["Move", "Win", "Visits", "Net", "Variation"];
    const head = names.map((name, index) =>
      h(
        "th",
        {
          scope: "col",
          class: index > 0 && index < 4 ? "number" : "",
          title: TITLES[name] ?? null,
        },
        name,
      ),
    );
    const table = h(
      "table",
      { class: "table candidates" },
      h("thead", {}, h("tr", {}, head)),
      this.body,
    );
    this.element = h("div", { class: "table-wrap" }, table);
    this.element.addEventListener("pointerleave", () => this.preview(null));
    this.rows = [];
    this.clear();
  }

  clear(text = "Start the search to see candidates.") {
    this.rows = [];
    this.body.replaceChildren(h("tr", { class: "no-rows" }, h("td", { colspan: "5" }, text)));
  }

  /** Show lines, the best first. Rows are kept, so that they stay under the pointer. */
  update(allLines) {
    const lines = allLines.filter((line) => line.visits > 0 || line.prior >= LEAST_PRIOR);
    const most = Math.max(1, ...lines.map((line) => line.visits));
    while (this.rows.length < lines.length) this.rows.push(this.#row());
    this.rows.length = lines.length;
    lines.forEach((line, index) => this.rows[index].show(line, line.visits / most, index === 0));
    const elements = this.rows.map((row) => row.element);
    const isSame =
      elements.length === this.body.children.length && this.body.firstChild === elements[0];
    if (!isSame) this.body.replaceChildren(...elements);
  }

  #row() {
    const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
    const move = h("button", {
      type: "button",
      class: "move",
      onclick: () => this.play([row.line.move]),
    });
    const [win, visits, prior] = ["number strong", "number", "number"].map((kind) =>
      h("td", { class: kind }),
    );
    const variation = h("td", { class: "variation" });
    const first = h("td", { class: "candidate-move" }, swatch, move);
    const element = h("tr", {}, first, win, visits, prior, variation);
    const row = { element, line: null, key: "" };
    element.addEventListener("pointerenter", () => this.preview(row.line.variation));
    move.addEventListener("focus", () => this.preview(row.line.variation));
    move.addEventListener("blur", () => this.preview(null));
    row.show = (line, share, isBest) => {
      row.line = line;
      move.textContent = line.move;
      win.textContent = line.visits ? percent(score(line.wdl)) : "";
      element.classList.toggle("unvisited", line.visits === 0);
      visits.textContent = shortCount(line.visits);
      prior.textContent = line.prior === undefined ? "" : percent(line.prior);
      swatch.style.background = candidateColor(share, isBest);
      this.#variation(row, variation);
    };
    return row;
  }

  #variation(row, place) {
    const moves = row.line.variation.slice(0, LONGEST_SHOWN);
    const key = moves.join(" ");
    if (key === row.key) return;
    row.key = key;
    const buttons = moves.slice(1).map((move, index) => {
      const upTo = moves.slice(0, index + 2);
      return h(
        "button",
        {
          ...{ type: "button", class: "step", "aria-label": `Show ${upTo.join(" ")}` },
          onpointerenter: () => this.preview(upTo, true),
          onfocus: () => this.preview(upTo, true),
          onblur: () => this.preview(null),
          onclick: () => this.play(upTo),
        },
        move,
      );
    });
    place.replaceChildren(...buttons);
  }
}

const TITLES = {
  Win: "Expected score of the player to move",
  Net: "Probability in the policy of the network alone",
};
