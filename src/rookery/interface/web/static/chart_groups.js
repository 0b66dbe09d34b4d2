// Charts in groups with headings; groups and charts without curves are left out.

import { h } from "./dom.js";
import { GROUPS } from "./curves.js";

export class ChartGroups {
  #groups;

  /** `charts` are { group, chart }. */
  constructor(charts) {
    const isWide = matchMedia("(min-width: 761px)").matches;
    this.#groups = GROUPS.map((name, at) => {
      const mine = charts.filter(({ group }) => group === name).map(({ chart }) => chart);
      const grid = h("div", { class: "charts" }, mine.map(({ element }) => element));
      const title = h("summary", {}, h("h2", {}, name));
      return { section: h("details", { class: "chart-group", open: isWide || at === 0 }, title, grid), mine };
    });
    this.element = h("div", { class: "stack" }, this.#groups.map(({ section }) => section));
  }

  /** Hide groups whose charts have no curves; return whether any is left. */
  update() {
    for (const { section, mine } of this.#groups) {
      section.hidden = mine.every(({ element }) => element.hidden);
    }
    return this.#groups.some(({ section }) => !section.hidden);
  }
}
