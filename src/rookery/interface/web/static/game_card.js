// The card beside the board of the page Play: state, moves, tools, and a field for moves.

import { h, icon, iconButton } from "./dom.js";
import { MoveList } from "./move_list.js";

const TOOLS = [
  ["undo", "Undo", "undo"],
  ["redo", "Redo", "redo"],
  ["flip", "Flip the board", "flip"],
  ["hint", "Hint", "hint"],
  ["resign", "Resign", "flag"],
];

export class GameCard {
  #tools = {};
  #typed = h("input", {
    type: "text",
    "aria-label": "Type a move",
    placeholder: "Type a move",
    autocomplete: "off",
    spellcheck: "false",
    disabled: true,
  });

  /** `actions` has a function per tool, `pick(ply)`, and `type(text)`: whether that was a move. */
  constructor(actions) {
    this.status = h("p", { class: "status" }, "Preparing the game");
    this.list = new MoveList(actions.pick);
    for (const [name, label, picture] of TOOLS) {
      this.#tools[name] = iconButton(label, picture, actions[name]);
      this.#tools[name].disabled = true;
    }
    this.analyseLink = analyseLink();
    const tools = [...Object.values(this.#tools), this.analyseLink];
    this.element = h(
      "section",
      { class: "card game-card", "aria-label": "Game" },
      this.status,
      this.list.element,
      h("div", { class: "toolbar", role: "toolbar", "aria-label": "Game" }, tools),
      this.#form(actions.type),
    );
  }

  #form(type) {
    const onsubmit = (event) => {
      event.preventDefault();
      const isMove = type(this.#typed.value);
      this.#typed.setAttribute("aria-invalid", String(!isMove));
      if (isMove) this.#typed.value = "";
    };
    const go = h("button", { class: "button" }, "Move");
    return h("form", { class: "move-form", onsubmit }, this.#typed, go);
  }

  /** Say how the game stands; from then on moves can be typed. */
  say(text, isOver) {
    this.#typed.disabled = false;
    this.status.textContent = text;
    this.status.classList.toggle("over", isOver);
  }

  /** Allow tools by name. */
  allow(allowed) {
    for (const [name, isAllowed] of Object.entries(allowed)) {
      this.#tools[name].disabled = !isAllowed;
    }
  }
}

function analyseLink() {
  const label = "Analyse this game";
  const attributes = { class: "icon-button", href: "#/analyse", "aria-label": label, title: label };
  return h("a", attributes, icon("magnify"));
}
