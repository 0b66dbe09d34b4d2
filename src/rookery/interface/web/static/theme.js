// The light and the dark theme: the system's choice until the button is pressed.

import { icon } from "./dom.js";

const system = matchMedia("(prefers-color-scheme: dark)");

/** Return whether the dark theme is shown now. */
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}

/** Return a design token such as "--accent" as a plain colour, for drawing on a canvas. */
export function tokenColor(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

/** Connect the button. Every change of theme sends the event "themechange" to the window. */
export function startTheme(button) {
  const update = () => {
    const dark = isDark();
    button.replaceChildren(icon(dark ? "sun" : "moon"));
    button.setAttribute("aria-label", dark ? "Use the light theme" : "Use the dark theme");
    window.dispatchEvent(new Event("themechange"));
  };
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("rookery-theme", theme);
    } catch {
      // Without storage the choice holds until the page is closed.
    }
    update();
  });
  system.addEventListener("change", update);
  update();
}
