// The form of a new game: game, opponent, side, strength and position.

import { button, field, h, segmented, select, toast } from "./dom.js";
import { fetchPlayers, PlayerChoice } from "./players.js";

const SIMULATIONS = ["1", "25", "100", "400", "1600", "6400"];
const SECONDS = ["0.5", "1", "2", "5", "10", "30"];
const PERSON = ["person", "A person at this board"];

export class SetupForm {
  /** `onchange` sees the settings after each change, `onstart` when a new game is asked for. */
  constructor(games, settings, { onchange, onstart }) {
    this.settings = { ...settings };
    this.onchange = onchange;
    this.onstart = onstart;
    this.titles = games.map((game) => [game.name, game.title]);
    this.games = select(this.titles, settings.game, (game) => this.#chooseGame(game));
    this.opponent = new PlayerChoice("Opponent", {
      extra: [PERSON],
      onchange: () => this.#changed(),
    });
    this.side = segmented("You play", sidePairs(), settings.side, (side) => this.#set({ side }));
    this.limitKind = segmented("Strength by", limitPairs(), settings.limitKind, (kind) =>
      this.#chooseLimit(kind),
    );
    this.amount = select([], "", (amount) => this.#set({ amount: Number(amount) }));
    this.amountField = field("", this.amount);
    this.position = h("input", {
      type: "text",
      spellcheck: "false",
      autocomplete: "off",
      placeholder: "the first position",
    });
    this.element = this.#build();
    this.#offerAmounts();
  }

  #build() {
    this.sideField = h("div", {}, this.side);
    this.strength = h("div", { class: "stack tight" }, this.limitKind, this.amountField);
    const parts = [
      field("Game", this.games),
      ...this.opponent.parts,
      this.sideField,
      this.strength,
      field("Start from", this.position, "A position or moves, as the game writes them."),
      button("New game", "plus", () => this.#start(), "primary"),
    ];
    const form = h("form", { class: "stack", onsubmit: (event) => event.preventDefault() }, parts);
    return h(
      "section",
      { class: "card setup", "aria-labelledby": "setup-title" },
      h("header", {}, h("h2", { id: "setup-title" }, "New game")),
      form,
    );
  }

  /** Load the players of the game; the settings are complete afterwards. */
  async load() {
    const players = await fetchPlayers(this.settings.game);
    this.opponent.offer(players, this.settings.player);
    this.games.value = this.settings.game;
    this.#readOpponent();
  }

  async #chooseGame(game) {
    this.settings = { ...this.settings, game, player: null };
    this.position.value = "";
    try {
      await this.load();
    } catch (error) {
      toast(error.message, true);
    }
    this.onchange(this.settings);
  }

  #changed() {
    this.#readOpponent();
    this.onchange(this.settings);
  }

  #readOpponent() {
    const kind = this.opponent.player?.kind ?? "person";
    this.strength.hidden = kind !== "net";
    this.sideField.hidden = kind === "person";
    Object.assign(this.settings, {
      player: this.opponent.id,
      kind,
      opponentLabel: this.opponent.label,
    });
  }

  #set(change) {
    Object.assign(this.settings, change);
    this.onchange(this.settings);
  }

  #chooseLimit(limitKind) {
    this.settings.limitKind = limitKind;
    this.settings.amount = limitKind === "seconds" ? 1 : 100;
    this.#offerAmounts();
    this.onchange(this.settings);
  }

  #offerAmounts() {
    const isTime = this.settings.limitKind === "seconds";
    const amounts = isTime ? SECONDS : SIMULATIONS;
    const fresh = select(
      amounts.map((text) => [text, text]),
      String(this.settings.amount),
    );
    this.amount.replaceChildren(...fresh.options);
    this.amount.value = amounts.includes(String(this.settings.amount))
      ? this.settings.amount
      : amounts[2];
    this.settings.amount = Number(this.amount.value);
    this.amountField.firstChild.textContent = isTime ? "Seconds per move" : "Simulations per move";
  }

  /** Name the sides as the game does. */
  nameSides(names) {
    const texts = this.side.querySelectorAll("span");
    names.forEach((name, player) => {
      texts[player].textContent = name.replace(" player", "");
    });
  }

  #start() {
    this.onstart(this.settings, this.position.value.trim());
  }
}

function sidePairs() {
  return [
    ["0", "First"],
    ["1", "Second"],
    ["random", "Random"],
  ];
}

function limitPairs() {
  return [
    ["simulations", "Simulations"],
    ["seconds", "Time"],
  ];
}
