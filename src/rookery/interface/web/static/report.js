// A report of a game: the value after every move, drawn as a graph, and the worst moves.

import { stream } from "./connection.js";
import { button, h, icon, s } from "./dom.js";
import { percent, score } from "./wdl_bar.js";

const NODES_PER_POSITION = 50;
const WIDTH = 600;
const HEIGHT = 160;
const WORST = 5;
const KINDS = [
  { least: 0.2, kind: "blunder", sign: "??" },
  { least: 0.1, kind: "mistake", sign: "?" },
  { least: 0.05, kind: "doubtful", sign: "?!" },
];

/** Return what moves cost: [{ index, loss, kind, sign }] from the first player's scores. */
export function judged(scores, firstTurn) {
  const found = [];
  for (let index = 0; index + 1 < scores.length; index++) {
    if (scores[index] === undefined || scores[index + 1] === undefined) continue;
    const gain = scores[index + 1] - scores[index];
    const loss = (firstTurn + index) % 2 === 0 ? -gain : gain;
    const kind = KINDS.find(({ least }) => loss >= least);
    if (kind) found.push({ index, loss, kind: kind.kind, sign: kind.sign });
  }
  return found;
}

export class GameReport {
  /** `current()` gives { line, player, firstTurn, names }; `onpick(ply)` shows a position. */
  constructor({ current, onpick, onmarks }) {
    this.current = current;
    this.onpick = onpick;
    this.onmarks = onmarks;
    this.scores = [];
    this.work = null;
    this.graph = s("svg", {
      class: "graph",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      role: "img",
    });
    this.graph.addEventListener("click", (event) => this.#clicked(event));
    this.worst = h("ol", { class: "worst" });
    this.note = h(
      "p",
      { class: "muted small-text" },
      "The value after every move, and the moves that cost most.",
    );
    this.run = button("Make a report", "play", () => this.#toggle(), "small");
    const header = h("header", {}, h("h2", {}, "Game report"), this.run);
    this.element = h(
      "section",
      { class: "card report", "aria-label": "Game report" },
      header,
      this.note,
      this.graph,
      this.worst,
    );
    this.clear();
  }

  /** Forget the report: the game has changed. */
  clear() {
    this.stop();
    this.scores = [];
    this.marks = [];
    this.onmarks({});
    this.#draw(0);
  }

  stop() {
    this.work?.abort();
    this.work = null;
    this.#label("Make a report", "play");
  }

  #label(text, iconName) {
    this.run.replaceChildren(icon(iconName), h("span", {}, text));
  }

  #toggle() {
    if (this.work) {
      this.stop();
      return;
    }
    const { line, player, firstTurn, names } = this.current();
    this.scores = new Array(line.moves.length + 1).fill(undefined);
    Object.assign(this, { firstTurn, names, moves: line.moves, ply: line.ply });
    const work = new AbortController();
    this.work = work;
    this.#label("Stop", "stop");
    const { game, start, moves } = line;
    const question = { do: "report", game, start, moves, player, nodes: NODES_PER_POSITION };
    const receive = (answer) => this.work === work && this.#received(answer);
    stream(question, { signal: work.signal, receive, fail: (error) => this.#failed(error) });
  }

  #failed(error) {
    this.stop();
    this.note.textContent = error.message;
  }

  #received(answer) {
    if (answer.ply !== undefined) {
      const share = answer.wdl ? score(answer.wdl) : (answer.value + 1) / 2;
      const isFirst = (this.firstTurn + answer.ply) % 2 === 0;
      this.scores[answer.ply] = isFirst ? share : 1 - share;
    }
    if (answer.done) this.stop();
    this.marks = judged(this.scores, this.firstTurn);
    this.#draw(this.ply);
    this.onmarks(Object.fromEntries(this.marks.map((mark) => [mark.index, mark])));
  }

  /** Move the line of the graph to a ply. */
  set shownPly(ply) {
    this.ply = ply;
    this.#draw(ply);
  }

  #draw(ply) {
    const known = this.scores.some((value) => value !== undefined);
    this.graph.toggleAttribute("hidden", !known);
    this.worst.hidden = !this.marks?.length;
    this.note.hidden = known;
    if (!known) return;
    const [x, y] = [
      (index) => (WIDTH * index) / Math.max(1, this.scores.length - 1),
      (value) => HEIGHT * (1 - value),
    ];
    const points = this.scores.map((value, index) =>
      value === undefined ? null : `${x(index).toFixed(1)} ${y(value).toFixed(1)}`,
    );
    const path = `M${points.filter(Boolean).join("L")}`;
    const last = this.scores.findLastIndex((value) => value !== undefined);
    this.graph.replaceChildren(
      s("path", { class: "area", d: `${path}L${x(last)} ${HEIGHT}L0 ${HEIGHT}z` }),
      s("path", { class: "half", d: `M0 ${HEIGHT / 2}H${WIDTH}` }),
      s("path", { class: "curve", d: path }),
      s("path", { class: "now", d: `M${x(ply)} 0V${HEIGHT}` }),
      ...this.#spots(x, y),
    );
    this.graph.setAttribute("aria-label", this.#description());
    this.#drawWorst();
  }

  #spots(x, y) {
    const bad = this.marks.filter(({ kind }) => kind !== "doubtful");
    return bad.map(({ index, kind }) => {
      const [left, top] = [x(index + 1), y(this.scores[index + 1])];
      return s("path", { class: `spot-${kind}`, d: `M${left} ${top}h.01` });
    });
  }

  #description() {
    return `Expected score of ${this.names[0]} over ${this.moves.length} moves; ${this.marks.length} moves cost 5 % or more.`;
  }

  #drawWorst() {
    const worst = [...this.marks].sort((a, b) => b.loss - a.loss).slice(0, WORST);
    const items = worst.map(({ index, loss, kind, sign }) => {
      const number = Math.floor((index + this.firstTurn) / 2) + 1;
      const dots = (index + this.firstTurn) % 2 ? "..." : ".";
      const text = h("span", { class: "grow" }, `${number}${dots} ${this.moves[index]}${sign}`);
      const cost = h("span", { class: "muted" }, `costs ${percent(loss, 0)}`);
      return h(
        "li",
        {},
        h(
          "button",
          { type: "button", class: `move ${kind}`, onclick: () => this.onpick(index + 1) },
          text,
          cost,
        ),
      );
    });
    this.worst.replaceChildren(...items);
  }

  #clicked(event) {
    const box = this.graph.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    this.onpick(Math.round(share * (this.scores.length - 1)));
  }
}
