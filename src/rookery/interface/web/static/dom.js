// Small tools for building elements. Texts are always text nodes, never HTML.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an HTML element: h("button", { class: "primary", onclick: f, disabled: true }, "Go").
 * Names that start with "on" are listeners; null and false leave an attribute out.
 */
export function h(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** Make an SVG element in the same way. */
export function s(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.flat(Infinity).filter((child) => (child ?? false) !== false));
  return element;
}

const ICONS = {
  sun: "M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10M12 1v3M12 20v3M1 12h3M20 12h3M4.2 4.2l2.1 2.1M17.7 17.7l2.1 2.1M4.2 19.8l2.1-2.1M17.7 6.3l2.1-2.1",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5Z",
  undo: "M8 5 3.5 9.5 8 14M4 9.5h10a5.5 5.5 0 0 1 0 11h-3",
  redo: "M16 5l4.5 4.5L16 14M20 9.5H10a5.5 5.5 0 0 0 0 11h3",
  flip: "M7 3v15M3.5 14.5 7 18l3.5-3.5M17 21V6M13.5 9.5 17 6l3.5 3.5",
  hint: "M9 18h6M10 21.5h4M12 2.5a6.5 6.5 0 0 0-4 11.6c.7.6 1 1.2 1 1.9h6c0-.7.3-1.3 1-1.9A6.5 6.5 0 0 0 12 2.5Z",
  flag: "M5 21.5V3M5 4h13l-3 4.5 3 4.5H5",
  copy: "M9 9h11v12H9zM15 9V3H4v12h5",
  paste: "M9 4H5v17h14V4h-4M9 2.5h6v4H9z",
  save: "M12 3v12M7 10.5l5 5 5-5M4 20.5h16",
  start: "M6 5v14M19 5 9 12l10 7z",
  end: "M18 5v14M5 5l10 7-10 7z",
  plus: "M12 4v16M4 12h16",
  play: "M7 4l13 8-13 8z",
  stop: "M6 6h12v12H6z",
  left: "M15 5l-7 7 7 7",
  right: "M9 5l7 7-7 7",
  magnify: "M10.5 3.5a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16 16l5 5",
  edit: "M4 20l1-5L16 4l4 4L9 19zM13.5 6.5l4 4",
  close: "M5 5l14 14M19 5 5 19",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 14h10l1-14",
};

/** Make a line icon of 24 units; the button around it carries the name. */
export function icon(name) {
  return s(
    "svg",
    { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" },
    s("path", { d: ICONS[name] }),
  );
}

/** Make a button with an icon and a visible text. */
export function button(text, iconName, onclick, kind = "") {
  const parts = [iconName ? icon(iconName) : null, h("span", {}, text)];
  return h("button", { type: "button", class: `button ${kind}`, onclick }, parts);
}

/** Make a button that shows an icon only; `label` is its name and its tooltip. */
export function iconButton(label, iconName, onclick) {
  const attributes = { type: "button", class: "icon-button", "aria-label": label, title: label };
  return h("button", { ...attributes, onclick }, icon(iconName));
}

let lastId = 0;

/** Make a labelled field around an input or a select. */
export function field(label, control, hint = "") {
  control.id ||= `field-${++lastId}`;
  const parts = [h("label", { for: control.id }, label), control];
  if (hint) {
    control.setAttribute("aria-describedby", `${control.id}-hint`);
    parts.push(h("p", { class: "hint", id: `${control.id}-hint` }, hint));
  }
  return h("div", { class: "field" }, parts);
}

/** Make a select from [value, text] pairs. */
export function select(pairs, value, onchange) {
  const options = pairs.map(([key, text]) =>
    h("option", { value: key, selected: key === value }, text),
  );
  return h("select", { onchange: (event) => onchange?.(event.target.value) }, options);
}

/** Make a group of radio buttons that looks like one switch, from [value, text] pairs. */
export function segmented(legend, pairs, value, onchange) {
  const name = `choice-${++lastId}`;
  const parts = pairs.map(([key, text]) =>
    h(
      "label",
      {},
      h("input", {
        type: "radio",
        name,
        value: key,
        checked: key === value,
        onchange: () => onchange(key),
      }),
      h("span", {}, text),
    ),
  );
  const rows = [h("legend", {}, legend), h("div", { class: "segments" }, parts)];
  return h("fieldset", { class: "segmented" }, rows);
}

/** Say something to screen readers. */
export function speak(text) {
  document.getElementById("spoken").textContent = text;
}

/** Show a short message for a few seconds; errors stay longer. */
export function toast(text, isError = false) {
  const note = h("p", { class: isError ? "toast error" : "toast" }, text);
  document.getElementById("toasts").append(note);
  setTimeout(() => note.remove(), isError ? 8000 : 3500);
}
