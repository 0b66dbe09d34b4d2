// Set up a chess position by hand: choose a piece, then its squares. Other games are set up by
// playing moves for both sides.

import { chessPiece } from "./pieces.js";
import { button, h, s, select } from "./dom.js";

const KINDS = ["king", "queen", "rook", "bishop", "knight", "pawn"];
const LETTERS = { king: "k", queen: "q", rook: "r", bishop: "b", knight: "n", pawn: "p" };
const ERASER = "";

/** Whether positions of a game can be set up piece by piece. */
export function canEdit(view) {
  return view.colors === true && view.width === 8 && view.height === 8;
}

export class PositionEditor {
  /** Edit a copy of `view` on `board`; `ondone(fen)` takes the position, `oncancel()` none. */
  constructor(board, view, { ondone, oncancel }) {
    this.board = board;
    this.rows = view.rows.map((row) => [...row]);
    this.view = view;
    this.turn = view.turn === 0 ? "w" : "b";
    this.castling = (view.position.split(" ")[2] ?? "-").replace("-", "");
    this.sign = "P";
    this.listener = (event) => this.#place(event.detail);
    board.addEventListener("cell", this.listener);
    board.editing = true;
    board.overlay({ marks: [], heat: [], arrows: [], numbers: [] });
    const done = button("Use this position", null, () => ondone(this.fen), "primary");
    const cancel = button("Cancel", null, oncancel);
    this.element = h(
      "section",
      { class: "card stack editor", "aria-label": "Set up a position" },
      h("h2", {}, "Set up a position"),
      this.#palette(),
      this.#fields(),
      h("div", { class: "row" }, done, cancel),
    );
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape") oncancel();
    });
    this.#draw();
  }

  close() {
    this.board.removeEventListener("cell", this.listener);
    this.board.editing = false;
    this.element.remove();
  }

  get fen() {
    const lines = this.rows.map((row) =>
      row
        .map((sign) => sign || "1")
        .join("")
        .replace(/1+/g, (run) => run.length),
    );
    return `${lines.join("/")} ${this.turn} ${this.#possibleCastling() || "-"} - 0 1`;
  }

  /** The chosen rights to castle whose king and rook stand at home. */
  #possibleCastling() {
    const isHome = (letter) => {
      const [row, king, rook] = letter < "a" ? [this.rows[7], "K", "R"] : [this.rows[0], "k", "r"];
      return row[4] === king && row[letter.toLowerCase() === "k" ? 7 : 0] === rook;
    };
    return [...this.castling].filter(isHome).join("");
  }

  #palette() {
    const [white, black] = [0, 1].map((player) => KINDS.map((kind) => this.#choice(kind, player)));
    const eraser = h(
      "button",
      {
        type: "button",
        class: "palette-piece",
        "aria-label": "Eraser",
        title: "Eraser",
        onclick: () => this.#pick(ERASER),
      },
      "\u2715",
    );
    eraser.dataset.sign = ERASER;
    this.palette = h(
      "div",
      { class: "palette", role: "group", "aria-label": "Pieces" },
      white,
      eraser,
      black,
    );
    this.#pick(this.sign);
    return this.palette;
  }

  #choice(kind, player) {
    const sign = player === 0 ? LETTERS[kind].toUpperCase() : LETTERS[kind];
    const label = `${player === 0 ? "White" : "Black"} ${kind}`;
    const picture = s(
      "svg",
      { viewBox: "0 0 100 100", "aria-hidden": "true" },
      chessPiece(kind, player),
    );
    const choice = h(
      "button",
      {
        type: "button",
        class: "palette-piece",
        "aria-label": label,
        title: label,
        onclick: () => this.#pick(sign),
      },
      picture,
    );
    choice.dataset.sign = sign;
    return choice;
  }

  #pick(sign) {
    this.sign = sign;
    for (const choice of this.palette?.children ?? []) {
      choice.setAttribute("aria-pressed", String(choice.dataset.sign === sign));
    }
  }

  #fields() {
    const turn = select(
      [
        ["w", "White to move"],
        ["b", "Black to move"],
      ],
      this.turn,
      (value) => {
        this.turn = value;
      },
    );
    turn.setAttribute("aria-label", "Side to move");
    const rights = [..."KQkq"].map((letter) => {
      const box = h("input", { type: "checkbox", checked: this.castling.includes(letter) });
      box.addEventListener("change", () => this.#allow(letter, box.checked));
      return h("label", { class: "check" }, box, CASTLING[letter]);
    });
    const clear = button("Clear the board", "trash", () => this.#clear(), "small");
    return h("div", { class: "stack" }, turn, h("div", { class: "rights" }, rights), clear);
  }

  #allow(letter, isAllowed) {
    const allowed = new Set(this.castling);
    isAllowed ? allowed.add(letter) : allowed.delete(letter);
    this.castling = [..."KQkq"].filter((each) => allowed.has(each)).join("");
  }

  #clear() {
    this.rows = this.rows.map((row) => row.map(() => ""));
    this.#draw();
  }

  #place([x, y]) {
    this.rows[y][x] = this.rows[y][x] === this.sign ? "" : this.sign;
    this.#draw();
  }

  #draw() {
    const pieces = { ...this.view.pieces };
    for (const kind of KINDS) {
      pieces[LETTERS[kind]] = { kind: "chess", player: 1, name: `black ${kind}` };
      pieces[LETTERS[kind].toUpperCase()] = { kind: "chess", player: 0, name: `white ${kind}` };
    }
    this.board.view = {
      ...this.view,
      rows: this.rows.map((row) => [...row]),
      pieces,
      moves: [],
      last: null,
    };
  }
}

const CASTLING = {
  K: "White O-O",
  Q: "White O-O-O",
  k: "Black O-O",
  q: "Black O-O-O",
};
