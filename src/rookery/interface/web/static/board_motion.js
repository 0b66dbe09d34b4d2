// Short motions between two positions: pieces slide, stones drop or appear.

import { same } from "./board_moves.js";
import { UNIT } from "./board_drawing.js";

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const MOST_MOTIONS = 6; // more changed cells are another position, not a move

/** Animate the pieces of `layer` that are new in `after`. */
export function animateChange(before, after, layout, layer) {
  if (calm.matches || before.width !== after.width || before.height !== after.height) return;
  const { gone, come } = differences(before, after);
  if (come.length > MOST_MOTIONS) return;
  for (const arrival of come) {
    const piece = layer.querySelector(`[data-cell="${arrival.cell.join()}"] > .piece`);
    const source = sourceOf(arrival, gone, after.last);
    if (!piece) continue;
    if (source) slide(piece, layout, source, arrival.cell);
    else if (after.drops) drop(piece, arrival.cell[1] + 1);
    else piece.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 120 });
  }
}

function differences(before, after) {
  const gone = [];
  const come = [];
  for (let y = 0; y < after.height; y++) {
    for (let x = 0; x < after.width; x++) {
      const [old, now] = [before.rows[y][x], after.rows[y][x]];
      if (old === now) continue;
      if (old !== "") gone.push({ cell: [x, y], sign: old });
      if (now !== "") come.push({ cell: [x, y], sign: now });
    }
  }
  return { gone, come };
}

/** Where the piece came from: the same piece that left a cell, or the last move's cell. */
function sourceOf(arrival, gone, last) {
  const left = gone.find(({ sign, cell }) => sign === arrival.sign && !same(cell, arrival.cell));
  if (left) return left.cell;
  return last?.from && same(last.to, arrival.cell) ? last.from : null;
}

function slide(piece, layout, from, to) {
  const [x1, y1] = layout.at(from);
  const [x2, y2] = layout.at(to);
  const start = `translate(${x1 - x2}px, ${y1 - y2}px)`;
  piece.animate([{ transform: start }, { transform: "none" }], {
    duration: 170,
    easing: "ease-out",
  });
}

function drop(piece, rows) {
  const start = `translate(0, ${-rows * UNIT}px)`;
  const duration = 120 + 55 * rows;
  const easing = "cubic-bezier(0.5, 0, 0.9, 0.6)";
  piece.animate([{ transform: start }, { transform: "none" }], { duration, easing });
}
