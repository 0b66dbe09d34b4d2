// A small list over the board, where two cells mean several moves: promotions, for example.

import { h, s } from "./dom.js";
import { chessPiece, pieceKind } from "./pieces.js";

/** Let the user choose one of `moves` near `spot`; return it, or null if none was chosen. */
export function openChooser(board, moves, spot, view) {
  board.closeChooser();
  return new Promise((resolve) => {
    const close = (move) => {
      list.remove();
      document.removeEventListener("pointerdown", outside, true);
      resolve(move);
    };
    const outside = (event) => {
      if (!list.contains(event.target)) close(null);
    };
    const list = h("div", {
      class: "chooser",
      role: "dialog",
      "aria-modal": "true",
      "aria-label": "Choose a move",
    });
    list.append(...moves.map((move) => option(move, view, () => close(move))));
    list.addEventListener("keydown", (event) => walk(event, list, close));
    list.style.left = `${100 * spot[0]}%`;
    list.style.top = `${100 * spot[1]}%`;
    list.classList.add(
      spot[1] > 0.5 ? "above" : "below",
      spot[0] > 0.7 ? "leftward" : spot[0] < 0.3 ? "rightward" : "centred",
    );
    board.append(list);
    document.addEventListener("pointerdown", outside, true);
    list.firstChild.focus();
  });
}

function option(move, view, onclick) {
  const drawn = move.promotion ? chessPiece(pieceKind(move.promotion), view.turn) : null;
  const text = move.label ?? move.move;
  const attributes = { type: "button", "aria-label": text, title: text, onclick };
  const picture = drawn && s("svg", { viewBox: "10 5 80 85", "aria-hidden": "true" }, drawn);
  return h("button", attributes, picture ?? text);
}

function walk(event, list, close) {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const step = event.key === "Tab" ? (event.shiftKey ? -1 : 1) : steps[event.key];
  if (event.key === "Escape") close(null);
  else if (step) {
    const options = [...list.children];
    const next = options.indexOf(document.activeElement) + step;
    options.at(next % options.length).focus();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}
