// The page Analyse: a game with one or two networks' opinions, a report, and set-up by hand.

import { pageAddress, remember } from "./address.js";
import { AnalysisPane } from "./analysis_pane.js";
import { button, field, h, icon, segmented, select, speak, toast } from "./dom.js";
import { exchangeCard } from "./exchange.js";
import { GameLine, resultText, sideNames } from "./game_line.js";
import { GamePage } from "./game_page.js";
import { fetchGames, fetchPlayers } from "./players.js";
import { PositionCard } from "./position_card.js";
import { GameReport } from "./report.js";
import { setUp } from "./set_up.js";

const LAYERS = [
  ["search", "Search"],
  ["prior", "Net"],
  ["none", "Plain"],
];

export async function show(place, parts, query) {
  const games = await fetchGames();
  const page = new AnalysePage(place, games, query);
  await page.open(query);
  return () => page.close();
}

class AnalysePage extends GamePage {
  constructor(place, games, query) {
    super(place, games, query);
    if (query.has("ply")) this.line.go(Number(query.get("ply")) || 0);
    this.isRunning = false;
    this.marks = {};
  }

  async open(query) {
    const actions = { onplay: (moves) => this.#play(moves), onnet: () => this.#netChanged() };
    this.panes = [
      new AnalysisPane("Network", actions),
      new AnalysisPane("Second network", actions),
    ];
    this.isDouble = Boolean(query.get("second"));
    this.startButton = button("Start", "play", () => this.#toggle(), "primary");
    this.panes[0].choices.append(this.startButton);
    this.#build();
    await this.#offerNets([query.get("player"), query.get("second")]);
    this.keys = (event) => this.#key(event);
    this.retry = () => this.refresh();
    document.addEventListener("keydown", this.keys);
    window.addEventListener("reconnected", this.retry);
    await this.refresh();
  }

  close() {
    document.removeEventListener("keydown", this.keys);
    window.removeEventListener("reconnected", this.retry);
    this.panes.forEach((pane) => pane.stop());
    this.report.stop();
  }

  // Building

  #build() {
    this.card = new PositionCard({
      goTo: (ply) => this.#goTo(ply),
      step: (plies) => this.#goTo(this.line.ply + plies),
      last: () => this.#goTo(this.line.moves.length),
      flip: () => this.#flip(),
      edit: () => this.#edit(),
    });
    this.noNet = h("p", { class: "notice", hidden: true });
    this.report = new GameReport({
      current: () => this.#reportQuestion(),
      onpick: (ply) => this.#goTo(ply),
      onmarks: (marks) => this.#mark(marks),
    });
    this.panesPlace = h("div", { class: "panes" });
    this.side = h(
      "div",
      { class: "side-column stack" },
      this.#controls(),
      this.card.element,
      this.#exchange(),
    );
    const main = h(
      "div",
      { class: "stack" },
      this.problem,
      this.noNet,
      this.panesPlace,
      this.report.element,
    );
    const title = h("h1", { class: "visually-hidden" }, "Analyse");
    this.place.replaceChildren(title, h("div", { class: "analyse-layout" }, main, this.side));
    this.#placePanes();
    this.#drawStart();
  }

  #controls() {
    const titles = this.games.map((game) => [game.name, game.title]);
    this.gameSelect = select(titles, this.line.game, (game) => this.#chooseGame(game));
    const layers = segmented("On the board", LAYERS, "search", (layer) => {
      for (const pane of this.panes) pane.shownLayer = layer;
    });
    this.doubleBox = h("input", {
      type: "checkbox",
      checked: this.isDouble,
      onchange: () => this.#setDouble(this.doubleBox.checked),
    });
    const double = h("label", { class: "check" }, this.doubleBox, "Compare two networks");
    return h(
      "section",
      { class: "card stack", "aria-label": "Analysis" },
      field("Game", this.gameSelect),
      layers,
      double,
    );
  }

  #exchange() {
    const current = () => ({ line: this.line, view: this.view });
    return exchangeCard({
      current,
      load: ({ start, moves }) => this.#setLine(new GameLine(this.line.game, start, moves)),
    });
  }

  #placePanes() {
    const panes = this.isDouble ? this.panes : this.panes.slice(0, 1);
    this.panesPlace.replaceChildren(...panes.map((pane) => pane.element));
    this.panesPlace.classList.toggle("double", this.isDouble);
  }

  get #shownPanes() {
    return this.isDouble ? this.panes : this.panes.slice(0, 1);
  }

  async #offerNets(chosen) {
    const players = await fetchPlayers(this.line.game);
    const nets = players.filter((player) => player.kind === "net");
    this.panes[0].net.offer(nets, chosen[0] || null);
    this.panes[1].net.offer(nets, chosen[1] || nets[1]?.id || null);
    this.hasNets = nets.length > 0;
    this.noNet.hidden = this.hasNets;
    this.noNet.textContent = `There is no network for ${this.title} yet. Train one with "rookery train ${this.line.game}" and start the server with its run folder.`;
  }

  // The position

  draw() {
    const { view, line } = this;
    const text = view.over ? `${resultText(view)}.` : `${sideNames(view)[view.turn]} to move.`;
    for (const pane of this.panes) {
      pane.show(line, view);
      pane.board.label = `${this.title} board. ${text}`;
    }
    this.card.update(line, view, text);
    this.card.playLink.href = pageAddress("play", {
      game: line.game,
      start: line.start,
      moves: line.shown,
      player: this.panes[0].net.id,
      side: view.turn,
    });
    this.#drawList();
    this.#drawStart();
    this.report.shownPly = line.ply;
    this.#remember();
    if (this.isRunning) this.#startPanes();
  }

  #drawList() {
    const { moves, ply } = this.line;
    this.card.list.update({ moves, ply, firstTurn: this.firstTurn ?? 0, marks: this.marks });
  }

  #remember() {
    const { game, start, moves, ply } = this.line;
    const second = this.isDouble ? this.panes[1].net.id : "";
    remember("analyse", {
      game,
      start,
      moves,
      ply: ply === moves.length ? "" : ply,
      player: this.panes[0].net.id,
      second,
    });
  }

  #setLine(line) {
    this.line = line;
    this.report.clear();
    return this.refresh();
  }

  async #chooseGame(game) {
    this.view = null;
    this.#halt();
    this.line = new GameLine(game);
    this.report.clear();
    try {
      await this.#offerNets([null, null]);
    } catch (error) {
      toast(error.message, true);
    }
    await this.refresh();
  }

  async #play(moves) {
    const before = this.line.moves;
    for (const move of moves) this.line.push(move);
    if (this.line.moves !== before) this.report.clear();
    await this.refresh();
    speak(`${moves.at(-1)}. ${this.card.status.textContent}`);
  }

  async #goTo(ply) {
    this.line.go(ply);
    await this.refresh();
    speak(this.card.status.textContent);
  }

  #flip() {
    for (const pane of this.panes) pane.board.flipped = !pane.board.flipped;
  }

  #key(event) {
    if (
      event.target.closest("game-board, input, select, textarea, dialog") ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
      return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    this.#goTo(this.line.ply + step);
  }

  // The search

  #toggle() {
    if (this.isRunning) {
      this.#halt();
      return;
    }
    this.isRunning = true;
    this.#startPanes();
  }

  #startPanes() {
    this.#drawStart();
    for (const pane of this.#shownPanes) pane.start(() => this.#drawStart());
    this.#drawStart();
  }

  #halt() {
    this.isRunning = false;
    this.panes.forEach((pane) => pane.stop());
    this.#drawStart();
  }

  #drawStart() {
    const isReady = Boolean(this.hasNets && this.view);
    this.startButton.disabled = !isReady;
    this.report.run.disabled = !isReady;
    this.startButton.replaceChildren(
      icon(this.isRunning ? "stop" : "play"),
      h("span", {}, this.isRunning ? "Stop" : "Start"),
    );
  }

  #netChanged() {
    this.report.clear();
    this.refresh();
  }

  #setDouble(isDouble) {
    this.isDouble = isDouble;
    if (!isDouble) this.panes[1].stop();
    this.#placePanes();
    this.refresh();
  }

  #reportQuestion() {
    return {
      line: this.line,
      player: this.panes[0].net.id,
      firstTurn: this.firstTurn,
      names: sideNames(this.view),
    };
  }

  #mark(marks) {
    this.marks = marks;
    this.#drawList();
  }

  // Set-up by hand

  #edit() {
    this.#halt();
    this.editor?.close();
    this.#setDouble((this.doubleBox.checked = false));
    this.editor = setUp(this.panes[0], this.view, this.line.game, async (line) => {
      this.editor = null;
      await (line ? this.#setLine(line) : this.refresh());
      this.card.editButton.focus();
    });
  }
}
