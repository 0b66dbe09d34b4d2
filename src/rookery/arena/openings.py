"""The openings of a match: lines of a book, or random moves."""

from functools import cache
from importlib.resources import files
from itertools import cycle, islice

import numpy as np

from rookery.arena.lockstep import legal_mask, outcomes, play_each, random_actions
from rookery.base import ConfigError, generator
from rookery.games import ONGOING, Action, Board, Game, States, load_game

BOOKS = {"chess": "chess_openings.txt"}
LINES_PER_ROUND = 256
MAX_FRUITLESS_ROUNDS = 3
"""Rounds in a row without a new position, after which the search for random openings ends."""
Opening = tuple[Action, ...]


def has_book(game: Game) -> bool:
    """Whether a book of openings ships with the game."""
    return game.name in BOOKS


def default_plies(game: Game) -> int:
    """Return the length of random openings, unless the user chooses one: 2 to 4 plies."""
    return min(4, max(2, game.max_plies // 10))


def draw_openings(
    game: Game, count: int, *, plies: int, seed: int, from_book: bool
) -> list[Opening]:
    """Return `count` openings of the same length; a book's lines have a length of their own."""
    if from_book:
        return book_openings(game, count, seed=seed)
    return random_openings(game, count, plies=plies, seed=seed)


def book_openings(game: Game, count: int, *, seed: int) -> list[Opening]:
    """Return `count` lines of the game's book in random order, repeated if it has fewer.

    The lines favour neither side and have the same length.
    """
    lines = _load_book(game.name)
    order = generator(seed, "arena/book").permutation(len(lines))
    return list(islice(cycle([lines[index] for index in order]), count))


def random_openings(game: Game, count: int, *, plies: int, seed: int) -> list[Opening]:
    """Return `count` lines of `plies` random moves that do not end the game.

    They lead to different positions; if there are not enough, the lines repeat.
    """
    stream = generator(seed, "arena/openings", plies)
    found: dict[bytes, Opening] = {}
    fruitless = 0
    while len(found) < count and fruitless < MAX_FRUITLESS_ROUNDS:
        before = len(found)
        for state, line in zip(*_random_lines(game, plies, stream=stream), strict=True):
            found.setdefault(state.tobytes(), tuple(line))
        fruitless = fruitless + 1 if len(found) == before else 0
    if not found:
        raise ConfigError(
            f"all of {MAX_FRUITLESS_ROUNDS * LINES_PER_ROUND} random openings of {plies} plies"
            f" ended the game of {game.name}; use shorter openings"
        )
    return list(islice(cycle(found.values()), count))


@cache
def _load_book(name: str) -> tuple[Opening, ...]:
    text = files("rookery.arena").joinpath("data", BOOKS[name]).read_text("ascii")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return tuple(tuple(Board.from_text(load_game(name), line).actions) for line in lines)


def _random_lines(
    game: Game, plies: int, *, stream: np.random.Generator
) -> tuple[States, list[list[Action]]]:
    """Return positions after random play and the moves to them, without games that ended."""
    states = game.new_states(LINES_PER_ROUND)
    lines = np.zeros((LINES_PER_ROUND, plies), np.int32)
    for ply in range(plies):
        actions = random_actions(legal_mask(game, states), stream)
        lines[:, ply] = actions
        play_each(game, states, actions)
        is_ongoing = outcomes(game, states) == ONGOING
        states, lines = states[is_ongoing], lines[is_ongoing]
    return states, lines.tolist()
