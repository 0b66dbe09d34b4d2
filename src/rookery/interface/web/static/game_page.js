// What the pages with a game share: its line of moves, the view of the position, and errors.

import { movesOf } from "./address.js";
import { h } from "./dom.js";
import { GameLine } from "./game_line.js";

const USUAL_GAME = "connect4";

/** Return the name of the game that an address asks for, or of the usual one. */
export function chosenGame(games, query) {
  const names = games.map((game) => game.name);
  return [query.get("game"), USUAL_GAME].find((name) => names.includes(name)) ?? names[0];
}

export class GamePage {
  #turn = 0;

  constructor(place, games, query) {
    this.place = place;
    this.games = games;
    this.line = new GameLine(chosenGame(games, query), query.get("start") ?? "", movesOf(query));
    this.view = null;
    this.problem = h("p", { class: "notice error", role: "alert", hidden: true });
  }

  /** The name of the game for people. */
  get title() {
    return this.games.find((game) => game.name === this.line.game)?.title ?? this.line.game;
  }

  /** Fetch the view of the position shown and draw it, unless another was asked for meanwhile. */
  async refresh() {
    const mine = ++this.#turn;
    try {
      const view = await this.line.view();
      if (mine !== this.#turn) return;
      this.view = view;
      this.firstTurn = (view.turn + this.line.ply) % 2;
      this.problem.hidden = true;
      this.draw();
    } catch (error) {
      this.complain(error);
    }
  }

  complain(error) {
    this.problem.textContent = error.message;
    this.problem.hidden = false;
  }
}
