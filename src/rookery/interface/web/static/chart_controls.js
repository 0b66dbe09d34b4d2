// The choices above charts: x axis, smoothing, logarithmic scale.

import { h, segmented } from "./dom.js";

/** Make the row of choices; `onchange` gets { axis, smoothing, log }. */
export function chartControls(choice, onchange, ...buttons) {
  const change = (part) => onchange(Object.assign(choice, part));
  const value = h("output", { class: "muted" }, smoothingText(choice.smoothing));
  const slider = h("input", {
    type: "range",
    id: "smoothing",
    min: "0",
    max: "0.98",
    step: "0.02",
    value: String(choice.smoothing),
    oninput: (event) => {
      value.textContent = smoothingText(Number(event.target.value));
      change({ smoothing: Number(event.target.value) });
    },
  });
  const log = h("input", {
    type: "checkbox",
    checked: choice.log,
    onchange: (event) => change({ log: event.target.checked }),
  });
  const axis = segmented("Over", [["iteration", "Iterations"], ["minutes", "Minutes"]], choice.axis, (name) =>
    change({ axis: name }),
  );
  return h(
    "div",
    { class: "chart-controls" },
    axis,
    h("div", { class: "field smoothing" }, h("label", { for: "smoothing" }, "Smoothing"), h("div", { class: "row" }, slider, value)),
    h("label", { class: "check" }, log, "Logarithmic"),
    h("span", { class: "grow" }),
    buttons,
  );
}

function smoothingText(weight) {
  return weight ? weight.toFixed(2) : "off";
}
