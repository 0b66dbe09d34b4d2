// The state of a page in its address, so that a reload or a link brings the same game back.
//   #/play?game=chess&player=shipped&side=0&moves=e4+e5
//   #/analyse?game=connect4&start=&moves=4+4+3&ply=2&player=ID

/** Write a page's state into the address without opening the page again. */
export function remember(page, state) {
  const hash = pageAddress(page, state);
  history.replaceState(null, "", hash);
  const tab = document.querySelector(`.tabs a[data-page="${page}"]`);
  if (tab) tab.href = hash;
}

/** Return the address of a page with a state. */
export function pageAddress(page, state) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    const text = Array.isArray(value) ? value.join(" ") : String(value ?? "");
    if (text !== "") query.set(name, text);
  }
  const text = query.toString();
  return text ? `#/${page}?${text}` : `#/${page}`;
}

/** Return the moves of an address. */
export function movesOf(query) {
  return (query.get("moves") ?? "").split(" ").filter(Boolean);
}
