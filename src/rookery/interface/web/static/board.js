// <game-board>: one board for every game on a grid.
//
// Properties: `view` (as the server sends it), `playable`, `flipped`, `arrows`, `marks`, `heat`,
// `numbers` (drawn by board_drawing.js), `label`. Event "played": detail is a move of the view.
// A game without a grid is shown as text. With `editing`, every cell can be chosen and the event
// "cell" tells which.

import { Choices, square } from "./board_choices.js";
import { PieceDrag } from "./board_drag.js";
import * as drawing from "./board_drawing.js";
import { Layout, UNIT } from "./board_drawing.js";
import { animateChange } from "./board_motion.js";
import { MovesOfCells, same } from "./board_moves.js";
import { Pieces } from "./board_pieces.js";
import { openChooser } from "./chooser.js";
import { h, s } from "./dom.js";

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
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class GameBoard extends HTMLElement {
  #view = null;
  #moves = null;
  #layout = null;
  #selected = null;
  #cursor = [0, 0];
  #drag;
  #choices;
  #pieces;
  #isPlayable = false;
  #isFlipped = false;
  #isEditing = false;
  #overlays = { arrows: [], marks: [], heat: [], numbers: [] };
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
    this.#choices = new Choices(this.#layers);
    this.#pieces = new Pieces(this.#layers.pieces);
    this.#drag = new PieceDrag(this.svg, {
      cellUnder: (event) => this.#cellUnder(event),
      placeOf: (cell) => this.#movablePiece(cell),
      lifted: (cell, piece) => this.#lifted(cell, piece),
      dropped: (from, to) => this.#dropped(from, to),
      hovered: (cell) => this.#hover(cell),
    });
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
    this.#drag.cancel();
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
    this.#choices.drawCells(view, this.#layout);
    this.#pieces.draw(view, this.#layout);
    this.#drawOverlays();
    this.#drawChoices();
  }

  #drawOverlays() {
    const { arrows, marks, heat, numbers } = this.#overlays;
    const layout = this.#layout;
    const warm = heat.map(({ cell, strength }) => {
      const drawn = square(layout, cell, "warm");
      drawn.style.setProperty("--strength", strength);
      return drawn;
    });
    this.#layers.heat.replaceChildren(...warm);
    const parts = [
      ...marks.map((mark) => drawing.drawMark(layout, mark)),
      ...arrows.map((arrow) => drawing.drawArrow(layout, arrow)),
      ...numbers.map((number) => drawing.drawNumber(layout, number)),
    ];
    this.#layers.marks.replaceChildren(...parts.filter(Boolean));
  }

  /** Draw what depends on the selection. */
  #drawChoices() {
    if (!this.#view?.height) return;
    this.#choices.update({
      view: this.#view,
      layout: this.#layout,
      moves: this.#moves,
      selected: this.#selected,
      cursor: this.#cursor,
      isPlayable: this.#isPlayable,
      isEditing: this.#isEditing,
    });
    this.svg.setAttribute("aria-activedescendant", this.#choices.id(this.#cursor));
    const drags = this.#isPlayable && this.#moves.hasPieces;
    this.svg.style.touchAction = drags ? "none" : "manipulation";
    this.toggleAttribute("flipped", this.#layout.isFlipped);
  }

  #hover(cell) {
    if (!this.#view?.height) return;
    const moves = cell && this.#isPlayable ? this.#moves.direct(cell) : [];
    this.#pieces.suggest(this.#view, this.#layout, moves[0]?.to);
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

  #movablePiece(cell) {
    if (!this.#isPlayable || !this.#moves.starting(cell).length) return null;
    return this.#pieces.at(cell);
  }

  #lifted(cell, piece) {
    this.#pieces.raise(piece);
    this.#select(cell);
  }

  #dropped(from, to) {
    const moves = to ? this.#moves.between(from, to) : [];
    if (moves.length) this.#decide(moves, to);
  }

  #clicked(event) {
    if (this.#drag.tookClick()) return;
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
