// Chess pieces drawn for this project, in a box of 100 by 100. Each piece is an outline that is
// filled with the player's colour, and a detail drawn over it with lines.

import { s } from "./dom.js";

const FOOT = "M23 85v-5c0-5 3-8 8-9h38c5 1 8 4 8 9v5z";

const SHAPES = {
  pawn: {
    outline: [
      "M50 23a12.5 12.5 0 0 1 9.5 20.6h3.5c3 0 3 6 0 6h-5.5c1 9 5 16 11.5 21.4H31c6.5-5.4 10.5-12.4 11.5-21.4H37c-3 0-3-6 0-6h3.5A12.5 12.5 0 0 1 50 23z",
      "M27 85v-5c0-5 3-8 7-9h32c4 1 7 4 7 9v5z",
    ],
    detail: "M43 49.6h14",
  },
  rook: {
    outline: ["M36 40h28l4 31H32z", "M26 19h11v7h8v-7h10v7h8v-7h11v15l-7 7H33l-7-7z", FOOT],
    detail: "M37 47h26M33 66h34",
  },
  knight: {
    outline: [
      "M30 71c0-12 6-18 14-24 2-1.5 3-3.5 2.5-6-4 4-9 5-13.5 5-2 3.5-5 5-8.5 4-4.5-1.3-6.5-5.5-5-10 5-6 8-11 10.5-17 .3-4 1-7 2.5-11 4 1.5 6.5 3.5 8.5 6 2-1.5 3.5-3.5 5-7 3.5 2.5 5 5 5.5 8 17 4 27 21 25.5 52z",
      FOOT,
    ],
    detail: "M56 27c10 7 14.5 20 14 37M36.5 29.5l3-1M25 42l1.5-1.5",
  },
  bishop: {
    outline: [
      "M50 19c10 8 17 17.5 17 27 0 6-2.5 10.5-7 14H40c-4.5-3.5-7-8-7-14 0-9.5 7-19 17-27z",
      "M50 10a5 5 0 1 1 0 10 5 5 0 0 1 0-10z",
      "M38 60h24c0 5 2 8.5 6 11H32c4-2.5 6-6 6-11z",
      FOOT,
    ],
    detail: "M50 33v16M42.5 40.5h15M38 60h24",
  },
  queen: {
    outline: [
      "M20 31l11 31h38l11-31-14 14-2.5-22L54 43l-4-24-4 24-9.5-20L34 45z",
      "M31 62h38c-1 4 0 7 2 9H29c2-2 3-5 2-9z",
      "M19 23.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM36 15.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM50 11.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM64 15.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM81 23.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9z",
      FOOT,
    ],
    detail: "M32 62h36M34 56h32",
  },
  king: {
    outline: [
      "M47 9h6v6h6v6h-6v9h-6v-9h-6v-6h6z",
      "M50 34c3-6 9-9 15-8.5 10 1 15.5 10 12.5 19.5-2 6.5-7 12-10.5 17H33c-3.5-5-8.5-10.5-10.5-17C19.5 35.5 25 26.5 35 25.5 41 25 47 28 50 34z",
      "M33 62h34c-.5 4 .5 7 3 9H30c2.5-2 3.5-5 3-9z",
      FOOT,
    ],
    detail: "M50 34v22M35 62h30",
  },
};

const LETTERS = { p: "pawn", r: "rook", n: "knight", b: "bishop", q: "queen", k: "king" };

/** Return the kind of a piece named "white knight" or by the letter "n". */
export function pieceKind(name) {
  const last = name.toLowerCase().split(" ").at(-1);
  return LETTERS[last] ?? last;
}

/** Draw a chess piece for player 0 (white) or 1 (black); null if there is no such piece. */
export function chessPiece(kind, player) {
  const shape = SHAPES[kind];
  if (!shape) return null;
  return s(
    "g",
    { class: `chess ${player === 0 ? "white" : "black"}` },
    shape.outline.map((d) => s("path", { class: "outline", d })),
    s("path", { class: "detail", d: shape.detail }),
  );
}
