// Which moves a person means by choosing cells.

/** Return whether two cells are the same. */
export function same(a, b) {
  return Boolean(a && b && a[0] === b[0] && a[1] === b[1]);
}

function distinct(cells) {
  return [...new Map(cells.map((cell) => [cell.join(), cell])).values()];
}

/** The moves of a view, asked by cells. A move has `from`, `to`, both or none. */
export class MovesOfCells {
  constructor(view) {
    this.view = view;
    this.moves = view.moves ?? [];
  }

  /** The moves of the piece on a cell. */
  starting(cell) {
    return this.moves.filter((move) => move.to && same(move.from, cell));
  }

  /** The moves that are meant by one cell alone; where stones drop, by its column. */
  direct(cell) {
    return this.moves.filter((move) => {
      if (move.from && move.to) return false;
      const place = move.to ?? move.from;
      return place && (this.view.drops ? place[0] === cell[0] : same(place, cell));
    });
  }

  between(from, to) {
    return this.moves.filter((move) => same(move.from, from) && same(move.to, to));
  }

  /** Whether pieces are moved, so that a drag makes sense. */
  get hasPieces() {
    return this.moves.some((move) => move.from && move.to);
  }

  /** Moves that belong to no cell, such as passing; the page shows them as buttons. */
  get others() {
    return this.moves.filter((move) => !move.from && !move.to);
  }

  /** Cells worth a dot: the targets of the selected piece, or placements that are not plain. */
  targets(selected) {
    if (selected) return distinct(this.starting(selected).map((move) => move.to));
    const placed = this.moves.filter((move) => move.to && !move.from);
    const empty = this.view.rows.flat().filter((sign) => sign === "").length;
    return this.view.drops || placed.length >= empty ? [] : distinct(placed.map((move) => move.to));
  }

  isChoosable(cell) {
    return this.starting(cell).length > 0 || this.direct(cell).length > 0;
  }
}
