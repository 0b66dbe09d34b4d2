// The page Play: one game against a player of the server, or between two people.

import "./board.js";
import { pageAddress, remember } from "./address.js";
import { fetchJson } from "./connection.js";
import { button, h, speak, toast } from "./dom.js";
import { exchangeCard } from "./exchange.js";
import { GameCard } from "./game_card.js";
import { findMove, GameLine, lookOf, resultText, sideNames, typedMove } from "./game_line.js";
import { chosenGame, GamePage } from "./game_page.js";
import { Opponent } from "./opponent.js";
import { playerStrip } from "./player_strip.js";
import { fetchGames } from "./players.js";
import { SetupForm } from "./setup_form.js";
import { percent, score } from "./wdl_bar.js";

export async function show(place, parts, query) {
  const page = new PlayPage(place, await fetchGames(), query);
  await page.open();
  return () => page.close();
}

class PlayPage extends GamePage {
  constructor(place, games, query) {
    super(place, games, query);
    this.settings = settingsOf(games, query);
    this.resigned = null;
  }

  async open() {
    this.form = new SetupForm(this.games, this.settings, {
      onchange: (settings) => this.#reconfigure(settings),
      onstart: (settings, position) => this.#newGame(settings, position),
    });
    await this.form.load();
    this.#take(this.form.settings);
    this.human = chosenSide(this.settings);
    this.#build();
    this.retry = () => this.refresh().then(() => this.#reply());
    window.addEventListener("reconnected", this.retry);
    await this.retry();
  }

  close() {
    window.removeEventListener("reconnected", this.retry);
    this.opponent.stop();
  }

  // Building

  #build() {
    this.board = h("game-board", { class: "main-board" });
    this.board.addEventListener("played", (event) => this.#played(event.detail));
    this.board.flipped = this.human === 1;
    this.strips = [playerStrip(), playerStrip()];
    this.others = h("div", {
      class: "row other-moves",
      role: "group",
      "aria-label": "Moves without a cell",
    });
    this.card = new GameCard({
      undo: () => this.#step(-1),
      redo: () => this.#step(1),
      flip: () => this.#flip(),
      hint: () => this.#hint(),
      resign: () => this.#resign(),
      pick: (ply) => this.#goTo(ply),
      type: (text) => this.#type(text),
    });
    const left = h(
      "div",
      { class: "board-column" },
      this.strips[1].element,
      this.board,
      this.strips[0].element,
      this.others,
    );
    const exchange = exchangeCard({
      current: () => this.#current(),
      load: (game) => this.#load(game),
    });
    const right = h(
      "div",
      { class: "side-column stack" },
      this.problem,
      this.card.element,
      exchange,
    );
    const title = h("h1", { class: "visually-hidden" }, "Play");
    this.place.replaceChildren(
      title,
      h("div", { class: "play-layout" }, left, right, this.form.element),
    );
  }

  // The state on the page

  draw() {
    const { view, line } = this;
    this.form.nameSides(sideNames(view));
    this.board.overlay({ arrows: [] });
    this.board.view = view;
    this.board.playable = this.#isHumanToMove();
    this.board.label = `${this.title} board. ${view.over ? resultText(view) : `${sideNames(view)[view.turn]} to move`}`;
    this.card.list.update({ moves: line.moves, ply: line.ply, firstTurn: this.firstTurn });
    this.#drawOthers();
    this.#drawStrips();
    this.#drawStatus();
    this.#drawTools();
    this.#remember();
  }

  #drawOthers() {
    const moves = this.#isHumanToMove() ? this.board.otherMoves : [];
    const buttons = moves.map((move) =>
      button(move.label, null, () => this.#played(move), "small"),
    );
    if (this.#isOpponentToMove() && !this.line.isAtEnd)
      buttons.push(button("Let the opponent move here", "play", () => this.#reply(true), "small"));
    this.others.replaceChildren(...buttons);
  }

  #drawStrips() {
    const names = sideNames(this.view);
    const bottom = this.board.flipped ? 1 : 0;
    const isOver = this.#isOver();
    [bottom, 1 - bottom].forEach((player, index) => {
      const isOpponent = !this.opponent.isPerson && player !== this.human;
      this.strips[index].update({
        player,
        look: lookOf(this.view),
        name: names[player],
        who: !this.opponent.isPerson ? (isOpponent ? this.opponent.text : "You") : "",
        isToMove: !isOver && this.view.turn === player,
        isThinking: isOpponent && this.opponent.isThinking,
        note: isOpponent && this.opinion ? this.opinion : "",
      });
    });
  }

  #drawStatus() {
    this.card.say(this.#statusText(), this.#isOver());
  }

  #statusText() {
    const names = sideNames(this.view);
    if (this.resigned !== null && this.line.isAtEnd)
      return `${names[this.resigned]} resigned. ${names[1 - this.resigned]} wins.`;
    if (this.view.over) return `${resultText(this.view)}.`;
    if (this.opponent.isThinking) return "Thinking";
    if (this.opponent.isPerson) return `${names[this.view.turn]} to move.`;
    if (this.#isHumanToMove()) return `Your move, ${names[this.human]}.`;
    return `${names[this.view.turn]} to move.`;
  }

  #drawTools() {
    this.card.allow({
      undo: this.line.ply > 0,
      redo: !this.line.isAtEnd,
      flip: !this.view.drops && this.view.height > 0,
      hint: this.#isHumanToMove(),
      resign: !this.#isOver() && this.line.moves.length > 0,
    });
    this.card.analyseLink.href = pageAddress("analyse", {
      ...this.#address(),
      player: this.opponent.netId,
    });
  }

  #address() {
    const { game, start, moves, ply } = this.line;
    return { game, start, moves, ply: ply === moves.length ? "" : ply };
  }

  #remember() {
    const { player, limitKind, amount } = this.settings;
    const { game, start, moves } = this.line;
    remember("play", { game, player, side: this.human, limit: limitKind, amount, start, moves });
  }

  #isOver() {
    return this.view.over || (this.resigned !== null && this.line.isAtEnd);
  }

  #isHumanToMove() {
    if (!this.view || this.#isOver() || this.opponent.isThinking) return false;
    return this.opponent.isPerson || this.view.turn === this.human;
  }

  #isOpponentToMove() {
    if (!this.view || this.#isOver() || this.opponent.isThinking) return false;
    return !this.opponent.isPerson && this.view.turn !== this.human;
  }

  #current() {
    return { line: this.line, view: this.view, result: this.#resultCode() };
  }

  #resultCode() {
    return this.resigned === null ? undefined : this.resigned === 0 ? "0-1" : "1-0";
  }

  // What the user does

  async #played(move) {
    this.resigned = null;
    this.line.push(move.label);
    await this.refresh();
    if (this.opponent.isPerson || this.#isOver()) speak(`${move.label}. ${this.#statusText()}`);
    this.#reply();
  }

  /** Make a move that was typed; return whether it is one. */
  #type(text) {
    const isMine = this.#isHumanToMove();
    const move = isMine ? typedMove(this.view, text) : undefined;
    const problem = `${text || "This"} is not a legal move here.`;
    if (move) this.#played(move);
    else toast(isMine ? problem : "It is not your move.", true);
    return Boolean(move);
  }

  /** Undo or redo: against an opponent, to the next position where you are to move. */
  async #step(direction) {
    const isMine = (ply) => this.opponent.isPerson || (this.firstTurn + ply) % 2 === this.human;
    let ply = this.line.ply + direction;
    while (ply > 0 && ply < this.line.moves.length && !isMine(ply)) ply += direction;
    await this.#goTo(ply);
  }

  async #goTo(ply) {
    this.opponent.stop();
    this.line.go(ply);
    this.opinion = "";
    await this.refresh();
    speak(this.#statusText());
  }

  #flip() {
    this.board.flipped = !this.board.flipped;
    this.#drawStrips();
  }

  #resign() {
    this.opponent.stop();
    this.resigned = !this.opponent.isPerson ? this.human : this.view.turn;
    this.line.go(this.line.moves.length);
    this.refresh().then(() => speak(this.#statusText()));
  }

  async #hint() {
    const { line, view } = this;
    this.card.allow({ hint: false });
    try {
      const answer = await this.opponent.hint(line, this.form.opponent.players);
      if (view !== this.view) return;
      const move = findMove(view, answer.move);
      this.board.overlay({ arrows: move?.to ? [{ from: move.from, to: move.to }] : [] });
      const text = `Hint: ${move?.label ?? answer.move}`;
      this.card.say(text, false);
      speak(text);
    } catch (error) {
      toast(error.message, true);
    }
    this.card.allow({ hint: this.#isHumanToMove() });
  }

  #load({ start, moves }) {
    this.opponent.stop();
    this.resigned = null;
    this.opinion = "";
    this.line = new GameLine(this.line.game, start, moves);
    this.refresh();
  }

  // New games and the opponent

  #reconfigure(settings) {
    const isUntouched = this.line.moves.length === 0 && settings.game !== undefined;
    const isSameGame = settings.game === this.line.game;
    if (isUntouched || !isSameGame) {
      this.#newGame(settings, isSameGame ? this.line.start : "");
      return;
    }
    this.#take(settings);
    this.draw();
    this.#reply();
  }

  #take(settings) {
    this.opponent?.stop();
    this.settings = { ...settings };
    this.opponent = new Opponent(this.settings);
  }

  async #newGame(settings, position) {
    this.#take(settings);
    this.human = chosenSide(settings);
    this.resigned = null;
    this.opinion = "";
    try {
      const read = position
        ? await fetchJson("/api/games/read", { game: settings.game, text: position })
        : {};
      this.line = new GameLine(settings.game, read.start ?? "", read.moves ?? []);
      this.board.flipped = this.human === 1;
      await this.refresh();
      this.#reply();
    } catch (error) {
      this.complain(error);
    }
  }

  /** Let the opponent move if it is to move at the end of the line, or where it is asked to. */
  async #reply(isAsked = false) {
    if (!this.#isOpponentToMove() || !(this.line.isAtEnd || isAsked)) return;
    const { line, opponent } = this;
    try {
      const answer = opponent.move(line);
      this.draw();
      await this.#replied(await answer);
    } catch (error) {
      if (line !== this.line || opponent !== this.opponent) return;
      this.complain(error);
      this.draw();
    }
  }

  async #replied(answer) {
    if (!answer) return;
    const label = findMove(this.view, answer.move)?.label ?? answer.move;
    const name = sideNames(this.view)[this.view.turn];
    this.line.push(label);
    this.opinion = answer.wdl ? `expects ${percent(score(answer.wdl), 0)}` : "";
    await this.refresh();
    speak(`${name} plays ${label}. ${this.#statusText()}`);
  }
}

function chosenSide({ side }) {
  return side === "random" ? Math.floor(2 * Math.random()) : Number(side);
}

function settingsOf(games, query) {
  const limitKind = query.get("limit") === "seconds" ? "seconds" : "simulations";
  const amount = Number(query.get("amount")) || (limitKind === "seconds" ? 1 : 100);
  return {
    game: chosenGame(games, query),
    player: query.get("player"),
    side: query.get("side") === "1" ? "1" : "0",
    limitKind,
    amount,
  };
}
