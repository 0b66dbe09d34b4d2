// A bar of win, draw and loss, seen from the first player.

import { h } from "./dom.js";

/** Return [win, draw, loss] for the first player. */
export function forFirst(wdl, turn) {
  return turn === 0 ? wdl : [...wdl].reverse();
}

/** The expected score in 0..1 of the player that [win, draw, loss] is for. */
export function score(wdl) {
  return wdl[0] + wdl[1] / 2;
}

/** Write a share as "61.2 %". */
export function percent(share, digits = 1) {
  return `${(100 * share).toFixed(digits)} %`;
}

export class WdlBar {
  constructor() {
    this.parts = ["win", "draw", "loss"].map((name) => h("span", { class: `wdl-${name}` }));
    this.bar = h("div", { class: "wdl-bar" }, this.parts);
    this.text = h("p", { class: "wdl-text" });
    this.element = h(
      "div",
      { class: "wdl", role: "group", "aria-label": "Win, draw, loss" },
      this.bar,
      this.text,
    );
    this.clear();
  }

  clear() {
    this.#widths([0, 1, 0]);
    this.element.classList.add("unknown");
    this.text.replaceChildren(h("span", {}, "No search yet"));
  }

  /** Show [win, draw, loss] of the first player, in the colours of the game's pieces. */
  update(wdl, names, look) {
    this.element.className = `wdl ${look}`;
    this.#widths(wdl);
    const texts = [
      `${names[0]} ${percent(wdl[0])}`,
      `draw ${percent(wdl[1])}`,
      `${names[1]} ${percent(wdl[2])}`,
    ];
    this.text.replaceChildren(...texts.map((text) => h("span", {}, text)));
  }

  #widths(wdl) {
    this.parts.forEach((part, index) => {
      part.style.flexGrow = String(Math.max(0, wdl[index]));
    });
  }
}
