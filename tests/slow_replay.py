"""Random games as rows, and batches of them built slowly: plain integers and NumPy, row by row."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from rookery.games import LOSS, ONGOING, WIN, Game, bind_repetitions, new_repetitions
from rookery.replay import Batch, Rows, concatenate, count, new_rows
from rookery.replay.rows import UNIT

MASK = 2**64 - 1


def random_rows(
    game: Game, num_games: int, seed: int = 0, *, iteration: int = 0, max_plies: int = 512
) -> Rows:
    """Games of random moves after openings of 0 to 3 plies; policies and values are random."""
    stream = np.random.default_rng(seed)
    return concatenate([_random_game(game, stream, iteration, max_plies) for _ in range(num_games)])


def _random_game(game: Game, stream: np.random.Generator, iteration: int, max_plies: int) -> Rows:
    opening = int(stream.integers(4))
    steps = list(_random_moves(game, stream, max_plies))
    searched, outcome = steps[opening:-1], steps[-1][2]
    rows = new_rows(game, len(searched))
    for i, (state, legal, move) in enumerate(searched):
        policy = stream.dirichlet(np.ones(len(legal)))
        rows.states[i], rows.moves[i], rows.num_legal[i] = state, move, len(legal)
        rows.legal[i, : len(legal)] = legal
        rows.policy[i, : len(legal)] = np.round(policy * UNIT)
    num_rows = len(searched)
    rows.values[:] = stream.uniform(-0.5, 0.5, num_rows)
    rows.draws[:] = stream.uniform(0, 0.5, num_rows)
    last = WIN if outcome == LOSS else 0  # for the player of the last move
    rows.results[:] = last * (-1) ** np.arange(num_rows - 1, -1, -1)
    rows.plies[:] = opening + np.arange(num_rows)
    rows.openings[:], rows.iterations[:] = opening, iteration
    return rows


def _random_moves(game: Game, stream: np.random.Generator, max_plies: int) -> Iterator[Any]:
    """Yield (state, legal actions, move) for every ply, then the outcome in place of a move."""
    state, repetitions = game.new_states(1)[0], new_repetitions(game, 1)
    play = bind_repetitions(game.rules).play
    for _ in range(max_plies):
        if game.rules.outcome(state) != ONGOING:
            break
        legal = game.legal_actions(state)
        move = int(stream.choice(legal))
        yield state.copy(), legal, move
        play(repetitions, state, move, 0)
    yield None, [], int(game.rules.outcome(state))


def same(one: Rows, other: Rows) -> bool:
    """Return whether two sets of rows are equal; what lies behind the legal actions is padding."""
    if count(one) != count(other):
        return False
    for name, first, second in zip(Rows._fields, one, other, strict=True):
        if name in ("legal", "policy"):
            pairs = zip(first, second, one.num_legal, strict=True)
            if not all(np.array_equal(a[:n], b[:n]) for a, b, n in pairs):
                return False
        elif first.dtype != second.dtype or first.tobytes() != second.tobytes():
            return False
    return True


def mix(number: int) -> int:
    number = number + 0x9E3779B97F4A7C15 & MASK
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & MASK
    number = (number ^ number >> 27) * 0x94D049BB133111EB & MASK
    return number ^ number >> 31


def dealt_row(card: int, num_rows: int, stream: int) -> int:
    """Walk along the cycle of a Feistel permutation until it comes back into the deck."""
    half = 1
    while 4**half < num_rows:
        half += 1
    key, number = mix(stream ^ mix(card // num_rows)), card % num_rows
    while True:
        high, low = number >> half, number % 2**half
        for i in range(8):
            mixed = mix(low ^ mix(key + i & MASK))
            high, low = low, high ^ (mixed >> 32) % 2**half
        number = int(high << half | low)
        if number < num_rows:
            return number


def dealt_symmetry(card: int, num_symmetries: int, stream: int) -> int:
    return mix(mix(stream) ^ card) % num_symmetries


def slow_batch(
    game: Game, rows: Rows, cards: list[int], *, stream: int, result_mix: float
) -> Batch:
    """The batch of `cards` from the rows of a window, oldest first."""
    parts = [_slow_row(game, rows, card, stream, np.float32(result_mix)) for card in cards]
    return Batch(*(torch.from_numpy(np.stack(each)) for each in zip(*parts, strict=True)))


def _slow_row(game: Game, rows: Rows, card: int, stream: int, result_mix: np.float32) -> Any:
    row = dealt_row(card, count(rows), stream)
    symmetry = dealt_symmetry(card, len(game.cell_symmetries), stream)
    planes = np.zeros(game.planes_shape, np.float32)
    game.rules.planes(rows.states[row], planes)
    cells = game.cell_symmetries[symmetry]
    turned = planes.reshape(len(planes), -1)[:, cells].reshape(planes.shape)
    policy, legal = np.zeros(game.num_actions, np.float32), np.zeros(game.num_actions, bool)
    actions = rows.legal[row, : rows.num_legal[row]]
    units = rows.policy[row, : rows.num_legal[row]].astype(np.float32)
    policy[actions], legal[actions] = units / units.sum(), True
    new = game.action_symmetries[symmetry]
    return turned, policy[new], legal[new], _slow_wdl(rows, row, result_mix)


def _slow_wdl(rows: Rows, row: int, result_mix: np.float32) -> Any:
    value, draw, one = rows.values[row], rows.draws[row], np.float32(1)
    found = np.array([(one - draw + value) / 2, draw, (one - draw - value) / 2], np.float32)
    found = found.clip(min=0)
    found *= (one - result_mix) / (found[0] + found[1] + found[2])
    found[[1, 0, -1].index(rows.results[row])] += result_mix
    return found


def equal(one: Batch, other: Batch) -> bool:
    """Return whether two batches are equal, bit for bit."""
    columns = ("planes", "policy", "legal", "wdl")
    is_equal = all(torch.equal(getattr(one, name), getattr(other, name)) for name in columns)
    return is_equal and one.parts == other.parts
