"""`rookery plot`: pictures of one and of several runs."""

import os
import struct
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import rookery as rk
from command_line import Mistake, Rookery
from random_runs import random_run
from rookery.interface.curves import Point, _finite_ends, read_curves
from stats_lines import write_stats


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    """A run with statistics of 60 iterations."""
    return write_stats(random_run(tmp_path / "trained", "tictactoe"), 60)


def texts(path: Path) -> str:
    """Return all text of an SVG file."""
    return "\n".join(ElementTree.parse(path).getroot().itertext())


def test_a_png_has_all_panels_and_the_run_stays_as_it_is(
    rookery: Rookery, trained: Path, tmp_path: Path
) -> None:
    before = {path: path.stat().st_mtime_ns for path in trained.rglob("*")}
    out = tmp_path / "curves.png"
    answer = rookery("plot", trained, "--out", out)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == f"Plotted strength, elo, loss, speed in {out}\n"
    content = out.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n") and content[-8:-4] == b"IEND"
    width, height = struct.unpack(">II", content[16:24])
    assert width > 1000 and height > 800
    assert {path: path.stat().st_mtime_ns for path in trained.rglob("*")} == before


def test_an_svg_names_runs_axes_and_units(rookery: Rookery, trained: Path, tmp_path: Path) -> None:
    other = write_stats(random_run(tmp_path / "_a $x^2$ & <b>", "tictactoe"), 5)
    out = tmp_path / "curves.svg"
    assert rookery("plot", trained, other, "--out", out).code == 0
    found = texts(out)
    expected = ("tictactoe", "trained", "./_a $x^2$ & <b>", "95 % interval", "errors (%)")
    axes = ("Elo", "loss (nats)", "positions per second", "training time (minutes)")
    assert [text for text in (*expected, *axes) if text not in found] == []


@pytest.mark.parametrize("axis", ["iterations", "games"])
def test_curves_over_iterations_or_games(
    axis: str, rookery: Rookery, trained: Path, tmp_path: Path
) -> None:
    out = tmp_path / "curves.svg"
    assert rookery("plot", trained, "--out", out, "--x", axis, "--what", "loss,elo").code == 0
    found = texts(out)
    assert axis in found and "Loss" in found and "positions per second" not in found


def test_curves_have_the_numbers_of_the_statistics(trained: Path) -> None:
    points = read_curves(trained, "trained").points
    assert points["loss"][9] == Point(300.0, 10, 100, 0.3, 0.3, 0.3)
    assert points["speed"][0].value == 180.0
    assert points["strength"][0] == Point(60.0, 2, 20, 30.0, 25.0, 35.0)
    assert [point.iterations for point in points["elo"]] == list(range(2, 61, 2))
    assert all(point.low < point.value < point.high for point in points["elo"])


def test_infinite_ends_of_intervals_stay_within_the_others() -> None:
    endless = Point(0.0, 0, 0, 10.0, float("-inf"), float("inf"))
    assert _finite_ends([endless, Point(1.0, 1, 1, 5.0, 2.0, 30.0)]) == ([2.0, 2.0], [30.0, 30.0])
    assert _finite_ends([endless]) == ([10.0], [10.0])


def test_damaged_lines_are_skipped_with_a_note(
    rookery: Rookery, trained: Path, tmp_path: Path
) -> None:
    with open(trained / "stats.jsonl", "ab") as file:
        file.write(b'{"kind": "iteration", "iteration": 61}\n\xff\x00\n{"kind": "elo", "it')
    answer = rookery("plot", trained, "--out", tmp_path / "curves.png")
    assert answer.code == 0 and "skipped 2 damaged lines" in answer.err
    assert len(read_curves(trained, "trained").points["loss"]) == 60


def test_runs_of_equal_names_are_told_apart_by_their_paths(
    rookery: Rookery, trained: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    other = write_stats(random_run(tmp_path / "other/trained", "tictactoe"), 3)
    out = tmp_path / "curves.svg"
    assert rookery("plot", trained, other, "--out", out).code == 0
    assert str(trained) in texts(out) and str(other) in texts(out)


def test_a_run_without_iterations_is_noted_or_refused(
    rookery: Rookery, mistake: Mistake, trained: Path, tmp_path: Path
) -> None:
    new = random_run(tmp_path / "new", "tictactoe")
    out = tmp_path / "curves.svg"
    assert "new: nothing to plot yet" in mistake("plot", new, "--out", out)
    assert not out.exists()
    answer = rookery("plot", trained, new, "--out", out)
    assert answer.code == 0 and "note: new has nothing to plot here yet" in answer.err
    assert "trained" in texts(out) and "new" not in texts(out).split()


def test_curves_that_no_run_has_are_refused(mistake: Mistake, trained: Path) -> None:
    write_stats(trained, 1)
    message = mistake("plot", trained, "--out", trained.parent / "a.png", "--what", "elo,loss")
    assert "trained: no elo yet; there is loss, speed" in message


def test_a_file_is_overwritten_only_with_force(
    rookery: Rookery, mistake: Mistake, trained: Path, tmp_path: Path
) -> None:
    out = tmp_path / "curves.png"
    out.write_text("mine")
    assert "exists already" in mistake("plot", trained, "--out", out)
    assert out.read_text() == "mine"
    assert rookery("plot", trained, "--out", out, "--force").code == 0
    assert out.read_bytes().startswith(b"\x89PNG")
    (tmp_path / "folder.png").mkdir()
    assert "exists already" in mistake("plot", trained, "--out", tmp_path / "folder.png", "--force")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--out", "curves.pdf"), "must end in .png or .svg"),
        (("--out", "curves.png", "--what", "los"), "did you mean loss?"),
        (("--out", "nowhere/curves.png"), "there is no folder nowhere"),
        (("--out", "curves.png", "--x", "moves"), "--x"),
        ((), "--out"),
    ],
)
def test_mistakes_end_in_one_line(
    options: tuple[str, ...], message: str, mistake: Mistake, trained: Path
) -> None:
    assert message in mistake("plot", trained, *options)


def test_a_folder_that_is_no_run_is_refused(mistake: Mistake, tmp_path: Path) -> None:
    assert "is not a" in mistake("plot", tmp_path, "--out", tmp_path / "curves.png")


def test_without_matplotlib_the_extra_is_named(
    mistake: Mistake, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    message = mistake("plot", trained, "--out", tmp_path / "curves.png")
    assert message == "rookery: a picture needs matplotlib (pip install 'rookery[plot]')"
    assert os.listdir(tmp_path) == ["trained"]


def test_python_draws_the_same_picture(rookery: Rookery, trained: Path, tmp_path: Path) -> None:
    command, function = tmp_path / "command.svg", tmp_path / "function.svg"
    arguments = ("--x", "games", "--what", "loss,speed")
    assert rookery("plot", trained, "--out", command, *arguments).code == 0
    run = rk.open_run(trained)
    assert rk.plot([run], function, x="games", what=["loss", "speed"]) == function
    assert function.read_bytes() == command.read_bytes()
    rk.plot(str(trained), str(function), x="games", what="loss, speed", force=True)
    assert function.read_bytes() == command.read_bytes()


@pytest.mark.parametrize(
    ("runs", "options", "found"),
    [
        ([], {}, "no runs to plot"),
        (["trained"], {"what": "los"}, "unknown curve 'los'; did you mean loss"),
        (["trained"], {"x": "hours"}, "unknown x 'hours'; known: games, iterations, time"),
        (["absent"], {}, "absent"),
    ],
)
def test_python_refuses_what_cannot_be_drawn(
    trained: Path, tmp_path: Path, runs: list[str], options: dict[str, Any], found: str
) -> None:
    with pytest.raises(rk.RookeryError, match=found):
        rk.plot([tmp_path / run for run in runs], tmp_path / "curves.svg", **options)
    assert not (tmp_path / "curves.svg").exists()
