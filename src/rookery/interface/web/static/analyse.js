import { h } from "./dom.js";

export function show(place) {
  place.replaceChildren(h("section", { class: "card empty" }, h("h1", {}, "Soon")));
}
