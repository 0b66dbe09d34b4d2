// What a person can choose on a board: the cells with their names, the dots of legal moves, the
// glow of the last move and of the selection, and the cursor of the keyboard.

import { cellLabel, UNIT } from "./board_drawing.js";
import { same } from "./board_moves.js";
import { s } from "./dom.js";

const RADIUS = { dot: 14, taken: 44, last: 10 };

let boards = 0;

/** Draw the square of a cell. */
export function square(layout, cell, kind) {
  const [x, y] = layout.at(cell);
  return s("rect", { class: kind, x, y, width: UNIT, height: UNIT });
}

export class Choices {
  #number = ++boards;
  #layers;

  /** `layers` are the groups { cells, glow, dots, cursor } of a board. */
  constructor(layers) {
    this.#layers = layers;
  }

  /** The id of a cell in the document. */
  id(cell) {
    return `board-${this.#number}-${cell.join("-")}`;
  }

  /** Draw the cells once per position; `update` changes them in place. */
  drawCells(view, layout) {
    const rows = [];
    for (let y = 0; y < view.height; y++) {
      const cells = [];
      for (let x = 0; x < view.width; x++) cells.push(this.#cell(layout, [x, y]));
      rows.push(s("g", { role: "row" }, cells));
    }
    this.#layers.cells.replaceChildren(...rows);
  }

  #cell(layout, cell) {
    const drawn = square(layout, cell, "cell");
    drawn.id = this.id(cell);
    drawn.dataset.cell = cell.join();
    drawn.setAttribute("role", "gridcell");
    return drawn;
  }

  /** Show what depends on the selection; `moves` are the MovesOfCells of the view. */
  update({ view, layout, moves, selected, cursor, isPlayable, isEditing }) {
    const last = view.last ?? {};
    const glow = [last.from, last.to].filter(Boolean).map((cell) => square(layout, cell, "last"));
    if (selected) glow.push(square(layout, selected, "selected"));
    this.#layers.glow.replaceChildren(...glow);
    const targets = isPlayable ? moves.targets(selected) : [];
    const dots = targets.map((cell) => dot(view, layout, cell));
    if (view.drops && last.to) dots.push(lastStone(layout, last.to));
    this.#layers.dots.replaceChildren(...dots);
    this.#layers.cursor.replaceChildren(square(layout, cursor, "cursor"));
    for (const drawn of this.#layers.cells.querySelectorAll(".cell")) {
      const cell = drawn.dataset.cell.split(",").map(Number);
      const isLegal = isPlayable && isChoosable(moves, selected, cell);
      name(drawn, cell, { view, selected, isLegal, isEditing });
    }
  }
}

function isChoosable(moves, selected, cell) {
  if (selected && moves.between(selected, cell).length) return true;
  return moves.isChoosable(cell);
}

function name(drawn, cell, { view, selected, isLegal, isEditing }) {
  const tone = (cell[0] + cell[1]) % 2 ? "dark" : "light";
  const choosable = isLegal || isEditing ? " choosable" : "";
  drawn.setAttribute("class", `cell ${tone}${choosable}`);
  drawn.setAttribute("aria-label", cellLabel(view, cell, isLegal));
  drawn.setAttribute("aria-selected", String(same(cell, selected)));
}

function dot(view, layout, cell) {
  const [cx, cy] = layout.middle(cell);
  const isTaken = view.rows[cell[1]][cell[0]] !== "";
  const r = isTaken ? RADIUS.taken : RADIUS.dot;
  return s("circle", { class: isTaken ? "dot taken" : "dot", cx, cy, r });
}

function lastStone(layout, cell) {
  const [cx, cy] = layout.middle(cell);
  return s("circle", { class: "last-stone", cx, cy, r: RADIUS.last });
}
