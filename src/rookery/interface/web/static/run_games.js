// Games that a run has played against itself, replayed with the opinion of its search.

import { button, h, iconButton } from "./dom.js";
import { pageAddress } from "./address.js";
import { fetchJson } from "./connection.js";
import { percent, sparkline } from "./figures.js";
import { fetchView } from "./game_line.js";

const GAMES = 100;

export class GamesPanel {
  #path;
  #run;
  #games = [];
  #game = null;
  #ply = 0;
  #board = null;
  #list = h("ol", { class: "game-list", "aria-label": "Games" });
  #replay = h("div", { class: "replay stack" });
  #body = h("div", { class: "games-body" }, h("p", { class: "muted" }, "The newest games of self-play."));

  constructor(path, run) {
    this.#path = path;
    this.#run = run;
    this.load = button("Show games", "play", () => this.#load(), "small");
    this.element = h("section", { class: "card games" }, h("header", {}, h("h2", {}, "Games"), this.load), this.#body);
  }

  async #load() {
    this.load.disabled = true;
    try {
      this.#games = await fetchJson(`${this.#path}/games?games=${GAMES}`);
      if (this.#games.length) {
        this.load.querySelector("span").textContent = "Show newer games";
        await this.#showGames();
      } else this.#body.replaceChildren(h("p", { class: "muted" }, "The run has kept no games yet."));
    } catch (error) {
      this.#body.replaceChildren(h("p", { class: "notice error" }, error.message));
    }
    this.load.disabled = false;
  }

  async #showGames() {
    if (!this.#board) {
      await import("./board.js");
      this.#board = h("game-board");
      this.#board.playable = false;
    }
    const items = this.#games.map((game, row) => h("li", {}, this.#entry(game, row)));
    this.#list.replaceChildren(...items);
    this.#body.replaceChildren(this.#list, this.#replay);
    this.#choose(this.#games.findIndex((game) => game.start !== null));
  }

  #entry(game, row) {
    const values = game.search.map(({ value }) => value);
    return h(
      "button",
      { type: "button", disabled: game.start === null, onclick: () => this.#choose(row), title: game.start === null ? "The opening of this game is not known" : null },
      h("span", { class: "result" }, game.result.replaceAll("1/2", "½")),
      h("span", { class: "muted" }, `${game.moves.length} plies, iteration ${game.iteration}`),
      sparkline(values, "Value over the game", { width: 70, height: 20 }),
    );
  }

  #choose(row) {
    if (row < 0) return;
    this.#game = this.#games[row];
    this.#list.querySelectorAll("button").forEach((each, at) => {
      if (at === row) each.setAttribute("aria-current", "true");
      else each.removeAttribute("aria-current");
    });
    this.#ply = this.#game.opening;
    this.#drawReplay();
  }

  #drawReplay() {
    const { moves } = this.#game;
    const slider = h("input", {
      type: "range",
      min: "0",
      max: String(moves.length),
      value: String(this.#ply),
      "aria-label": "Ply",
      oninput: (event) => this.#go(Number(event.target.value)),
    });
    const tools = h(
      "div",
      { class: "toolbar" },
      iconButton("First position", "start", () => this.#go(0)),
      iconButton("Move back", "left", () => this.#go(this.#ply - 1)),
      iconButton("Move on", "right", () => this.#go(this.#ply + 1)),
      iconButton("Last position", "end", () => this.#go(moves.length)),
    );
    this.slider = slider;
    this.opinion = h("div", { class: "opinion", "aria-live": "polite" });
    this.link = h("a", { class: "button small" }, "Analyse this position");
    this.#replay.replaceChildren(this.#board, h("div", { class: "row" }, tools, h("div", { class: "grow" }, slider)), this.opinion, h("div", { class: "row" }, this.link));
    this.#go(this.#ply);
  }

  async #go(ply) {
    const { start, moves, opening, search, result } = this.#game;
    this.#ply = Math.max(0, Math.min(moves.length, ply));
    this.slider.value = String(this.#ply);
    const shown = moves.slice(0, this.#ply);
    const player = `run:${this.#run.id}`;
    this.link.href = pageAddress("analyse", { game: this.#run.game, start, moves, ply: this.#ply, player });
    this.opinion.replaceChildren(...opinionParts(search[this.#ply - opening], moves, this.#ply, opening, result));
    try {
      const view = await fetchView(this.#run.game, start, shown);
      if (shown.length === this.#ply) this.#board.view = view;
    } catch (error) {
      this.opinion.replaceChildren(h("p", { class: "notice error" }, error.message));
    }
  }
}

function opinionParts(opinion, moves, ply, opening, result) {
  if (ply < opening) return [h("p", { class: "muted" }, "Random opening; the search had no say.")];
  if (!opinion) return [h("p", {}, `The game is over: ${result.replaceAll("1/2", "½")}.`)];
  const wins = (1 + opinion.value) / 2;
  const best = opinion.best === moves[ply] ? "which was played" : `played was ${moves[ply]} (${percent(opinion.share)})`;
  return [
    h("p", {}, "The search expects ", h("b", {}, percent(wins)), " of the points for the first player."),
    h("p", {}, "It prefers ", h("b", {}, opinion.best), ` (${percent(opinion.best_share)} of its policy), ${best}.`),
  ];
}
