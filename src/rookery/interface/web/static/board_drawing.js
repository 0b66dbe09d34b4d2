// Draw the parts of a board as SVG elements. A cell is UNIT wide; [0, 0] is at the top left of the
// view, and `at` says where a cell is on the screen, which depends on the flip.

import { s } from "./dom.js";
import { chessPiece, pieceKind } from "./pieces.js";

export const UNIT = 100;
export const STONE_SIGNS = ["X", "O"];
const SMALL = 4;

/** Whether a board is so small that its stones are drawn as crosses and rings. */
export function isSmall(view) {
  return !view.drops && Math.max(view.width, view.height) <= SMALL;
}

/** Where the cells lie: size, margins, labels and the flip. */
export class Layout {
  constructor(view, isFlipped) {
    this.width = view.width;
    this.height = view.height;
    this.isFlipped = isFlipped && !view.drops;
    this.isInside = view.colors === true;
    this.frame = view.drops ? 6 : this.isInside ? 0 : 2;
    const labelled = !this.isInside;
    this.labelSize = 2.6 * Math.max(this.width, this.height, 3) + 4;
    this.left = labelled && hasTexts(view.row_labels) ? 1.7 * this.labelSize : 0;
    this.below = labelled && hasTexts(view.column_labels) ? 1.7 * this.labelSize : 0;
    this.right = this.left;
  }

  /** The place on the screen of a cell of the view, and the other way round. */
  turned([x, y]) {
    return this.isFlipped ? [this.width - 1 - x, this.height - 1 - y] : [x, y];
  }

  /** The top left corner of a cell, in drawing units. */
  at(cell) {
    const [x, y] = this.turned(cell);
    return [x * UNIT, y * UNIT];
  }

  middle(cell) {
    const [x, y] = this.at(cell);
    return [x + UNIT / 2, y + UNIT / 2];
  }

  get viewBox() {
    const frame = this.frame;
    const width = this.width * UNIT + this.left + this.right + 2 * frame;
    const height = this.height * UNIT + this.below + 2 * frame;
    return [-this.left - frame, -frame, width, height];
  }
}

function hasTexts(labels) {
  return Array.isArray(labels) && labels.some((label) => label !== "");
}

/** The name of a cell: "e4", "3, 2" or "column 4". */
export function cellName(view, [x, y]) {
  const column = view.column_labels?.[x] ?? "";
  const row = view.row_labels?.[y] ?? "";
  if (column && row) return /^[a-z]+$/i.test(column) ? `${column}${row}` : `${column}, ${row}`;
  return `column ${column || x + 1}, row ${row || y + 1}`;
}

/** What a screen reader says about a cell. */
export function cellLabel(view, cell, isLegal) {
  const sign = view.rows[cell[1]][cell[0]];
  const content = sign === "" ? "empty" : (view.pieces[sign]?.name ?? sign);
  return `${cellName(view, cell)}: ${content}${isLegal ? ", can be chosen" : ""}`;
}

/** Draw the plate under plain cells; squares and fronts bring their own. */
export function drawPlate(view, layout) {
  if (view.drops || layout.isInside) return [];
  const [width, height] = [layout.width * UNIT, layout.height * UNIT];
  return [s("rect", { class: "plate", width, height }), innerLines(width, height)];
}

function innerLines(width, height) {
  const lines = [];
  for (let x = UNIT; x < width; x += UNIT) lines.push(`M${x} 0V${height}`);
  for (let y = UNIT; y < height; y += UNIT) lines.push(`M0 ${y}H${width}`);
  return s("path", { class: "lines", d: lines.join("") });
}

/** Draw the front of a board into which stones drop: a plate with round holes. */
export function drawFront(view, layout) {
  if (!view.drops) return [];
  const [width, height] = [layout.width * UNIT, layout.height * UNIT];
  const holes = [];
  for (let y = 0; y < layout.height; y++) {
    for (let x = 0; x < layout.width; x++) holes.push(hole(x * UNIT + 50, y * UNIT + 50, 40));
  }
  const outer = `M8-6H${width - 8}a14 14 0 0 1 14 14V${height - 8}a14 14 0 0 1-14 14H8a14 14 0 0 1-14-14V8A14 14 0 0 1 8-6z`;
  const rims = holes.map((d) => s("path", { class: "rim", d }));
  return [
    s("path", { class: "front", "fill-rule": "evenodd", d: outer + holes.join("") }),
    ...rims,
  ];
}

function hole(x, y, r) {
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
}

/** Draw the coordinates: in the corners of squares, or around the board. */
export function drawLabels(view, layout) {
  const texts = [];
  for (let x = 0; x < layout.width; x++) texts.push(columnLabel(view, layout, x));
  for (let y = 0; y < layout.height; y++) texts.push(rowLabel(view, layout, y));
  return texts.filter(Boolean);
}

function columnLabel(view, layout, x) {
  const text = view.column_labels?.[x];
  if (!text) return null;
  const bottom = layout.isFlipped ? 0 : layout.height - 1;
  const [left, top] = layout.at([x, bottom]);
  const tone = (x + bottom) % 2 ? "on-dark" : "on-light";
  if (layout.isInside) {
    return s(
      "text",
      { class: `inner-label ${tone}`, x: left + 93, y: top + 93, "text-anchor": "end" },
      text,
    );
  }
  return s(
    "text",
    {
      class: "outer-label",
      "font-size": layout.labelSize,
      x: left + 50,
      y: layout.height * UNIT + 1.45 * layout.labelSize,
      "text-anchor": "middle",
    },
    text,
  );
}

function rowLabel(view, layout, y) {
  const text = view.row_labels?.[y];
  if (!text) return null;
  const first = layout.isFlipped ? layout.width - 1 : 0;
  const [left, top] = layout.at([first, y]);
  const tone = (first + y) % 2 ? "on-dark" : "on-light";
  if (layout.isInside)
    return s("text", { class: `inner-label ${tone}`, x: left + 6, y: top + 24 }, text);
  return s(
    "text",
    {
      class: "outer-label",
      "font-size": layout.labelSize,
      x: -0.8 * layout.labelSize,
      y: top + 50 + 0.36 * layout.labelSize,
      "text-anchor": "end",
    },
    text,
  );
}

/** Draw what stands on a cell, in a box of UNIT by UNIT. */
export function drawPiece(view, sign) {
  const piece = view.pieces[sign] ?? { kind: "stone", player: STONE_SIGNS.indexOf(sign) };
  const side = piece.player === 0 ? "first" : piece.player === 1 ? "second" : "nobody";
  if (piece.kind === "chess") {
    const drawn = chessPiece(pieceKind(piece.name ?? sign), piece.player);
    if (drawn) return drawn;
  }
  if (piece.kind === "stone") return isSmall(view) ? drawCrossOrRing(sign, side) : drawStone(side);
  return drawToken(sign, side);
}

function drawStone(side) {
  return s(
    "g",
    { class: `stone ${side}` },
    s("circle", { class: "body", cx: 50, cy: 50, r: 41 }),
    s("circle", { class: "ring", cx: 50, cy: 50, r: 28 }),
  );
}

function drawCrossOrRing(sign, side) {
  const isCross = sign.toLowerCase() === "x";
  const shape = isCross
    ? s("path", { d: "M27 27 73 73M73 27 27 73" })
    : s("circle", { cx: 50, cy: 50, r: 25 });
  return s("g", { class: `sign ${side}` }, shape);
}

function drawToken(sign, side) {
  const size = sign.length > 1 ? 28 : 44;
  const text = s(
    "text",
    { x: 50, y: 50 + 0.36 * size, "text-anchor": "middle", "font-size": size },
    sign,
  );
  const disc = side === "nobody" ? null : s("circle", { class: "body", cx: 50, cy: 50, r: 38 });
  return s("g", { class: `token ${side}` }, disc, text);
}

/** Draw an arrow between two cells, or a ring where a stone would be placed. */
export function drawArrow(layout, { from, to, kind = "hint", width = 14 }) {
  if (!to) return null;
  const [x2, y2] = layout.middle(to);
  if (!from) return s("circle", { class: `arrow-ring ${kind}`, cx: x2, cy: y2, r: 38 });
  const [x1, y1] = layout.middle(from);
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const head = Math.max(2.2 * width, 16);
  const [bx, by] = [x2 - ux * head, y2 - uy * head];
  const [px, py] = [-uy * head * 0.62, ux * head * 0.62];
  const line = s("path", {
    class: "shaft",
    d: `M${x1 + ux * 18} ${y1 + uy * 18}L${bx} ${by}`,
    "stroke-width": width,
  });
  const tip = s("path", {
    class: "tip",
    d: `M${x2} ${y2}L${bx + px} ${by + py}L${bx - px} ${by - py}z`,
  });
  return s("g", { class: `arrow ${kind}` }, line, tip);
}

/** Draw a candidate: a coloured circle with two lines of text, and an arrow for a moved piece. */
export function drawMark(layout, mark) {
  const cell = mark.to ?? mark.from;
  if (!cell) return null;
  const [x, y] = layout.middle(cell);
  const texts = mark.texts.map((text, row) =>
    s(
      "text",
      {
        class: row ? "sub" : "main",
        x,
        y: y + (mark.texts.length > 1 ? (row ? 23 : 4) : 10),
        "text-anchor": "middle",
      },
      text,
    ),
  );
  const circle = s("circle", { class: mark.isBest ? "spot best" : "spot", cx: x, cy: y, r: 40 });
  const group = s("g", { class: "mark" }, mark.isCovered ? null : [circle, texts]);
  if (mark.from && mark.to) group.prepend(drawArrow(layout, { ...mark, kind: "candidate" }));
  group.style.setProperty("--spot", mark.color);
  group.style.setProperty("--strength", mark.strength ?? 1);
  return group;
}

/** Draw the number of a move of a variation on its cell. */
export function drawNumber(layout, { cell, number }) {
  const [x, y] = layout.at(cell);
  return s(
    "g",
    { class: "number" },
    s("circle", { cx: x + 76, cy: y + 24, r: 20 }),
    s("text", { x: x + 76, y: y + 32, "text-anchor": "middle" }, String(number)),
  );
}
