// One network's opinion of the position: a board with candidates, a bar, a table and a tree.

import "./board.js";
import { CandidateTable, priorHeat, priorMarks, searchMarks, shortCount } from "./candidates.js";
import { ask, ServerError, stream } from "./connection.js";
import { h } from "./dom.js";
import { fetchView, lookOf, sideNames } from "./game_line.js";
import { PlayerChoice } from "./players.js";
import { TreeView } from "./tree_view.js";
import { forFirst, WdlBar } from "./wdl_bar.js";

const NODES = 200_000;
const LINES = 12;
const STEP_MS = 420;

/** Name the moves of a line as people write them, as everywhere on the page. */
function withLabels(line) {
  return { ...line, move: line.label, variation: line.labels };
}

export class AnalysisPane {
  /** `onplay(moves)` continues the game, `onnet()` says that another network was chosen. */
  constructor(label, { onplay, onnet }) {
    this.onplay = onplay;
    this.line = null;
    this.view = null;
    this.lines = [];
    this.layer = "search";
    this.search = null;
    this.showing = 0;
    this.net = new PlayerChoice(label, { onchange: onnet });
    this.board = h("game-board");
    this.board.addEventListener("played", (event) => onplay([event.detail.label]));
    this.bar = new WdlBar();
    const actions = { preview: (moves, atOnce) => this.preview(moves, atOnce), play: onplay };
    this.table = new CandidateTable(actions);
    this.tree = new TreeView({ ...actions, children: (path) => this.#children(path) });
    this.progress = h("p", { class: "progress" });
    this.opinion = h(
      "div",
      { class: "card opinion stack" },
      this.#head(),
      this.bar.element,
      this.table.element,
      this.tree.element,
    );
    const boardPlace = h("div", { class: "pane-board" }, this.board);
    this.element = h(
      "section",
      { class: "pane", "aria-label": label },
      h("div", { class: "pane-grid" }, boardPlace, this.opinion),
    );
  }

  #head() {
    this.choices = h("div", { class: "row grow choices" }, this.net.parts);
    return h("div", { class: "pane-head" }, this.choices, this.progress);
  }

  /** Show a position; what was found about the one before is forgotten. */
  show(line, view) {
    this.stop();
    this.line = line;
    this.view = view;
    this.lines = [];
    this.showing += 1;
    this.board.overlay({ arrows: [], marks: [], heat: [], numbers: [] });
    this.board.view = view;
    this.board.playable = !view.over;
    this.bar.clear();
    this.table.clear(view.over ? "The game is over here." : undefined);
    this.tree.clear();
    this.progress.textContent = "";
  }

  get isSearching() {
    return this.search !== null;
  }

  /** Search the position; `onend` is called when the search is complete. */
  start(onend) {
    this.stop();
    if (!this.view || this.view.over || !this.net.id) return;
    const search = new AbortController();
    this.search = search;
    const question = {
      do: "analyse",
      ...this.line.question,
      player: this.net.id,
      lines: LINES,
      nodes: NODES,
    };
    stream(question, {
      signal: search.signal,
      receive: (answer) => {
        if (this.search !== search) return;
        if (answer.info) this.#found(answer.info);
        if (answer.done) this.#ended(onend);
      },
      fail: (error) => {
        if (this.search !== search) return;
        this.#ended(onend);
        this.progress.textContent = error.message;
      },
    });
  }

  #ended(onend) {
    this.search = null;
    onend?.();
  }

  stop() {
    this.search?.abort();
    this.search = null;
  }

  #found(info) {
    this.lines = info.lines.map(withLabels);
    if (!this.lines.length) return;
    const speed =
      info.seconds > 0 ? `, ${shortCount(Math.round(info.nodes / info.seconds))}/s` : "";
    this.progress.textContent = `${shortCount(info.nodes)} nodes${speed}`;
    this.bar.update(
      forFirst(this.lines[0].wdl, this.view.turn),
      sideNames(this.view),
      lookOf(this.view),
    );
    this.table.update(this.lines);
    if (!this.isPreviewing) this.#drawLines();
  }

  /** Draw the search's candidates, the net's prior, or nothing over the board. */
  set shownLayer(layer) {
    this.layer = layer;
    if (this.view && !this.isPreviewing) this.#drawLines();
  }

  #drawLines() {
    const isSearch = this.layer === "search";
    const isPrior = this.layer === "prior";
    const marks = isSearch
      ? searchMarks(this.view, this.lines)
      : isPrior
        ? priorMarks(this.view, this.lines)
        : [];
    this.board.overlay({
      marks,
      heat: isPrior ? priorHeat(this.view, this.lines) : [],
      numbers: [],
    });
  }

  async #children(path) {
    const answer = await ask({ do: "tree", ...this.line.question, player: this.net.id, path });
    if (!answer.kept) throw new ServerError("Start the search to see its tree.");
    return answer.children.map(withLabels);
  }

  /** Play a variation on the board, or its last position at once; null ends it. */
  async preview(moves, atOnce = false) {
    const mine = ++this.showing;
    if (!moves) {
      this.#endPreview();
      return;
    }
    this.isPreviewing = true;
    const { game, start } = this.line;
    const before = this.line.shown;
    const numbers = [];
    for (let count = 1; count <= moves.length; count++) {
      const view = await fetchView(game, start, [...before, ...moves.slice(0, count)]).catch(
        () => null,
      );
      if (mine !== this.showing || !view) return;
      if (view.last?.to) numbers.push({ cell: view.last.to, number: count });
      if (atOnce && count < moves.length) continue;
      this.#showStep(view, numbers);
      if (!atOnce) await new Promise((resolve) => setTimeout(resolve, STEP_MS));
      if (mine !== this.showing) return;
    }
  }

  #showStep(view, numbers) {
    const latest = new Map(numbers.map((number) => [number.cell.join(), number]));
    this.board.overlay({ marks: [], heat: [], numbers: [...latest.values()] });
    this.board.playable = false;
    this.board.view = view;
  }

  #endPreview() {
    if (!this.isPreviewing) return;
    this.isPreviewing = false;
    this.board.view = this.view;
    this.board.playable = !this.view.over;
    this.#drawLines();
  }
}
