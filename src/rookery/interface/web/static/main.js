// The shell: header, theme, and a router of addresses such as #/runs/connect4-1?tab=games.
//
// A page is a module that exports `show(place, parts, query)`: it fills the element `place`, and
// may return a function (or a promise of one) that ends what it started. `parts` are the parts of
// the address after the page's name, `query` is a URLSearchParams. Pages are loaded when first opened.

import { h } from "./dom.js";
import { startTheme } from "./theme.js";

const PAGES = {
  play: { title: "Play", load: () => import("./play.js") },
  analyse: { title: "Analyse", load: () => import("./analyse.js") },
  runs: { title: "Runs", load: () => import("./runs.js") },
};

const main = document.getElementById("main");
let leave = () => {};
let turn = 0;

function address() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decoded);
  const page = Object.hasOwn(PAGES, parts[0]) ? parts[0] : "play";
  return { page, parts: parts.slice(1), query: new URLSearchParams(query) };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function mark(page) {
  for (const link of document.querySelectorAll(".tabs a")) {
    if (link.dataset.page === page) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${PAGES[page].title} - Rookery`;
  document.body.dataset.page = page;
}

function failed(error) {
  console.error(error);
  main.replaceChildren(
    h(
      "section",
      { class: "card empty" },
      h("h1", {}, "This page did not load"),
      h("p", {}, String(error.message || error)),
      h("button", { class: "button", onclick: () => location.reload() }, "Load again"),
    ),
  );
}

async function open() {
  const mine = ++turn;
  const { page, parts, query } = address();
  mark(page);
  leave();
  leave = () => {};
  const place = h("div", { class: `page ${page}-page` }, h("p", { class: "loading" }, "Loading"));
  main.replaceChildren(place);
  try {
    const module = await PAGES[page].load();
    if (mine !== turn) return;
    const ended = await module.show(place, parts, query);
    if (mine === turn) leave = ended ?? leave;
    else ended?.();
  } catch (error) {
    if (mine === turn) failed(error);
  }
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
startTheme(document.getElementById("theme"));
window.addEventListener("hashchange", open);
open();
