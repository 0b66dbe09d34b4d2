"""Openings from a book: short lines that favour neither side, where a game comes with some."""

from functools import cache
from importlib.resources import files
from itertools import cycle, islice

from rookery.base import generator
from rookery.games import Action, Game, load_game

BOOKS = {"chess": "chess_openings.txt"}
Opening = tuple[Action, ...]


def has_book(rules: Game) -> bool:
    """Whether the game comes with openings."""
    return rules.name in BOOKS


def book_openings(rules: Game, count: int, *, seed: int) -> list[Opening]:
    """`count` lines of the game's book, equally long, shuffled; in turn again when all are used."""
    lines = _load(rules.name)
    order = generator(seed, "arena/book").permutation(len(lines))
    return list(islice(cycle([lines[index] for index in order]), count))


@cache
def _load(name: str) -> tuple[Opening, ...]:
    text = files("rookery.arena").joinpath("data", BOOKS[name]).read_text("ascii")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return tuple(_read(load_game(name), line) for line in lines)


def _read(rules: Game, line: str) -> Opening:
    state, opening = rules.new_states(1)[0], []
    for move in line.split():
        opening.append(rules.read_move(state, move))
        rules.rules.play(state, opening[-1])
    return tuple(opening)
