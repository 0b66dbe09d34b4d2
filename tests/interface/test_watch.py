"""`rookery watch`: the view of a run that another process trains."""

import io
import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from command_line import Mistake, Rookery
from rookery.base import RunFolderError
from rookery.interface.watch import watch_run
from rookery.interface.watch.curve import Curve, shrink
from rookery.interface.watch.panel import RunPanel, Section, share_lines
from rookery.interface.watch.run_status import RunStatus, RunWatcher
from rookery.interface.watch.run_table import ago
from rookery.training import RECIPES, RunFolder, Stats

DEADLINE_SECONDS = 240
RANK = {
    "device": "cpu",
    "updates": 12,
    "rows": 3_072,
    "rows_per_second": 5_000.0,
    "communication": 0.12,
    "waited": 0.03,
    "sent_mb": 41.0,
    "received_mb": 40.0,
    "memory_mb": 512,
    "total_updates": 600,
    "samples": 1_234_567,
    "batch_ms": 20.25,
    "sync_ms": 4.0,
    "efficiency": 0.85,
    "heartbeat_age": 0.3,
    "device_mb": 2_048,
}


def iteration(number: int, *, actors: int = 0, ranks: int = 0, **more: Any) -> dict[str, Any]:
    """The parts of an iteration's line."""
    loss = 1.0 + math.exp(-number / 10)
    line: dict[str, Any] = {
        "seconds": 6.0 * number,
        "progress": number / 100,
        "selfplay": {
            "games": 50,
            "positions": 400,
            "simulations": 12_800,
            "evaluations": 12_000,
            "seconds": 2.0,
            "mean_length": 7.5,
            "first_wins": 0.6,
            "draws": 0.1,
            "duplicate_games": 0.02,
        },
        "learning": {
            "updates": 12,
            "rows": 6_144,
            "losses": {
                "total": loss,
                "policy": loss - 0.25,
                "value": 0.25,
                "policy_kl": 0.123,
                "policy_accuracy": 0.61,
                "value_accuracy": 0.72,
                "gradient_norm": 1.5,
            },
            "learning_rate": 0.00098,
            "rows_per_second": 8_000.0,
        },
        "window": {
            "rows": 20_000,
            "rows_made": 90_000,
            "mean_age": 4.5,
            "duplicate_share": 0.25,
            "policy_entropy": 1.234,
        },
    }
    if ranks:
        trainers = [{"name": f"trainer {n}", **RANK} for n in range(ranks)]
        trainers[-1] |= {"state": "failed", "fallback": True, "failures": 2, "restarts": 1}
        line["learning"]["ranks"] = trainers
    if actors:
        worker = {"memory_mb": 400, "failures": 0, "positions_per_second": 100.0}
        workers = [{"name": f"actor {n}", **worker} for n in range(actors)]
        workers[-1]["failures"] = 3
        waits = {"staleness": 0.4, "learner_waited": 0.12, "games_waited": 0.0}
        line["actors"] = {**waits, "workers": workers}
    return {**line, **more}


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A run of a hundred iterations, of which none was made."""
    config = RECIPES["tictactoe-demo"]()
    timing = replace(config.run, minutes=0.0, iterations=100)
    return RunFolder.create(tmp_path / "run", replace(config, run=timing))


def tell(folder: RunFolder, count: int = 50, **parts: Any) -> Stats:
    """Write the lines of a run as they would be after so many iterations."""
    stats = Stats(folder.path)
    stats.append("started", 0, device="cpu", inference={}, precision="float32", threads=2)
    for number in range(1, count + 1):
        stats.append("iteration", number, **iteration(number, **parts))
        if number % 10 == 0:
            strength = {"errors": 50 / number, "label": "moves that lose game value", "rows": []}
            when = 6.0 * number
            stats.append("strength", number, seconds=when, simulations=50, strength=strength)
    return stats


def rendered(status: RunStatus, *, width: int = 80, height: int | None = None) -> str:
    """The panel as text."""
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(RunPanel(status, height=height))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def look(folder: RunFolder) -> RunStatus:
    """Where the run stands."""
    return RunWatcher(folder.path).status()


def test_every_figure_is_shown(folder: RunFolder) -> None:
    tell(folder, device={"busy": 0.874, "memory_mb": 3_210})
    seen = rendered(look(folder))
    for figure in (
        "tictactoe in",
        "stopped",
        "50%",
        "iteration 50",
        "5:00 elapsed",
        "last update 0 s ago",
        "tictactoe-demo  on cpu",
        "single, float32",
        "200 positions/s",
        "6,400 simulations/s",
        "2,500 games",
        "7.5 plies",
        "10.0 % draws",
        "2.0 % duplicates",
        "20,000 rows",
        "mean age 4.5",
        "25.0 % duplicates",
        "entropy 1.23",
        "8,000 rows/s",
        "600 updates",
        "rate 0.00098",
        "KL 0.123",
        "policy 61.0 % correct",
        "value 72.0 % correct",
        "1.007  policy 0.757  value 0.250",
        "1.0 %  iteration 50  at 5:00",
        "moves that lose game value  50 simulations  before 1.7 %, 1.2 %",
        "87.4 % busy, 3,210 MB in use",
        "resume",
    ):
        assert figure in seen, (figure, seen)
    assert "trainer" not in seen and "actor" not in seen


def test_elo_is_fitted_to_all_games_and_shown_with_its_interval(folder: RunFolder) -> None:
    stats = tell(folder)
    assert "Elo" not in rendered(look(folder))
    common = {"simulations": 16, "anchors": {"random": 0.0, "minimax:1": None}, "took": 1.0}
    first, second = {"random": [0, 0, 2, 2, 4]}, {"20": [0, 1, 2, 2, 3], "random": [0, 0, 0, 0, 8]}
    stats.append("elo", 20, seconds=120.0, results=first, **common)
    stats.append("elo", 40, seconds=240.0, results=second, **common)
    stats.append("elo", 50, seconds=300.0, results={"random": [1]}, **common)
    status = look(folder)
    ratings = status.history.ratings
    assert list(ratings) == [20, 40] and 0 < ratings[20].elo < ratings[40].elo
    last = ratings[40]
    expected = f"{last.elo:.0f} ({last.low:.0f} to {last.high:.0f})  iteration 40"
    assert expected in rendered(status) and status.damaged == 1


def test_batches_of_the_network_are_shown_if_they_were_recorded(folder: RunFolder) -> None:
    stats, line = tell(folder, count=1), iteration(2)
    assert "useful" not in rendered(look(folder)), "a run of an earlier version"
    line["selfplay"] |= {"batches": 60, "mean_batch": 1600.0, "useful_rows": 0.9375}
    stats.append("iteration", 2, **line)
    assert "batch 1,600 rows, 93.8 % useful" in rendered(look(folder))


def test_the_reason_for_the_cpu_is_shown(folder: RunFolder) -> None:
    note = "on the CPU: numba-cuda is not installed (pip install 'rookery[cuda]')"
    start = {"device": "cpu", "precision": "float32", "devices": ["cpu"], "device_note": note}
    Stats(folder.path).append("started", 0, **start)
    assert f"device     {note} " in rendered(look(folder), width=100)


def test_all_devices_are_shown(folder: RunFolder) -> None:
    devices = ["cuda:0", "cuda:1"]
    start = {"device": "cuda:0", "precision": "float32", "devices": devices, "device_note": ""}
    Stats(folder.path).append("started", 0, **start)
    assert "on cuda:0,cuda:1 " in rendered(look(folder))


def test_trainers_and_actors_are_shown_one_by_one_and_in_all(folder: RunFolder) -> None:
    stats = tell(folder, actors=2, ranks=3)
    stats.append("note", 50, seconds=301.0, note="actor 1 died; started again in 0.5 s")
    seen = rendered(look(folder)).splitlines()

    def rows(begin: str) -> list[str]:
        found = [line for line in seen if line.startswith(f"\u2502 {begin} ")]
        return [" ".join(line.split()[1:-1]) for line in found]

    assert rows("trainer") == [
        "trainer updates samples rows/s batch ms sync ms effic. sent MB recv MB",
        "trainer 0 600 1.23 M 5,000 20.2 4.0 85.0 % 41 40",
        "trainer 1 600 1.23 M 5,000 20.2 4.0 85.0 % 41 40",
        "trainer 2 600 1.23 M 5,000 20.2 4.0 85.0 % 41 40",
        "trainer device state silent failures restarts fallback MB GPU MB",
        "trainer 0 cpu healthy 0.3 s 0 0 - 512 2,048",
        "trainer 1 cpu healthy 0.3 s 0 0 - 512 2,048",
        "trainer 2 cpu failed 0.3 s 2 1 active 512 2,048",
    ]
    assert rows("all 3") == [
        "all 3 600 3.7 M 15,000 20.2 4.0 53.3 % 123 120",
        "all 3 2 of 3 0.3 s 2 1 active 1,536 6,144",
    ]
    assert rows("actor 1") == ["actor 1 100 400 3"]
    assert rows("all 2") == ["all 2 200 800 3"]
    text = "\n".join(seen)
    assert "200 positions/s" in text, "by the actors' figures"
    assert "3 trainers, 12.0 % communication, 53.3 % efficiency" in text
    assert "0.4 iterations stale  learner waited 12.0 %  games waited 0.0 %" in text
    assert "5:01  actor 1 died; started again in 0.5 s" in text


def test_the_load_of_every_gpu_and_worker_is_shown(folder: RunFolder) -> None:
    stats, line = tell(folder, count=1), iteration(2, actors=2, ranks=2)
    usage = {"cuda:0": (0.874, 3_210), "cuda:1": (0.5, 99)}
    line["devices"] = {n: {"busy": busy, "memory_mb": mb} for n, (busy, mb) in usage.items()}
    line["device"] = line["devices"]["cuda:0"]
    for worker, busy in zip(line["actors"]["workers"], (0.9, 0.7), strict=True):
        worker |= {"device_mb": 1_234, "device_busy": busy}
    line["learning"]["ranks"][0]["device_mb"] = 2_000
    stats.append("iteration", 2, **line)
    seen = rendered(look(folder), width=100)
    for text in (
        "cuda:0 87.4 % busy, 3,210 MB in use  cuda:1 50.0 % busy, 99 MB in use",
        "GPU MB GPU load",
        "1,234   90.0 %",
        "2,468   80.0 %",
    ):
        assert text in seen, (text, seen)
    figures = " ".join(seen.split())
    assert "- 512 2,000" in figures and "active 1,024 4,048" in figures


def test_trainers_of_an_earlier_version_are_shown(folder: RunFolder) -> None:
    names = ("device", "updates", "rows", "rows_per_second", "communication", "waited", "sent_mb")
    stats, line = tell(folder, count=1), iteration(2)
    line["learning"]["ranks"] = [{"name": "trainer 0", **{name: RANK[name] for name in names}}]
    stats.append("iteration", 2, **line)
    assert "trainer 0" in rendered(look(folder))


def test_no_figure_of_a_trainer_is_cut_off_in_80_columns(folder: RunFolder) -> None:
    stats, line = tell(folder, count=1), iteration(2, ranks=2)
    large = {
        "name": "trainer 11",
        "device": "cuda:1",
        "total_updates": 123_456_789,
        "samples": 98_765_432_100,
        "rows_per_second": 276_902.0,
        "batch_ms": 1234.5,
        "sync_ms": 999.9,
        "efficiency": 1.0,
        "sent_mb": 123_456.0,
        "received_mb": 123_456.0,
        "state": "starting",
        "heartbeat_age": 123.4,
        "memory_mb": 12_345,
        "device_mb": 80_000,
    }
    line["learning"]["ranks"][1] |= large
    stats.append("iteration", 2, **line)
    seen = " ".join(rendered(look(folder)).split())
    assert "trainer 11 123 M 98.8 G 276,902 1234.5 999.9 100.0 % 123,456 123,456" in seen
    assert "trainer 11 cuda:1 starting 123.4 s 2 1 active 12,345 80,000" in seen


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("crew", [0, 2, 40])
def test_the_panel_fits_the_terminal(folder: RunFolder, width: int, crew: int) -> None:
    stats = tell(folder, actors=crew, ranks=crew, device={"busy": 0.9, "memory_mb": 1})
    for number in range(20):
        stats.append("note", 50, seconds=300.0 + number, note=f"note {number}, {'long ' * 30}")
    lines = rendered(look(folder), width=width, height=24).splitlines()
    assert len(lines) <= 24 and all(len(line) == width for line in lines)
    text = "\n".join(lines)
    assert "note 19" in text and "to resume" in text
    assert not crew or (f"all {crew} " in text and f"actor {crew - 1} " in text), "the failing one"


def test_a_new_run_has_nothing_to_show_yet(folder: RunFolder) -> None:
    assert "not started" in rendered(look(folder))
    with folder.lock():
        assert "running" in rendered(look(folder))


def test_time_goes_on_while_a_run_is_held(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(folder)
    watcher, now = RunWatcher(folder.path), time.time()
    with folder.lock():
        monkeypatch.setattr(time, "time", lambda: now + 90)
        status = watcher.status()
    assert status.state == "running" and 388 < status.seconds < 392
    assert "last update 90 s ago" in rendered(status) and "left" in rendered(status)


def test_what_a_resumed_run_makes_again_is_counted_once(folder: RunFolder) -> None:
    stats = tell(folder)
    watcher = RunWatcher(folder.path)
    assert watcher.status().history.games == 2_500
    stats.forget_after(45)
    stats.append("resumed", 45, device="cpu", inference={}, precision="float32", threads=2)
    status = watcher.status()
    assert status.history.games == 45 * 50 and len(status.history.measurements) == 4
    assert "resumed on cpu at iteration 45" in rendered(status)


def test_changed_settings_are_noticed(folder: RunFolder) -> None:
    tell(folder)
    watcher = RunWatcher(folder.path)
    assert watcher.status().progress == 0.5
    folder.adapt(replace(folder.config, run=replace(folder.config.run, iterations=200)))
    assert watcher.status().progress == 0.25


def test_a_run_without_an_end_says_so(folder: RunFolder) -> None:
    tell(folder)
    folder.adapt(replace(folder.config, run=replace(folder.config.run, iterations=0)))
    assert "until it is stopped" in rendered(look(folder))


def test_a_finished_run_is_shown_once(rookery: Rookery, finished_run: Path) -> None:
    answer = rookery("watch", finished_run)
    assert answer.code == 0 and answer.err == "" and "\x1b" not in answer.out
    for figure in ("finished", "100%", "iteration 2", "strength", "2 simulations"):
        assert figure in answer.out, figure
    assert rookery("watch", finished_run, "--once").out.count("finished") == 1


def test_a_wrong_folder_is_a_mistake(mistake: Mistake, own_run: Path, tmp_path: Path) -> None:
    assert "is not a run folder" in mistake("watch", tmp_path / "nothing")
    assert "(run.json is missing)" in mistake("watch", tmp_path)
    (own_run / "config.json").unlink()
    assert "(config.json is missing)" in mistake("watch", own_run, "--once")


def terminal() -> Console:
    """A console that takes itself for a terminal."""
    return Console(file=io.StringIO(), force_terminal=True, width=80, height=24, highlight=False)


def watch_live(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch, sleeps: list[Callable[[], object]]
) -> str:
    """What a terminal gets while something happens between the looks."""
    left = iter(sleeps)
    waiting = "rookery.interface.watch.panel.wait_for_resize"
    monkeypatch.setattr(waiting, lambda console, seconds: next(left)())
    console = terminal()
    watch_run(folder.path, console, once=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_live_panel_follows_the_run_to_its_end(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    stats = tell(folder)
    screen = watch_live(
        folder,
        monkeypatch,
        [
            lambda: stats.append("iteration", 51, **iteration(51)),
            lambda: stats.append("finished", 51, seconds=306.0, device=None),
        ],
    )
    assert "iteration 50" in screen and "iteration 51" in screen
    last = screen[screen.rindex("tictactoe in") :]
    assert "finished" in last and "iteration 51" in last, "what was seen last stays"


def test_ctrl_c_ends_watching_quietly(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    tell(folder)
    screen = watch_live(folder, monkeypatch, [interrupt])
    assert "iteration 50" in screen and "\x1b[?1049l" in screen, "the screen is given back"


def test_a_folder_that_vanishes_is_a_mistake(folder: RunFolder) -> None:
    watcher = RunWatcher(folder.path)
    (folder.path / "config.json").unlink()
    with pytest.raises(RunFolderError, match="missing"):
        watcher.status()


def test_a_run_in_another_process_is_watcher(
    tiny: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "run"
    endless = [*tiny, "--set", "run.iterations=0", "--set", "run.minutes=60"]
    command = [sys.executable, "-m", "rookery", "train", "tictactoe", "--run", str(path), *endless]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        watcher = wait_for(path, process)
        first = watcher.status()
        begin, seen = first.history.iteration, rendered(first)
        assert begin >= 2 and first.state == "running"
        assert "running" in seen and "positions/s" in seen
        end = time.monotonic() + DEADLINE_SECONDS
        while watcher.status().history.iteration <= begin + 2:
            assert time.monotonic() < end, "no further iteration in time"
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and err == "" and "Stopped" in out
    last = watcher.status()
    kept = [line for line in Stats(path).lines() if line["kind"] == "iteration"]
    assert last.state == "stopped" and last.history.iteration == len(kept)


def wait_for(path: Path, process: subprocess.Popen[str]) -> RunWatcher:
    """The run that a process has just begun, with an iteration or two."""
    end = time.monotonic() + DEADLINE_SECONDS
    while not (path / "run.json").exists() or look_at(path) < 2:
        assert process.poll() is None and time.monotonic() < end, "no iteration in time"
        time.sleep(0.1)
    return RunWatcher(path)


def look_at(path: Path) -> int:
    """How many iterations are written down."""
    return sum(line["kind"] == "iteration" for line in Stats(path).lines())


def test_curves_keep_their_shape_in_any_width() -> None:
    assert shrink([1.0, 2.0, 3.0], 5) == [1.0, 2.0, 3.0]
    assert shrink([1.0, 3.0, 5.0, 7.0], 2) == [2.0, 6.0]

    def text(numbers: list[float], encoding: str) -> str:
        raw = io.BytesIO()
        file = io.TextIOWrapper(raw, encoding=encoding)
        Console(file=file, width=8).print(Curve(numbers))
        file.flush()
        return raw.getvalue().decode(encoding).strip()

    assert text([float(n) for n in range(80)], "utf-8") == "".join(map(chr, range(0x2581, 0x2589)))
    assert text([0.0, 7.0], "ascii") == "_#"
    assert text([3.0, 3.0], "utf-8") == "\u2581\u2581" and text([], "utf-8") == ""


def test_lines_are_shared_out_fairly() -> None:
    def shared(room: int, *sizes: tuple[int, int]) -> list[int]:
        return share_lines(room, [Section(least, most, str) for least, most in sizes])

    assert shared(100, (3, 5), (3, 4), (1, 6)) == [5, 4, 6]
    assert shared(9, (3, 5), (3, 9), (1, 6)) == [4, 4, 1]
    assert shared(4, (3, 5), (3, 4), (1, 6)) == [0, 3, 1]
    assert shared(-3, (3, 5)) == [0]


def test_how_long_ago_is_told_in_round_numbers() -> None:
    times = [ago(seconds) for seconds in (0.4, 119, 150, 9_000, 200_000)]
    assert times == ["0 s ago", "119 s ago", "2 min ago", "2 h ago", "2 d ago"]
