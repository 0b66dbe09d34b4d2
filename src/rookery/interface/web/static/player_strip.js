// The lines above and below the board of the page Play.

import { h } from "./dom.js";

/** A line above or below the board: who plays, whether the player is to move, what it expects. */
export function playerStrip() {
  const stone = h("span", { class: "side-sign", "aria-hidden": "true" });
  const name = h("strong");
  const who = h("span", { class: "who" });
  const note = h("span", { class: "note" });
  const element = h("div", { class: "strip" }, stone, name, who, note);
  const update = (state) => {
    stone.className = `side-sign ${state.look} ${state.player ? "second" : "first"}`;
    name.textContent = state.name;
    who.textContent = state.who;
    note.textContent = state.isThinking ? "thinking" : state.note;
    element.classList.toggle("to-move", state.isToMove);
    element.classList.toggle("thinking", state.isThinking);
  };
  return { element, update };
}
