// <game-board>: one board for every game on a grid.
//
// Properties: `view` (as the server sends it), `playable`, `flipped`, `arrows`, `marks`, `heat`,
// `numbers` (drawn by board_drawing.js), `label`. Event "played": detail is a move of the view.
// A game without a grid is shown as text. With `editing`, every cell can be chosen and the event
// "cell" tells which.

import { h, s } from "./dom.js";
import * as drawing from "./board_drawing.js";
import { MovesOfCells, same } from "./board_moves.js";
import { animateChange } from "./board_motion.js";
import { drawPiece, Layout, STONE_SIGNS, UNIT } from "./board_drawing.js";
import { openChooser } from "./chooser.js";

const LAYERS = [
  "plate",
  "cells",
  "heat",
  "glow",
  "labels",
  "pieces",
  "front",
  "dots",
  "marks",
  "cursor",
];
const DRAG_PIXELS = 5;
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

let boards = 0;

export class GameBoard extends HTMLElement {
  #view = null;
  #moves = null;
  #layout = null;
  #selected = null;
  #cursor = [0, 0];
  #drag = null;
  #ignoresClick = false;
  #isPlayable = false;
  #isFlipped = false;
  #isEditing = false;
  #overlays = { arrows: [], marks: [], heat: [], numbers: [] };
  #number = ++boards;
  #layers = {};
  #text = h("pre", { class: "board-text", hidden: true });

  constructor() {
    super();
    for (const name of LAYERS) this.#layers[name] = s("g", { class: `layer-${name}` });
    for (const name of LAYERS) {
      if (name !== "cells") this.#layers[name].setAttribute("aria-hidden", "true");
    }
    this.svg = s("svg", { class: "board", tabindex: "0", role: "grid", "aria-label": "Board" });
    this.svg.append(...LAYERS.map((name) => this.#layers[name]));
    this.svg.addEventListener("pointerdown", (event) => this.#pressed(event));
    this.svg.addEventListener("pointermove", (event) => this.#moved(event));
    this.svg.addEventListener("pointerup", (event) => this.#released(event));
    this.svg.addEventListener("pointercancel", () => this.#dropBack());
    this.svg.addEventListener("pointerleave", () => this.#hover(null));
    this.svg.addEventListener("click", (event) => this.#clicked(event));
    this.svg.addEventListener("keydown", (event) => this.#key(event));
  }

  connectedCallback() {
    if (!this.svg.isConnected) this.append(this.svg, this.#text);
  }

  get view() {
    return this.#view;
  }

  set view(view) {
    const before = this.#view;
    this.#dropBack();
    this.#view = view;
    this.#moves = new MovesOfCells(view);
    this.#selected = null;
    this.closeChooser();
    if (!before || before.width !== view.width || before.height !== view.height) {
      this.#cursor = [Math.floor((view.width - 1) / 2), Math.floor((view.height - 1) / 2)];
    }
    this.classList.add("ready");
    this.#text.textContent = view.height ? "" : view.text;
    this.#text.hidden = view.height > 0;
    this.svg.toggleAttribute("hidden", view.height === 0);
    if (!view.height) return;
    this.#drawAll();
    if (before?.height) animateChange(before, view, this.#layout, this.#layers.pieces);
  }

  set playable(isPlayable) {
    this.#isPlayable = isPlayable;
    if (!isPlayable) this.#selected = null;
    this.#drawChoices();
  }

  set flipped(isFlipped) {
    this.#isFlipped = isFlipped;
    if (this.#view?.height) this.#drawAll();
  }

  get flipped() {
    return this.#isFlipped;
  }

  set editing(isEditing) {
    this.#isEditing = isEditing;
    this.#drawChoices();
  }

  set label(text) {
    this.svg.setAttribute("aria-label", text);
  }

  /** Change what lies over the pieces: { arrows, marks, heat, numbers }, all or some. */
  overlay(changes) {
    Object.assign(this.#overlays, changes);
    if (this.#view?.height) this.#drawOverlays();
  }

  /** The moves that no cell means, such as passing. */
  get otherMoves() {
    return this.#moves?.others ?? [];
  }

  focus() {
    this.svg.focus();
  }

  closeChooser() {
    this.querySelector(".chooser")?.remove();
  }

  // Drawing

  #drawAll() {
    const view = this.#view;
    this.#layout = new Layout(view, this.#isFlipped);
    this.svg.setAttribute("viewBox", this.#layout.viewBox.join(" "));
    const style = view.drops ? "drops" : view.colors ? "checkered" : "plain";
    this.classList.toggle("small", drawing.isSmall(view));
    this.svg.setAttribute("class", `board ${style}`);
    this.#layers.plate.replaceChildren(...drawing.drawPlate(view, this.#layout));
    this.#layers.front.replaceChildren(...drawing.drawFront(view, this.#layout));
    this.#layers.labels.replaceChildren(...drawing.drawLabels(view, this.#layout));
    this.#drawCells();
    this.#drawPieces();
    this.#drawOverlays();
    this.#drawChoices();
  }

  #eachCell(make) {
    const made = [];
    for (let y = 0; y < this.#view.height; y++) {
      for (let x = 0; x < this.#view.width; x++) made.push(make([x, y]));
    }
    return made.filter(Boolean);
  }

  #drawPieces() {
    const pieces = this.#eachCell((cell) => {
      const sign = this.#view.rows[cell[1]][cell[0]];
      if (sign === "") return null;
      const [x, y] = this.#layout.at(cell);
      const place = s("g", { class: "place", transform: `translate(${x} ${y})` });
      place.dataset.cell = cell.join();
      place.append(s("g", { class: "piece" }, drawPiece(this.#view, sign)));
      return place;
    });
    this.#layers.pieces.replaceChildren(...pieces);
  }

  #drawOverlays() {
    const { arrows, marks, heat, numbers } = this.#overlays;
    const layout = this.#layout;
    const warm = heat.map(({ cell, strength }) => {
      const square = this.#square(cell, "warm");
      square.style.setProperty("--strength", strength);
      return square;
    });
    this.#layers.heat.replaceChildren(...warm);
    const parts = [
      ...marks.map((mark) => drawing.drawMark(layout, mark)),
      ...arrows.map((arrow) => drawing.drawArrow(layout, arrow)),
      ...numbers.map((number) => drawing.drawNumber(layout, number)),
    ];
    this.#layers.marks.replaceChildren(...parts.filter(Boolean));
  }

  /** Draw what depends on the selection: cells with their names, glow, dots and the cursor. */
  #drawChoices() {
    if (!this.#view?.height) return;
    const layout = this.#layout;
    const last = this.#view.last ?? {};
    const glow = [last.from, last.to].filter(Boolean).map((cell) => this.#square(cell, "last"));
    if (this.#selected) glow.push(this.#square(this.#selected, "selected"));
    this.#layers.glow.replaceChildren(...glow);
    const targets = this.#isPlayable ? this.#moves.targets(this.#selected) : [];
    const dots = targets.map((cell) => this.#dot(cell));
    if (this.#view.drops && last.to) dots.push(this.#lastStone(last.to));
    this.#layers.dots.replaceChildren(...dots);
    for (const square of this.#layers.cells.querySelectorAll(".cell")) this.#updateCell(square);
    const square = this.#square(this.#cursor, "cursor");
    this.#layers.cursor.replaceChildren(square);
    this.svg.setAttribute("aria-activedescendant", this.#cellId(this.#cursor));
    const drags = this.#isPlayable && this.#moves.hasPieces;
    this.svg.style.touchAction = drags ? "none" : "manipulation";
    layout.isFlipped ? this.setAttribute("flipped", "") : this.removeAttribute("flipped");
  }

  /** Draw the cells once per position; what depends on the selection is changed in place. */
  #drawCells() {
    const cells = this.#eachCell((cell) => this.#cell(cell));
    const rows = [];
    for (let y = 0; y < this.#view.height; y++) {
      const inRow = cells.slice(y * this.#view.width, (y + 1) * this.#view.width);
      rows.push(s("g", { role: "row" }, inRow));
    }
    this.#layers.cells.replaceChildren(...rows);
  }

  #cell(cell) {
    const square = this.#square(cell, "cell");
    square.id = this.#cellId(cell);
    square.dataset.cell = cell.join();
    square.setAttribute("role", "gridcell");
    return square;
  }

  #updateCell(square) {
    const cell = square.dataset.cell.split(",").map(Number);
    const isLegal = this.#isPlayable && this.#isChoosable(cell);
    const tone = (cell[0] + cell[1]) % 2 ? "dark" : "light";
    const choosable = isLegal || this.#isEditing ? " choosable" : "";
    square.setAttribute("class", `cell ${tone}${choosable}`);
    square.setAttribute("aria-label", drawing.cellLabel(this.#view, cell, isLegal));
    square.setAttribute("aria-selected", String(same(cell, this.#selected)));
  }

  #isChoosable(cell) {
    if (this.#selected && this.#moves.between(this.#selected, cell).length) return true;
    return this.#moves.isChoosable(cell);
  }

  #cellId(cell) {
    return `board-${this.#number}-${cell.join("-")}`;
  }

  #square(cell, kind) {
    const [x, y] = this.#layout.at(cell);
    return s("rect", { class: kind, x, y, width: UNIT, height: UNIT });
  }

  #dot(cell) {
    const [x, y] = this.#layout.middle(cell);
    const isTaken = this.#view.rows[cell[1]][cell[0]] !== "";
    return s("circle", {
      class: isTaken ? "dot taken" : "dot",
      cx: x,
      cy: y,
      r: isTaken ? 44 : 14,
    });
  }

  #lastStone(cell) {
    const [x, y] = this.#layout.middle(cell);
    return s("circle", { class: "last-stone", cx: x, cy: y, r: 10 });
  }

  #hover(cell) {
    this.#layers.pieces.querySelector(".ghost")?.remove();
    const moves = cell && this.#isPlayable ? this.#moves.direct(cell) : [];
    const target = moves.length ? moves[0].to : null;
    if (!target || this.#view.rows[target[1]][target[0]] !== "") return;
    const sign = this.#signOf(this.#view.turn);
    if (sign === undefined) return;
    const [x, y] = this.#layout.at(target);
    const ghost = s("g", { class: "ghost", transform: `translate(${x} ${y})` });
    ghost.append(drawPiece(this.#view, sign));
    this.#layers.pieces.append(ghost);
  }

  /** The sign of a player who has only one kind of piece. */
  #signOf(player) {
    const signs = Object.keys(this.#view.pieces);
    if (signs.every((sign) => STONE_SIGNS.includes(sign))) return STONE_SIGNS[player];
    const own = signs.filter((sign) => this.#view.pieces[sign].player === player);
    return own.length === 1 ? own[0] : undefined;
  }

  // Choosing

  /** Choose a cell, as a click on it does. */
  choose(cell) {
    if (this.#isEditing) {
      this.dispatchEvent(new CustomEvent("cell", { detail: cell }));
      return;
    }
    if (!this.#isPlayable || !this.#view) return;
    const selected = this.#selected;
    const moves = selected ? this.#moves.between(selected, cell) : [];
    if (moves.length) this.#decide(moves, cell);
    else if (same(selected, cell)) this.#leaveOrPlace(cell);
    else if (this.#moves.starting(cell).length) this.#select(cell);
    else if (this.#moves.direct(cell).length) this.#decide(this.#moves.direct(cell), cell);
    else this.#select(null);
  }

  #leaveOrPlace(cell) {
    const direct = this.#moves.direct(cell);
    if (direct.length) this.#decide(direct, cell);
    else this.#select(null);
  }

  #select(cell) {
    this.#selected = cell;
    this.#drawChoices();
  }

  async #decide(moves, cell) {
    const view = this.#view;
    let move = moves[0];
    if (moves.length > 1) {
      move = await openChooser(this, moves, this.#spot(cell), view);
      if (view !== this.#view) return;
      this.focus();
    }
    this.#select(null);
    if (move) this.dispatchEvent(new CustomEvent("played", { detail: move }));
  }

  /** The middle of a cell as fractions of this element. */
  #spot(cell) {
    const [x, y] = this.#layout.middle(cell);
    const [left, top, width, height] = this.#layout.viewBox;
    return [(x - left) / width, (y - top) / height];
  }

  #cellUnder(event) {
    const matrix = this.svg.getScreenCTM();
    if (!matrix || !this.#view) return null;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    const cell = [Math.floor(point.x / UNIT), Math.floor(point.y / UNIT)];
    const inside =
      cell[0] >= 0 && cell[1] >= 0 && cell[0] < this.#view.width && cell[1] < this.#view.height;
    return inside ? this.#layout.turned(cell) : null;
  }

  // Pointer

  #pressed(event) {
    this.#ignoresClick = false;
    const cell = this.#cellUnder(event);
    if (!cell || event.button !== 0 || !this.#isPlayable || !this.#moves.starting(cell).length)
      return;
    const place = this.#layers.pieces.querySelector(`[data-cell="${cell.join()}"]`);
    if (place) this.#drag = { cell, place, x: event.clientX, y: event.clientY, isMoving: false };
  }

  #moved(event) {
    const drag = this.#drag;
    if (!drag) {
      if (event.pointerType === "mouse") this.#hover(this.#cellUnder(event));
      return;
    }
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.isMoving && Math.hypot(dx, dy) < DRAG_PIXELS) return;
    if (!drag.isMoving) this.#startDrag(event);
    const scale = this.svg.getScreenCTM().a;
    drag.place.firstChild.setAttribute("transform", `translate(${dx / scale} ${dy / scale})`);
  }

  #startDrag(event) {
    this.#drag.isMoving = true;
    this.svg.setPointerCapture(event.pointerId);
    this.#layers.pieces.append(this.#drag.place);
    this.#drag.place.classList.add("dragged");
    this.#select(this.#drag.cell);
  }

  #released(event) {
    const drag = this.#drag;
    if (!drag?.isMoving) {
      this.#drag = null;
      return;
    }
    const cell = this.#cellUnder(event);
    const moves = cell ? this.#moves.between(drag.cell, cell) : [];
    this.#ignoresClick = true;
    this.#dropBack();
    if (moves.length) this.#decide(moves, cell);
  }

  #dropBack() {
    const place = this.#drag?.place;
    this.#drag = null;
    if (!place) return;
    place.classList.remove("dragged");
    place.firstChild.removeAttribute("transform");
  }

  #clicked(event) {
    if (this.#ignoresClick) {
      this.#ignoresClick = false;
      return;
    }
    const named = event.target.closest("[role=gridcell]")?.dataset.cell;
    const cell =
      event.detail === 0 && named ? named.split(",").map(Number) : this.#cellUnder(event);
    if (!cell) return;
    this.#cursor = cell;
    this.choose(cell);
  }

  // Keyboard

  #key(event) {
    if (!this.#view || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    if (step) this.#walk(step);
    else if (event.key === "Enter" || event.key === " ") this.choose(this.#cursor);
    else if (event.key === "Escape" && this.#selected) this.#select(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #walk([dx, dy]) {
    const [x, y] = this.#layout.turned(this.#cursor);
    const clamp = (value, count) => Math.max(0, Math.min(count - 1, value));
    const moved = [clamp(x + dx, this.#view.width), clamp(y + dy, this.#view.height)];
    this.#cursor = this.#layout.turned(moved);
    this.#drawChoices();
    this.#hover(this.#cursor);
  }
}

customElements.define("game-board", GameBoard);
