"""The progress display of a run."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from rookery.arena import RatingEstimate, Strength
from rookery.gpu import GpuUsage
from rookery.interface import progress
from rookery.interface.formatting import count, duration, elo
from rookery.interface.progress import plain_line, progress_for, strength_line
from rookery.interface.run_history import Measurement, RunHistory
from rookery.learning import LearnReport, LossMeans, RankStats
from rookery.selfplay import SelfPlayReport
from rookery.training import Progress, RunFolder
from rookery.training.progress import ActorStatus
from rookery.workers import WorkerStats

PLAYED = SelfPlayReport(
    games=40,
    positions=3_000,
    simulations=96_000,
    evaluations=90_000,
    seconds=1.5,
    mean_length=7.0,
    first_wins=0.5,
    draws=0.1,
    duplicate_games=0.0,
)
LEARNED = LearnReport(
    updates=4,
    rows=128,
    losses=LossMeans(1.2345, 1.0, 0.2, 0.1, 0.5, 0.5, 2.0),
    learning_rate=1e-3,
    rows_per_second=1e4,
)
REPORT = Progress(
    "self-play",
    iteration=4,
    progress=0.25,
    seconds=30.0,
    simulations=32,
    games=1_000,
    played=PLAYED,
    learned=LEARNED,
    strength=Strength(2.5, "moves that lose game value", ()),
)
PAST = RunHistory()
PAST.games = 234
PAST.measurements = [Measurement(7.0, "moves that lose game value", 32, 2, 10.0, 7.0, 7.0)]


def terminal(*, is_terminal: bool) -> Console:
    """A console of 80 columns that writes into memory."""
    return Console(file=io.StringIO(), force_terminal=is_terminal, width=80, highlight=False)


def written(console: Console) -> str:
    """What was written to it."""
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_plain_line_has_every_figure() -> None:
    assert plain_line(REPORT, PAST) == (
        "0:30   25%  iteration 5  self-play  1,234 games  2,000 positions/s  "
        "64,000 simulations/s  loss 1.234  errors 2.5 %  1:30 left"
    )


def test_batches_of_the_network_are_shown() -> None:
    played = replace(PLAYED, batches=60, mean_batch=1600.0, useful_rows=0.9375)
    report = replace(REPORT, played=played)
    assert plain_line(report, PAST).endswith("  1:30 left  batch 1,600 rows, 93.8 % useful")
    panel = progress.panel(report, PAST, title="x")
    lines = Console(file=io.StringIO(), width=80).render_lines(panel)
    text = ["".join(part.text for part in line).rstrip() for line in lines]
    assert len(lines) == 8 and all(len(line) <= 76 for line in text)
    assert " ".join(text[-2].split()[1:-1]) == "mean batch 1,600 rows useful rows 93.8 %"


def test_ranks_that_learn_together_are_summed_up_in_words() -> None:
    ranks = tuple(
        RankStats(
            name=f"trainer {number}",
            device="cpu",
            updates=4,
            rows=64,
            rows_per_second=5e3,
            communication=share,
            waited=0.0,
            sent_mb=1.0,
        )
        for number, share in enumerate((0.1, 0.2))
    )
    report = replace(REPORT, learned=replace(LEARNED, ranks=ranks))
    assert plain_line(report, PAST).endswith("  2 trainers, 15.0 % communication")
    panel = progress.panel(report, PAST, title="x")
    lines = Console(file=io.StringIO(), width=80).render_lines(panel)
    text = ["".join(part.text for part in line).rstrip() for line in lines]
    assert len(lines) == 8 and all(len(line) <= 76 for line in text)
    assert text[-2].split()[1:-1] == ["trainers", "2", "communication", "15.0", "%"]


def test_what_is_not_known_yet_is_left_out() -> None:
    line = plain_line(Progress("self-play", 0, 0.0, 1.0), RunHistory())
    assert line == "0:01    0%  iteration 1  self-play, may compile  0 games"


def test_strength_before_a_resume_is_shown_until_the_next_measurement() -> None:
    report = Progress("learning", 3, 0.5, 10.0, played=PLAYED)
    assert "errors 7.0 %" in plain_line(report, PAST)


def test_elo_is_shown_with_its_interval() -> None:
    line = plain_line(replace(REPORT, elo=RatingEstimate(512.4, 455.0, 569.6)), PAST)
    assert "errors 2.5 %  Elo 512 (455 to 570)" in line
    assert "Elo" not in plain_line(REPORT, PAST)
    facts = progress.describe(replace(REPORT, elo=RatingEstimate(512.4, 455.0, 569.6)), PAST)
    assert facts["Elo"] == "512" and facts["95 % interval"] == "455 to 570"
    assert len(facts) % 2 == 0


def test_elo_before_a_resume_is_shown_until_the_next_measurement() -> None:
    past = RunHistory()
    result = {"random": [0, 0, 1, 2, 5]}
    games = {"simulations": 16, "anchors": {"random": 0.0}, "results": result, "took": 1.0}
    past.add([{"kind": "elo", "iteration": 4, "seconds": 9.0, **games}])
    assert past.elo is not None and past.damaged == 0
    line = strength_line(Progress("learning", 5, 0.5, 10.0, played=PLAYED), past)
    assert f"Elo {past.elo.elo:.0f} (" in line


def test_a_measurement_belongs_to_the_iteration_that_was_made() -> None:
    report = Progress("measuring", 4, 0.5, 10.0, played=PLAYED)
    assert "iteration 4 " in plain_line(report, PAST)


def test_measuring_strength_is_not_shown_as_training() -> None:
    report = Progress("measuring", 4, 1.0, 10.0, played=PLAYED)
    line = plain_line(report, PAST)
    assert "measuring strength" in line and "left" not in line
    facts = progress.describe(report, PAST)
    assert facts["phase"] == "measuring strength" and facts["time left"] == "measuring"


def test_the_bar_shows_how_much_of_a_measurement_is_done() -> None:
    report = Progress("measuring", 4, 1.0, 10.0, played=PLAYED, measured=0.4)
    assert " 40%" in plain_line(report, PAST)
    assert progress.share_done(replace(report, phase="learning")) == 1.0
    assert progress.share_done(replace(report, measured=None)) == 1.0


def test_plain_lines_come_seldom_but_for_strength(
    finished_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    console = terminal(is_terminal=False)
    silent = Progress("self-play", 0, 0.1, 1.0, played=PLAYED)
    with progress_for(RunFolder(finished_run), console) as show:
        show(silent)
        assert written(console) == ""
        now[0] = progress.PLAIN_SECONDS + 1
        show(silent)
        show(silent)
        assert written(console).count("\n") == 1
        show(REPORT)
        show(REPORT)
        assert written(console).count("\n") == 2


def test_a_terminal_gets_a_panel(finished_run: Path) -> None:
    console = terminal(is_terminal=True)
    with progress_for(RunFolder(finished_run), console) as show:
        show(REPORT)
    screen = written(console)
    assert "tictactoe in" in screen and "preparing" in screen
    for figure in ("self-play, 32 simulations", "2,000", "64,000", "1.234", "2.5 %", "1:30", "25%"):
        assert figure in screen, figure


def test_the_panel_fits_beside_an_echoed_ctrl_c() -> None:
    lines = Console(file=io.StringIO(), width=80).render_lines(
        progress.panel(REPORT, PAST, title="x" * 200)
    )
    assert len(lines) == 7
    assert all(len("".join(part.text for part in line).rstrip()) <= 76 for line in lines)


def test_numbers_are_written_for_people() -> None:
    assert [duration(seconds) for seconds in (5, 75, 3675)] == ["0:05", "1:15", "1:01:15"]
    assert count(12345.6) == "12,346"
    assert [elo(number) for number in (12.4, -3.0, float("inf"), float("-inf"))] == [
        "+12",
        "-3",
        "+inf",
        "-inf",
    ]


def test_gpus_and_the_memory_of_workers_are_shown() -> None:
    ranks = (RankStats("trainer 0", "cuda:1", 4, 128, 1e4, 0.1, 0.0, 1.0, 512, device_mb=2_000),)
    workers = (WorkerStats("actor 0", 400, 0, 1_234, 0.9), WorkerStats("actor 1", 400, 0))
    report = replace(
        REPORT,
        learned=replace(LEARNED, ranks=ranks),
        actors=ActorStatus(2, 2, 0.5, workers),
        devices={"cuda:0": GpuUsage(0.874, 3_210), "cuda:1": GpuUsage(0.5, 99)},
    )
    console = terminal(is_terminal=False)
    console.print(progress.panel(report, PAST, title="any"))
    shown = " ".join(written(console).split())
    for text in (
        "cuda:0 87.4 % busy cuda:0 memory 3,210 MB",
        "cuda:1 50.0 % busy cuda:1 memory 99 MB",
        "actor 0 1,234 MB on GPU trainer 0 2,000 MB on GPU",
    ):
        assert text in shown, shown
    assert "actor 1" not in shown, "it has no GPU"
    assert plain_line(report, PAST).endswith(
        "  cuda:0 87.4 % busy, 3,210 MB in use  cuda:1 50.0 % busy, 99 MB in use"
    )
    crowd = tuple(WorkerStats(f"actor {n}", 400, 0, 1_000) for n in range(100))
    crowded = replace(report, actors=ActorStatus(100, 100, 0.5, crowd))
    assert len(progress.describe(crowded, PAST)) < 30
