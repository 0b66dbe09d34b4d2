"""Games of self-play, found in rows and replayed by the rules."""

from typing import Any

import numpy as np

from rookery.games import DRAW, ONGOING, Game, bind_repetitions, new_repetitions
from rookery.replay import Rows, count, game_starts
from rookery.replay.rows import UNIT, select


def split_games(rows: Rows) -> list[Rows]:
    """Return the rows of each game."""
    starts = game_starts(rows).tolist()
    ends = [*starts[1:], count(rows)]
    return [select(rows, slice(a, b)) for a, b in zip(starts, ends, strict=True)]


def key_of(played: Rows) -> tuple[bytes, bytes]:
    """Return what tells one game from another: its first position and its moves."""
    return played.states[0].tobytes(), played.moves.tobytes()


def keys_of(rows: Rows) -> list[tuple[bytes, bytes]]:
    return [key_of(played) for played in split_games(rows)]


def check_game(game: Game, played: Rows, *, is_remembered: bool = True) -> int:
    """Replay one game by its moves, check every row, and return the outcome behind the last one.

    Positions before the first row are forgotten, so `is_remembered` must be false for games that
    can repeat positions of their opening.
    """
    state, repetitions = played.states[0].copy(), new_repetitions(game, 1)
    play = bind_repetitions(game.rules).play
    for i in range(count(played)):
        if is_remembered:
            assert state.tobytes() == played.states[i].tobytes()
        legal = game.legal_actions(state)
        assert game.rules.outcome(state) == ONGOING
        assert played.legal[i, : played.num_legal[i]].tolist() == legal
        assert int(played.moves[i]) in legal
        units = played.policy[i, : played.num_legal[i]].astype(np.int64)
        assert units.min() >= 0 and abs(units.sum() - UNIT) <= len(legal)
        assert abs(played.values[i]) <= 1 and 0 <= played.draws[i] <= 1
        play(repetitions, state, int(played.moves[i]), 0)
    assert (np.diff(played.plies) == 1).all() and played.plies[0] == played.openings[0]
    assert (played.openings == played.openings[0]).all()
    assert (played.results[1:] == -played.results[:-1]).all()
    return int(game.rules.outcome(state))


def check_end(
    game: Game, played: Rows, *, max_plies: int = 0, resign: float = 0.0, **options: Any
) -> None:
    """Replay one game, and check that its result is what its end says."""
    outcome, last = check_game(game, played, **options), played.results[-1]
    if outcome != ONGOING:
        assert last == -outcome  # the outcome is for the player to move, who is the other one
    elif max_plies and played.plies[-1] + 1 >= max_plies:
        assert last == DRAW
    else:
        assert last == -1 and played.values[-1] < -resign < 0


def check_report(report: Any, rows: Rows) -> None:
    """Count the finished games again."""
    games = split_games(rows)
    number = len(games)
    assert report.games == number > 0
    first = [int(g.results[0]) * (-1) ** int(g.plies[0]) for g in games]
    np.testing.assert_allclose(report.first_wins, first.count(1) / number)
    np.testing.assert_allclose(report.draws, first.count(0) / number)
    lengths = [int(g.openings[0]) + count(g) for g in games]
    np.testing.assert_allclose(report.mean_length, np.mean(lengths))
    distinct = len({key_of(g) for g in games})
    np.testing.assert_allclose(report.duplicate_games, 1 - distinct / number)
