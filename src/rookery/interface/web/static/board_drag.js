// Dragging pieces over a board by mouse, pen or finger.

const DRAG_PIXELS = 5;

export class PieceDrag {
  #svg;
  #board;
  #drag = null;
  #ignoresClick = false;

  /**
   * `board` answers `cellUnder(event)` and `placeOf(cell)`, the element of a piece that may move
   * from there, and is told `lifted(cell, place)`, `dropped(from, to)` and `hovered(cell)`.
   */
  constructor(svg, board) {
    this.#svg = svg;
    this.#board = board;
    svg.addEventListener("pointerdown", (event) => this.#pressed(event));
    svg.addEventListener("pointermove", (event) => this.#moved(event));
    svg.addEventListener("pointerup", (event) => this.#released(event));
    svg.addEventListener("pointercancel", () => this.cancel());
    svg.addEventListener("pointerleave", () => board.hovered(null));
  }

  /** Whether a click is the end of a drag and means nothing more; asked once per click. */
  tookClick() {
    const taken = this.#ignoresClick;
    this.#ignoresClick = false;
    return taken;
  }

  /** Put the piece back. */
  cancel() {
    const place = this.#drag?.place;
    this.#drag = null;
    if (!place) return;
    place.classList.remove("dragged");
    place.firstChild.removeAttribute("transform");
  }

  #pressed(event) {
    this.#ignoresClick = false;
    const cell = this.#board.cellUnder(event);
    const place = cell && event.button === 0 ? this.#board.placeOf(cell) : null;
    if (place) this.#drag = { cell, place, x: event.clientX, y: event.clientY, isMoving: false };
  }

  #moved(event) {
    const drag = this.#drag;
    if (!drag) {
      if (event.pointerType === "mouse") this.#board.hovered(this.#board.cellUnder(event));
      return;
    }
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.isMoving && Math.hypot(dx, dy) < DRAG_PIXELS) return;
    if (!drag.isMoving) this.#lift(event);
    const scale = this.#svg.getScreenCTM().a;
    drag.place.firstChild.setAttribute("transform", `translate(${dx / scale} ${dy / scale})`);
  }

  #lift(event) {
    const { cell, place } = this.#drag;
    this.#drag.isMoving = true;
    this.#svg.setPointerCapture(event.pointerId);
    place.classList.add("dragged");
    this.#board.lifted(cell, place);
  }

  #released(event) {
    const drag = this.#drag;
    if (!drag?.isMoving) {
      this.#drag = null;
      return;
    }
    this.#ignoresClick = true;
    this.cancel();
    this.#board.dropped(drag.cell, this.#board.cellUnder(event));
  }
}
