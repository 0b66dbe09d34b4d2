// One game on the page: a start, the moves, and the ply that is shown. The server keeps nothing.

import { isSmall, STONE_SIGNS } from "./board_drawing.js";
import { ask } from "./connection.js";

const MOST_VIEWS = 600;
const views = new Map();

/** Return the view of a position; positions seen before come from memory. */
export async function fetchView(game, start, moves) {
  const key = JSON.stringify([game, start, moves]);
  const known = views.get(key);
  if (known) return known;
  const { view } = await ask({ do: "view", game, start, moves });
  if (views.size >= MOST_VIEWS) views.delete(views.keys().next().value);
  views.set(key, view);
  return view;
}

/** A line of moves with a current ply. */
export class GameLine {
  constructor(game, start = "", moves = []) {
    this.game = game;
    this.start = start;
    this.moves = moves;
    this.ply = moves.length;
  }

  /** The moves up to the ply shown. */
  get shown() {
    return this.moves.slice(0, this.ply);
  }

  get isAtEnd() {
    return this.ply === this.moves.length;
  }

  /** Make a move at the ply shown. A different continuation is dropped. */
  push(move) {
    if (this.moves[this.ply] === move) this.ply += 1;
    else {
      this.moves = [...this.shown, move];
      this.ply = this.moves.length;
    }
  }

  go(ply) {
    this.ply = Math.max(0, Math.min(this.moves.length, ply));
  }

  /** What a question about the position shown carries. */
  get question() {
    return { game: this.game, start: this.start, moves: this.shown };
  }

  view() {
    return fetchView(this.game, this.start, this.shown);
  }

  viewAt(ply) {
    return fetchView(this.game, this.start, this.moves.slice(0, ply));
  }
}

/** Names of the two players of a game. */
export function sideNames(view) {
  const pieces = Object.entries(view.pieces ?? {});
  if (pieces.some(([, piece]) => piece.kind === "chess")) return ["White", "Black"];
  if (pieces.every(([sign]) => STONE_SIGNS.includes(sign))) {
    return isSmall(view) ? STONE_SIGNS : ["Red", "Yellow"];
  }
  return ["First player", "Second player"];
}

/** How the pieces of a game look: the class of signs and bars in the players' colours. */
export function lookOf(view) {
  if (view.colors) return "chess-look";
  return isSmall(view) ? "sign-look" : "stone-look";
}

/** How the game ended, in words; an empty text if it goes on. */
export function resultText(view) {
  if (!view.over) return "";
  if (view.colors || view.outcome === 0) return view.result_text || "Draw";
  return `${sideNames(view)[view.outcome > 0 ? 0 : 1]} wins`;
}

/** Return a view's move by either of its names. */
export function findMove(view, name) {
  return view.moves.find((move) => move.move === name || move.label === name);
}

/** Return the move of a view that a person typed, or undefined. */
export function typedMove(view, text) {
  const typed = text.trim();
  const names = (move) => [move.move, move.label, squares(view, move)];
  const exact = view.moves.find((move) => names(move).includes(typed));
  if (exact) return exact;
  const plain = (name) => (name ?? "").toLowerCase().replace(/[+#x=-]/g, "");
  return view.moves.find((move) =>
    names(move).some((name) => name && plain(name) === plain(typed)),
  );
}

function squares(view, { from, to, promotion }) {
  if (!from || !to) return undefined;
  const name = ([x, y]) => `${view.column_labels?.[x] ?? ""}${view.row_labels?.[y] ?? ""}`;
  return name(from) + name(to) + (promotion ?? "");
}
