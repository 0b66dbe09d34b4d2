// The tree of a search as nested lists; children are asked for when a node is opened.

import { candidateColor, shortCount } from "./candidates.js";
import { h } from "./dom.js";
import { percent } from "./wdl_bar.js";

const MOST_CHILDREN = 20;

export class TreeView {
  /** `children(path)` asks for the children after a path; `preview` and `play` as in the table. */
  constructor({ children, preview, play }) {
    this.children = children;
    this.preview = preview;
    this.play = play;
    this.list = h("ul", { class: "tree" });
    this.element = h("details", { class: "tree-box" }, h("summary", {}, "Tree"), this.list);
    this.element.addEventListener("toggle", () => this.element.open && this.load());
  }

  clear() {
    this.list.replaceChildren();
    if (this.element.open) this.load();
  }

  load() {
    return this.#fill(this.list, []);
  }

  async #fill(list, path) {
    try {
      const found = (await this.children(path))
        .filter((child) => child.visits > 0)
        .slice(0, MOST_CHILDREN);
      const most = Math.max(1, ...found.map((child) => child.visits));
      const nodes = found.map((child, index) =>
        this.#node(child, path, child.visits / most, index === 0),
      );
      list.replaceChildren(
        ...(nodes.length ? nodes : [h("li", { class: "muted" }, "The tree ends here.")]),
      );
    } catch (error) {
      list.replaceChildren(h("li", { class: "muted" }, error.message));
    }
  }

  #node(child, path, share, isBest) {
    const here = [...path, child.move];
    const list = h("ul");
    const swatch = h("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = candidateColor(share, isBest);
    const figures = `${percent((child.value + 1) / 2)}  ${shortCount(child.visits)} visits`;
    const summary = h(
      "summary",
      {
        onpointerenter: () => this.preview(here, true),
        onpointerleave: () => this.preview(null),
        onfocus: () => this.preview(here, true),
        onblur: () => this.preview(null),
      },
      swatch,
      h("strong", {}, child.move),
      h("span", { class: "figures" }, figures),
    );
    const go = h(
      "button",
      { type: "button", class: "button small quiet", onclick: () => this.play(here) },
      "Go there",
    );
    const node = h("details", {}, summary, go, list);
    node.addEventListener("toggle", () => {
      if (node.open && !list.hasChildNodes()) this.#fill(list, here);
    });
    return h("li", {}, node);
  }
}
