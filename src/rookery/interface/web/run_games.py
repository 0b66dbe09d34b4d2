"""Games that a run keeps, with the opinion of its search, for replays in the browser."""

import os
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

import numpy as np

from rookery.base import ConfigError, numbered_files
from rookery.games import RESULT_TEXTS, Action, Game, State
from rookery.replay import GIVEN, Rows, count, game_starts, read_shard
from rookery.training import RunFolder

MAX_GAMES_SHOWN = 500
MAX_SHARD_BYTES = 512 * 2**20
"""A larger file of replay rows is not read for a page."""
OPENING_NODES = 4000
"""Positions that the search for an opening visits at most."""
LONGEST_OPENING = 200
"""Plies of an opening that is searched for."""

Plain = dict[str, Any]


def newest_games(folder: RunFolder, games: int, iteration: int | None = None) -> list[Plain]:
    """Return up to `games` self-play games, newest first, those of `iteration` if it is given."""
    return list(islice(_games(folder, iteration), min(games, MAX_GAMES_SHOWN)))


def _games(folder: RunFolder, iteration: int | None) -> Iterator[Plain]:
    for path in reversed(numbered_files(folder.path / "replay").values()):
        try:
            if os.stat(path).st_size > MAX_SHARD_BYTES:
                raise ConfigError("the games of this run are too large for a page; export them")
            rows = read_shard(path, game=folder.game)
        except FileNotFoundError:  # the window has just dropped it
            continue
        if (rows.iterations == GIVEN).any():
            continue
        bounds = [*game_starts(rows).tolist(), count(rows)]
        for first, end in reversed(list(pairwise(bounds))):
            if iteration is None or rows.iterations[first] == iteration:
                yield _game(folder.game, rows, first, end)


def _game(rules: Game, rows: Rows, first: int, end: int) -> Plain:
    """Return one game; its random opening, which is not kept, is found again if it can be."""
    plies = int(rows.plies[first])
    start, opening = _beginning(rules, rows.states[first], plies)
    state, moves, opinions = rows.states[first].copy(), list[str](), list[Plain]()
    for row in range(first, end):
        action = int(rows.moves[row])
        moves.append(rules.write_move(state, action))
        opinions.append(_opinion(rules, rows, row, state))
        rules.rules.play(state, action)
    result = int(rows.results[first]) * (-1 if plies % 2 else 1)
    return {
        "iteration": int(rows.iterations[first]),
        "start": start,
        "opening": len(opening),
        "moves": [*opening, *moves],
        "result": RESULT_TEXTS[result],
        "search": opinions,
    }


def _opinion(rules: Game, rows: Rows, row: int, state: State) -> Plain:
    """Return the search's value for the first player, its best move, and what it gave the move."""
    legal = rows.legal[row, : rows.num_legal[row]]
    policy = rows.policy[row, : rows.num_legal[row]].astype(np.float64)
    policy /= max(policy.sum(), 1.0)
    best = int(policy.argmax())
    played = policy[legal == rows.moves[row]].sum()
    sign = -1 if rows.plies[row] % 2 else 1
    return {
        "value": round(sign * float(rows.values[row]), 3) + 0.0,  # no minus zero
        "best": rules.write_move(state, int(legal[best])),
        "best_share": round(float(policy[best]), 3),
        "share": round(float(played), 3),
    }


def _beginning(rules: Game, state: State, plies: int) -> tuple[str | None, list[str]]:
    """Return the first position as text, and moves that lead from there to `state`.

    None if the game has no notation of positions and no opening was found.
    """
    if not plies:
        return "", []
    if rules.has_position_notation:
        return rules.write_position(state), []
    actions = find_opening(rules, state, plies)
    if actions is None:
        return None, []
    now, moves = rules.new_states(1)[0], []
    for action in actions:
        moves.append(rules.write_move(now, action))
        rules.rules.play(now, action)
    return "", moves


def find_opening(rules: Game, target: State, plies: int) -> list[Action] | None:
    """Return legal moves from the start to `target`, None if none are found soon.

    Stones never move in the games it is for: a position on the way shows in each place what the
    first position or the target shows there. Other games end the search within its limit.
    """
    if plies > LONGEST_OPENING:
        return None
    first = rules.new_states(1)[0]
    return _Opening(rules, first, target, plies).search(first, [])


class _Opening:
    """A depth-first search that visits no position twice."""

    def __init__(self, rules: Game, first: State, target: State, plies: int) -> None:
        self._rules, self._target, self._plies = rules, target, plies
        self._allowed = list(zip(rules.show(first), rules.show(target), strict=False))
        self._seen: set[bytes] = set()

    def search(self, state: State, moves: list[Action]) -> list[Action] | None:
        if len(moves) == self._plies:
            return moves if state.tobytes() == self._target.tobytes() else None
        for action in self._rules.legal_actions(state):
            after = state.copy()
            self._rules.rules.play(after, action)
            key = after.tobytes()
            if key in self._seen or len(self._seen) >= OPENING_NODES:
                continue
            self._seen.add(key)
            is_on_way = self._fits(after)
            if is_on_way and (found := self.search(after, [*moves, action])) is not None:
                return found
        return None

    def _fits(self, state: State) -> bool:
        shown = self._rules.show(state)
        if len(shown) != len(self._allowed):
            return False
        return all(sign in allowed for sign, allowed in zip(shown, self._allowed, strict=True))
