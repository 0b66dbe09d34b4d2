// The moves of a game in two columns; each is a button that shows its position.

import { h } from "./dom.js";

export class MoveList {
  /** `onpick` is called with the number of moves made in the position that was picked. */
  constructor(onpick) {
    this.onpick = onpick;
    this.list = h("ol", { class: "moves" });
    this.element = h(
      "div",
      { class: "moves-scroll", tabindex: "0", role: "group", "aria-label": "Moves" },
      this.list,
    );
  }

  /** Show moves, the current ply, who began, and marks such as "??" by ply. */
  update({ moves, ply, firstTurn = 0, marks = {} }) {
    const rows = [];
    const cells = moves.map((move, index) => this.#move(move, index, ply, marks[index]));
    if (firstTurn === 1 && cells.length) cells.unshift(h("span", { class: "skipped" }, "..."));
    for (let i = 0; i < cells.length; i += 2) {
      rows.push(
        h(
          "li",
          {},
          h("span", { class: "move-number" }, `${i / 2 + 1}.`),
          cells[i],
          cells[i + 1] ?? null,
        ),
      );
    }
    const empty = h("li", { class: "no-moves" }, "No moves yet.");
    this.list.replaceChildren(...(rows.length ? rows : [empty]));
    this.#scroll();
  }

  #move(move, index, ply, mark) {
    const attributes = {
      type: "button",
      class: `move ${mark ? mark.kind : ""}`,
      onclick: () => this.onpick(index + 1),
    };
    if (index + 1 === ply) attributes["aria-current"] = "true";
    return h("button", attributes, move + (mark?.sign ?? ""));
  }

  #scroll() {
    const current = this.list.querySelector("[aria-current]");
    if (!current) this.element.scrollTop = 0;
    else {
      const middle = current.offsetTop - this.element.clientHeight / 2;
      this.element.scrollTop = Math.max(0, middle);
    }
  }
}
