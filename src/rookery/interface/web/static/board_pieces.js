// The pieces on a board, and the pale stone that shows where a click would place one.

import { drawPiece, STONE_SIGNS } from "./board_drawing.js";
import { s } from "./dom.js";

export class Pieces {
  #layer;

  constructor(layer) {
    this.#layer = layer;
  }

  draw(view, layout) {
    const pieces = view.rows.flatMap((row, y) =>
      row.map((sign, x) => (sign === "" ? null : place(view, layout, [x, y], sign))),
    );
    this.#layer.replaceChildren(...pieces.filter(Boolean));
  }

  /** The element of the piece on a cell. */
  at(cell) {
    return this.#layer.querySelector(`[data-cell="${cell.join()}"]`);
  }

  /** Draw a piece above all others. */
  raise(piece) {
    this.#layer.append(piece);
  }

  /** Show what the player to move would place on an empty cell; null: nothing. */
  suggest(view, layout, cell) {
    this.#layer.querySelector(".ghost")?.remove();
    if (!cell || view.rows[cell[1]][cell[0]] !== "") return;
    const sign = onlySign(view);
    if (sign === undefined) return;
    const [x, y] = layout.at(cell);
    const ghost = s("g", { class: "ghost", transform: `translate(${x} ${y})` });
    ghost.append(drawPiece(view, sign));
    this.#layer.append(ghost);
  }
}

function place(view, layout, cell, sign) {
  const [x, y] = layout.at(cell);
  const drawn = s("g", { class: "place", transform: `translate(${x} ${y})` });
  drawn.dataset.cell = cell.join();
  drawn.append(s("g", { class: "piece" }, drawPiece(view, sign)));
  return drawn;
}

/** The sign of the player to move if there is only one kind of piece per player. */
function onlySign(view) {
  const signs = Object.keys(view.pieces);
  if (signs.every((sign) => STONE_SIGNS.includes(sign))) return STONE_SIGNS[view.turn];
  const own = signs.filter((sign) => view.pieces[sign].player === view.turn);
  return own.length === 1 ? own[0] : undefined;
}
