// The opponent of a game: a player of the server with a limit per move, or a person.

import { ask } from "./connection.js";

const HINT_SIMULATIONS = 400;
const ADVISERS = ["net", "solver", "engine", "minimax"];

export class Opponent {
  #work = null;

  /** `settings` are those of the form: player, kind, opponentLabel, limitKind and amount. */
  constructor(settings) {
    this.settings = settings;
  }

  get isPerson() {
    return this.settings.kind === "person";
  }

  get isThinking() {
    return this.#work !== null;
  }

  /** Its name and its limit. */
  get text() {
    const { kind, opponentLabel, limitKind, amount } = this.settings;
    if (kind !== "net") return opponentLabel;
    return `${opponentLabel}, ${amount} ${amount === 1 ? limitKind.slice(0, -1) : limitKind}`;
  }

  /** The id of its network; empty if it has none. */
  get netId() {
    return this.settings.kind === "net" ? this.settings.player : "";
  }

  /** Return the answer with its move; null if it was stopped before. */
  async move(line) {
    const { player, limitKind, amount } = this.settings;
    const work = new AbortController();
    this.#work = work;
    try {
      const question = { do: "move", ...line.question, player, [limitKind]: amount };
      const answer = await ask(question, work.signal);
      return this.#work === work ? answer : null;
    } finally {
      if (this.#work === work) this.#work = null;
    }
  }

  stop() {
    this.#work?.abort();
    this.#work = null;
  }

  /** Return the answer with a good move, of its network or of the best of `players`. */
  hint(line, players) {
    const player = this.netId || adviser(players);
    return ask({ do: "move", ...line.question, player, simulations: HINT_SIMULATIONS });
  }
}

/** The id of the player that gives hints: a network, perfect play or the deepest minimax. */
function adviser(players) {
  const best = (kind) => players.findLast((player) => player.kind === kind);
  return (ADVISERS.map(best).find(Boolean) ?? players[0])?.id;
}
