"""Boards in colour: in `play`, in `games`, and not where colours are unwanted."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from command_line import Rookery
from rookery.arena import named_player
from rookery.games import load_game
from rookery.interface.board_text import BLACK, LAST, SAMPLES, STONES, WHITE, coloured
from rookery.interface.console_game import ConsoleGame
from rookery.interface.formatting import loading

COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-7]m")


def styles_at(text: str, row: int, column: int, **options: object) -> set[str]:
    board = coloured(text, **options)  # type: ignore[arg-type]
    place = sum(len(line) + 1 for line in text.split("\n")[:row]) + column
    return {str(span.style) for span in board.spans if span.start <= place < span.end}


def test_pieces_have_colours_and_the_last_move_is_marked() -> None:
    board, before = "1 O 3\n4 X 6", "1 O 3\n4 5 6"
    assert coloured(board, before=before).plain == board
    assert styles_at(board, 1, 2, before=before) == {STONES["X"], LAST}
    assert styles_at(board, 0, 2, before=before) == {STONES["O"]}
    assert LAST not in styles_at(board, 1, 2, before="another\nform")
    assert LAST not in styles_at(board, 1, 2)


def test_chess_pieces_are_white_or_black_and_labels_are_neither() -> None:
    game = load_game("chess")
    text = game.show(game.new_states(1)[0])
    assert styles_at(text, 0, 2, has_figures=True) == {BLACK}
    assert styles_at(text, 7, 2, has_figures=True) == {WHITE}
    assert not {BLACK, WHITE} & styles_at(text, 8, 4, has_figures=True)


def played(monkeypatch: pytest.MonkeyPatch, typed: str, **options: object) -> str:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    game, out = load_game("tictactoe"), io.StringIO()
    console = Console(file=out, **options)  # type: ignore[arg-type]
    player = named_player("minimax:1", game, seed=1)
    ConsoleGame(game, player, console=console, person_first=True).play()
    return out.getvalue()


def test_a_terminal_gets_colours_unless_it_wants_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal = {"force_terminal": True, "color_system": "standard"}
    assert COLOUR.search(played(monkeypatch, "5\nquit\n", **terminal))
    monkeypatch.setenv("NO_COLOR", "1")
    plain = played(monkeypatch, "5\nquit\n", **terminal)
    assert "X" in plain and not COLOUR.search(plain)


def test_a_pipe_gets_plain_text(rookery: Rookery) -> None:
    for arguments in (["games"], ["play", "tictactoe"]):
        assert "\x1b" not in rookery(*arguments, typed="5\nquit\n").out


def test_the_answer_of_a_network_has_its_value(rookery: Rookery, finished_run: Path) -> None:
    answer = rookery("play", finished_run, "--simulations", 4, typed="5\nhint\nquit\n")
    found = re.search(r"tiny plays \d; value ([+-]\d\.\d\d) for you\n", answer.out)
    assert found and -1 <= float(found[1]) <= 1, answer.out


@pytest.mark.parametrize("columns", ["80", "200", "20"])
def test_every_game_has_a_picture(
    rookery: Rookery, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    out = rookery("games").out
    for name in ("tictactoe", "connect4", "chess"):
        game = load_game(name)
        state = game.position(SAMPLES[name]) if name in SAMPLES else game.new_states(1)[0]
        lines = game.show(state).split("\n")
        assert all(line in out for line in lines)
    assert max(map(len, out.splitlines())) <= int(columns)


def test_a_loading_line_is_only_for_terminals(capfd: pytest.CaptureFixture[str]) -> None:
    with loading("Preparing connect4"):
        pass
    assert capfd.readouterr() == ("", "")
