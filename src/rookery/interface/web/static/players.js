// The games and the players that the server offers, and the fields that choose among them.

import { fetchJson } from "./connection.js";
import { field, h } from "./dom.js";

const KINDS = {
  net: "Networks",
  engine: "UCI engines",
  solver: "Programs",
  minimax: "Programs",
  random: "Programs",
};

let games = null;

/** Return the games of the server. */
export async function fetchGames() {
  games ??= fetchJson("/api/games").catch((error) => {
    games = null;
    throw error;
  });
  return games;
}

/** Return the players of a game. */
export function fetchPlayers(game) {
  return fetchJson(`/api/players?game=${encodeURIComponent(game)}`);
}

/** Fields that choose a player: the player and, for the net of a run, the iteration. */
export class PlayerChoice {
  constructor(label, { extra = [], onchange }) {
    this.extra = extra;
    this.onchange = onchange;
    this.players = [];
    this.players_select = h("select", { onchange: () => this.#changed() });
    this.iterations = h("select", { onchange: () => onchange?.() });
    this.iterationField = field("Iteration", this.iterations);
    this.iterationField.hidden = true;
    this.parts = [field(label, this.players_select), this.iterationField];
  }

  /** Offer the players of a game, and choose one by its id if it is there. */
  offer(players, chosen) {
    this.players = players;
    const [id, iteration] = splitId(chosen, players);
    const groups = Map.groupBy ? groupsOf(players) : [["Players", players]];
    const extra = this.extra.map(([value, text]) => h("option", { value }, text));
    const made = groups.map(([name, members]) =>
      h(
        "optgroup",
        { label: name },
        members.map((player) => h("option", { value: player.id }, player.label)),
      ),
    );
    this.players_select.replaceChildren(...extra, ...made);
    const isKnown =
      id !== null && [...this.players_select.options].some((option) => option.value === id);
    this.players_select.value = isKnown ? id : (players[0]?.id ?? this.extra[0]?.[0] ?? "");
    this.#offerIterations(iteration);
  }

  #offerIterations(chosen) {
    const found = this.player?.iterations ?? [];
    this.iterationField.hidden = found.length === 0;
    const pairs = [["", "newest"], ...found.map((number) => [String(number), String(number)])];
    this.iterations.replaceChildren(...pairs.map(([value, text]) => h("option", { value }, text)));
    this.iterations.value = chosen && found.map(String).includes(chosen) ? chosen : "";
  }

  #changed() {
    this.#offerIterations("");
    this.onchange?.();
  }

  get player() {
    return this.players.find((player) => player.id === this.players_select.value);
  }

  /** The id as questions carry it: "ID" or "ID@ITERATION". */
  get id() {
    const iteration = this.iterationField.hidden ? "" : this.iterations.value;
    return iteration ? `${this.players_select.value}@${iteration}` : this.players_select.value;
  }

  get label() {
    const option = this.players_select.selectedOptions[0];
    const iteration = this.iterationField.hidden ? "" : this.iterations.value;
    return (option?.textContent ?? "") + (iteration ? `, iteration ${iteration}` : "");
  }
}

function groupsOf(players) {
  return [...Map.groupBy(players, (player) => KINDS[player.kind] ?? "Players")];
}

/** Split "ID@20" unless the whole is an id. */
function splitId(chosen, players) {
  if (chosen === null || chosen === undefined) return [null, ""];
  if (players.some((player) => player.id === chosen)) return [chosen, ""];
  const at = chosen.lastIndexOf("@");
  return at < 0 ? [chosen, ""] : [chosen.slice(0, at), chosen.slice(at + 1)];
}
