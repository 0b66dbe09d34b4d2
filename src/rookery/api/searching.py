"""Search of many positions at once: arrays in, arrays out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rookery.api.analyser import TREES_MB
from rookery.api.board import as_game
from rookery.api.net import Net, as_net, check_simulations, parts_of
from rookery.base import ConfigError, IllegalPosition
from rookery.games import ONGOING, Game, Repetitions, States, new_repetitions
from rookery.search import Evaluator, SearchConfig, new_search, nodes_in_memory

MAX_BATCH = 512


@dataclass(frozen=True)
class SearchResult:
    """What searches of G positions found; values are for the player to move.

    actions: [G] best action.
    policy: [G, A] improved policy.
    values: [G] expected result, from -1 to 1.
    wdl: [G, 3] probabilities of win, draw and loss.
    visits: [G, A] simulations through each action.
    """

    actions: NDArray[np.int32]
    policy: NDArray[np.float32]
    values: NDArray[np.float32]
    wdl: NDArray[np.float32]
    visits: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.actions)


def search(
    states: States,
    net: Net | Evaluator | str | None = None,
    *,
    simulations: int = 100,
    game: Game | str | None = None,
    settings: SearchConfig | None = None,
    repetitions: Repetitions | None = None,
) -> SearchResult:
    """Search `states` [G], none of them at the end of its game, with a network.

    `net` may be any function from planes [B, P, H, W] to logits [B, A] and win-draw-loss
    probabilities [B, 3], or None as in `analyse`; then `game` says which game it is.
    With `simulations=0` the network alone decides, unless a move wins at once.
    `repetitions` are the positions before the states, in games that count them.
    """
    check_simulations(simulations)
    net = as_net(net)
    rules = _game_of(net, game)
    _check(states, rules)
    evaluator, usual = parts_of(net, rules)
    size = max(
        1, min(MAX_BATCH, len(states), nodes_in_memory(rules, TREES_MB) // (simulations + 1))
    )
    trees = new_search(
        rules,
        evaluator,
        config=settings or usual,
        num_games=size,
        max_simulations=simulations,
        explore=False,
        seed=1,
    )
    past = repetitions or new_repetitions(rules, len(states))
    parts = []
    for start in range(0, len(states), size):
        part = slice(start, min(start + size, len(states)))
        count = part.stop - start
        trees.roots[:count] = states[part]
        trees.repetitions.keys[:count] = past.keys[part]
        trees.repetitions.counts[:count] = past.counts[part]
        parts.append(trees.run(simulations, count))
    values, draws = np.concatenate([found.values for found in parts]).T
    wdl = np.stack([(1 - draws + values) / 2, draws, (1 - draws - values) / 2], axis=1)
    return SearchResult(
        actions=np.concatenate([found.actions for found in parts]),
        policy=np.concatenate([found.policy for found in parts]),
        values=values,
        wdl=wdl.clip(0, 1),
        visits=np.concatenate([found.visits for found in parts]),
    )


def _game_of(net: Net | Evaluator | None, game: Game | str | None) -> Game:
    if game is None:
        if not isinstance(net, Net):
            raise ConfigError("say which game the evaluator plays, as in game='connect4'")
        return net.game
    return as_game(game)


def _check(states: States, game: Game) -> None:
    if len(states) == 0:
        raise ConfigError("there are no states to search")
    game.check_states(states)
    for number, state in enumerate(states):
        if game.rules.outcome(state) != ONGOING:
            raise IllegalPosition(f"state {number}: the game is over, there is no move to find")
