// The doctor's panel: what seems wrong with a run, why, and what to change.

import { button, h } from "./dom.js";
import { fetchJson } from "./connection.js";

const LOOKS = { problem: "bad", warning: "warn" };

/** Make the panel, which asks the server when its button is pressed. */
export function doctorPanel(path) {
  const intro = h("p", { class: "muted" }, "Looks for faults in the figures of this run.");
  const body = h("div", { class: "stack", "aria-live": "polite" }, intro);
  const ask = button("Examine", "magnify", examine, "small");

  async function examine() {
    ask.disabled = true;
    body.replaceChildren(h("p", { class: "muted" }, "Examining"));
    try {
      const findings = await fetchJson(`${path}/doctor`);
      const none = h("p", { class: "notice" }, "The figures of this run give no reason for a finding.");
      body.replaceChildren(...(findings.length ? findings.map(finding) : [none]));
    } catch (error) {
      body.replaceChildren(h("p", { class: "notice error" }, error.message));
    }
    ask.disabled = false;
  }

  return h("section", { class: "card" }, h("header", {}, h("h2", {}, "Doctor"), ask), body);
}

function finding({ name, severity, what, why = [], advice = [] }) {
  const figures = why.map((each) =>
    h("li", {}, `${each.label}: `, h("b", {}, each.text), each.expected ? `, expected ${each.expected}` : ""),
  );
  const steps = advice.map((each) =>
    h("li", {}, each.text, each.setting ? [" ", h("code", {}, `--set ${each.setting}=${each.value}`)] : null),
  );
  return h(
    "article",
    { class: "finding" },
    h("h3", {}, h("span", { class: `badge ${LOOKS[severity] ?? ""}` }, severity), " ", name),
    h("p", {}, what),
    figures.length ? h("ul", {}, figures) : null,
    steps.length ? h("ul", { class: "advice" }, steps) : null,
  );
}
