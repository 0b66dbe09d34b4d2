// Talk with the server: questions over one WebSocket, and JSON over HTTP.

/** An answer that says what went wrong, in words for the user. */
export class ServerError extends Error {}

const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 8000;

let socket = null;
let opening = null;
let wait = FIRST_WAIT_MS;
let lastId = 0;
let wasLost = false;
const pending = new Map();
const banner = document.getElementById("banner");

function say(text) {
  banner.textContent = text;
  banner.hidden = !text;
}

function opened() {
  opening ??= new Promise((resolve, reject) => {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const fresh = new WebSocket(`${scheme}//${location.host}/api/play`);
    fresh.addEventListener("open", () => {
      socket = fresh;
      wait = FIRST_WAIT_MS;
      say("");
      if (wasLost) window.dispatchEvent(new Event("reconnected"));
      wasLost = false;
      resolve(fresh);
    });
    fresh.addEventListener("message", (event) => received(JSON.parse(event.data)));
    fresh.addEventListener("close", () => {
      closed();
      reject(new ServerError("The server does not answer."));
    });
  });
  return opening;
}

function closed() {
  socket = null;
  opening = null;
  wasLost = true;
  say("The server does not answer. Trying again; your game is kept on this page.");
  const asked = [...pending.values()];
  pending.clear();
  for (const question of asked) question.fail(new ServerError("The connection was lost."));
  setTimeout(() => opened().catch(() => {}), wait);
  wait = Math.min(2 * wait, LONGEST_WAIT_MS);
}

function received(answer) {
  const question = pending.get(answer.id);
  if (!question) return;
  if (answer.error) {
    pending.delete(answer.id);
    question.fail(new ServerError(answer.error));
  } else {
    question.receive(answer);
  }
}

/** Ask for one answer. An aborted `signal` stops the work on the server. */
export function ask(question, signal) {
  return new Promise((resolve, reject) => {
    follow(question, { receive: resolve, fail: reject, isLast: () => true, signal });
  });
}

/** Ask for many answers: `receive` sees each of them, the last one has `done`. */
export function stream(question, { receive, fail, signal }) {
  follow(question, { receive, fail, isLast: (answer) => Boolean(answer.done), signal });
}

async function follow(question, { receive, fail, isLast, signal }) {
  const id = ++lastId;
  if (signal?.aborted) return;
  pending.set(id, {
    fail,
    receive(answer) {
      if (isLast(answer)) pending.delete(id);
      receive(answer);
    },
  });
  signal?.addEventListener("abort", () => {
    if (pending.delete(id)) send({ id: ++lastId, do: "stop", stop: id });
  });
  try {
    const ready = await opened();
    if (pending.has(id)) ready.send(JSON.stringify({ ...question, id }));
  } catch (error) {
    if (pending.delete(id)) fail(error);
  }
}

function send(message) {
  socket?.send(JSON.stringify(message));
}

/** Return the JSON of an address of this server; with `body`, post it. */
export async function fetchJson(path, body) {
  const options = body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new ServerError("The server does not answer. Is rookery serve still running?");
  }
  const found = await response.json().catch(() => ({}));
  if (!response.ok) throw new ServerError(found.error ?? `The server answered ${response.status}.`);
  return found;
}
