"""Pictures of boards: well-formed, with the right cells, pieces and labels."""

from collections import Counter
from xml.etree import ElementTree

import pytest

import rookery as rk
from rookery.api.svg import DARK, LIGHT, board_svg

SVG = "{http://www.w3.org/2000/svg}"


def shapes(picture: str) -> Counter[tuple[str, str]]:
    """The shapes of a picture, by kind and colour."""
    found = ElementTree.fromstring(picture).iter()
    return Counter((each.tag.removeprefix(SVG), each.get("fill", "")) for each in found)


@pytest.mark.parametrize(
    ("game", "moves", "cells", "discs", "labels"),
    [("tictactoe", "159", 9, (2, 1), 6), ("connect4", "445334", 42, (3, 3), 7)],
)
def test_stones_are_discs(
    game: str, moves: str, cells: int, discs: tuple[int, int], labels: int
) -> None:
    board = rk.Board(game, moves)
    found = shapes(board.svg())
    assert board._repr_svg_() == board.svg()
    assert found["rect", LIGHT] == cells
    assert sum(number for (kind, _), number in found.items() if kind == "text") == labels
    colours = [number for (kind, _), number in sorted(found.items()) if kind == "circle"]
    assert sorted(colours) == sorted(discs)


def test_chess_has_figures_on_squares_of_two_colours() -> None:
    found = shapes(rk.Board("chess").svg())
    assert found["rect", LIGHT] == found["rect", DARK] == 32
    pieces = [each for each in rk.Board("chess").svg() if each in "♚♛♜♝♞♟"]
    assert Counter(pieces) == {"♚": 2, "♛": 2, "♜": 4, "♝": 4, "♞": 4, "♟": 16}
    root = ElementTree.fromstring(rk.Board("chess").svg())
    low_left = [each.get("fill") for each in root.iter(f"{SVG}rect") if each.get("y") == "309"]
    assert low_left[0] == DARK  # a1


def test_any_other_text_is_shown_as_it_is() -> None:
    root = ElementTree.fromstring(board_svg("Hex <&>\n a 12", size=(2, 3)))
    assert [each.text for each in root.iter(f"{SVG}text")] == ["Hex <&>", " a 12"]


@pytest.mark.parametrize(
    ("text", "size", "labels"),
    [
        ("3 . . .\n2 X . .\n1 . O .\n  a b c", (3, 3), "321abc"),
        ("  a b c\n1 . . . 1\n2 X . . 2\n  a b c", (2, 3), "abc1122abc"),
        (". . X a\n. O . b", (2, 3), "ab"),
        (". . .\nN O P", (1, 3), "NOP"),
        (". .\n. .\n. .", (2, 2), ""),  # no label: all are cells
    ],
)
def test_labels_around_a_board_are_no_cells(text: str, size: tuple[int, int], labels: str) -> None:
    picture = board_svg(text, size=size)
    root = ElementTree.fromstring(picture)
    assert "".join(str(each.text) for each in root.iter(f"{SVG}text")) == labels
    signs = text.replace(" ", "").replace("\n", "")
    assert shapes(picture)["rect", LIGHT] == len(signs) - len(labels)


def test_names_of_empty_cells_are_in_cells() -> None:
    found = shapes(board_svg("a b c d\ne X g h\ni j O l\nm n o p", size=(4, 4)))
    assert found["rect", LIGHT] == 16
    assert sum(number for (kind, _), number in found.items() if kind == "text") == 14
