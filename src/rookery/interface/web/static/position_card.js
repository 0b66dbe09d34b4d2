// The card of the page Analyse with the moves of the game and the tools that walk through them.

import { h, icon, iconButton } from "./dom.js";
import { MoveList } from "./move_list.js";
import { canEdit } from "./position_editor.js";

export class PositionCard {
  #back;
  #forward;
  #flip;

  /** `actions` are `goTo(ply)`, `step(plies)`, `last()`, `flip()` and `edit()`. */
  constructor(actions) {
    this.status = h("p", { class: "status" }, "Preparing the game");
    this.list = new MoveList(actions.goTo);
    this.#back = iconButton("Back", "left", () => actions.step(-1));
    this.#forward = iconButton("Forward", "right", () => actions.step(1));
    this.#flip = iconButton("Flip the board", "flip", actions.flip);
    this.editButton = iconButton("Set up a position", "edit", actions.edit);
    this.editButton.hidden = true;
    this.playLink = playLink();
    const tools = [
      iconButton("First position", "start", () => actions.goTo(0)),
      this.#back,
      this.#forward,
      iconButton("Last position", "end", actions.last),
      this.#flip,
      this.editButton,
      this.playLink,
    ];
    this.element = h(
      "section",
      { class: "card game-card", "aria-label": "Game" },
      this.status,
      this.list.element,
      h("div", { class: "toolbar", role: "toolbar", "aria-label": "Position" }, tools),
    );
  }

  /** Show where in the game a view is. */
  update(line, view, text) {
    this.status.textContent = text;
    this.#back.disabled = line.ply === 0;
    this.#forward.disabled = line.isAtEnd;
    this.#flip.disabled = view.drops || view.height === 0;
    this.editButton.hidden = !canEdit(view);
  }
}

function playLink() {
  const label = "Play from here";
  const attributes = { class: "icon-button", href: "#/play", "aria-label": label, title: label };
  return h("a", attributes, icon("play"));
}
