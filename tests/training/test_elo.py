"""Elo over the iterations of a run: in a run, after a resume, and by `rate_history`."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from own_rules import marked_rules
from rookery.arena import RatingEstimate, RatingPlan, ladder_of, load_ladder
from rookery.base import ConfigError
from rookery.games import load_game
from rookery.training import (
    Config,
    EloHistory,
    EloMeasurement,
    PlayerSpec,
    Progress,
    RunFolder,
    Stats,
    apply,
    history_of,
    measure_ladder,
    rate_history,
    rate_over,
    train,
)
from rookery.training.elo import (
    MIN_PAIRS,
    EloPlan,
    EloRecorder,
    anchors_for,
    plan_pairs,
    read_measurements,
)
from rookery.training.evaluation.rating import HISTORY_FILE, spread

TICTACTOE = load_game("tictactoe")
RATED = ["run.strength_every=2", "run.elo_games=8", "run.elo_simulations=2", "run.elo_share=1"]
ANCHORS = {"random": 0.0, "minimax:1": 113.0, "minimax:2": 387.0, "minimax:4": 467.0}
Trace = Callable[[Path], Any]

pytestmark = pytest.mark.usefixtures("quick_strength")


def ignore(progress: Progress) -> None:
    """Let the run go on."""


def elo_lines(run: Path) -> list[dict[str, Any]]:
    return [line for line in Stats(run).lines() if line["kind"] == "elo"]


def pairs_in(line: dict[str, Any]) -> int:
    return sum(map(sum, line["results"].values()))


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory, tiny_config: Config) -> RunFolder:
    """A run of six iterations that was rated after every other one; read-only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rookery.training.elo.MIN_PAIRS", 1)
        folder = RunFolder.create(tmp_path_factory.mktemp("runs") / "rated", tiny_config)
        folder.change(apply(tiny_config, RATED))
        train(folder, ignore)
    return folder


@pytest.fixture
def copy(rated: RunFolder, tmp_path: Path) -> RunFolder:
    """A copy of the rated run."""
    return RunFolder(Path(shutil.copytree(rated.path, tmp_path / "copy")))


def test_every_measurement_is_a_line_with_its_games_and_an_interval(rated: RunFolder) -> None:
    lines = elo_lines(rated.path)
    assert [line["iteration"] for line in lines] == [2, 4, 6]
    for line in lines:
        assert line["low"] < line["elo"] < line["high"] and line["took"] > 0
        assert 0 < pairs_in(line) <= 4 and line["simulations"] == 2
        assert set(line["anchors"]) == {"random", "minimax:1", "minimax:2", "minimax:4"}
    assert set(lines[0]["results"]) == set(lines[0]["anchors"])
    assert "2" in lines[1]["results"] and "4" in lines[2]["results"]


def test_ratings_are_fitted_to_all_games(rated: RunFolder) -> None:
    history = history_of(read_measurements(Stats(rated.path).lines()))
    ratings = history.ratings()
    assert list(ratings) == [2, 4, 6]
    last = elo_lines(rated.path)[-1]
    assert ratings[6].elo == pytest.approx(last["elo"])
    alone = history_of(history.measurements[:1]).ratings()
    assert alone[2].elo != ratings[2].elo  # later games count for earlier networks
    assert history.games(4) > 2 * pairs_in(elo_lines(rated.path)[1])


def test_a_resumed_run_is_rated_together_with_its_earlier_networks(copy: RunFolder) -> None:
    before = elo_lines(copy.path)
    copy.change(apply(copy.config, ["run.iterations=8"]))
    train(copy, ignore)
    lines = elo_lines(copy.path)
    assert lines[:3] == before and [line["iteration"] for line in lines] == [2, 4, 6, 8]
    assert {"6", "4"} <= set(lines[-1]["results"])
    assert list(history_of(read_measurements(lines)).ratings()) == [2, 4, 6, 8]


def test_games_for_elo_do_not_change_the_training(
    rated: RunFolder, finished: RunFolder, trace: Trace
) -> None:
    with_elo, without = trace(rated.path), trace(finished.path)
    assert with_elo.weights == without.weights and with_elo.arrays == without.arrays
    assert with_elo.shards == without.shards
    assert not elo_lines(finished.path)


@pytest.mark.usefixtures("in_threads")
def test_actors_play_the_games(tmp_path: Path, tiny_config: Config) -> None:
    settings = [*RATED, "run.actors=2", "run.iterations=4"]
    folder = RunFolder.create(tmp_path / "run", apply(tiny_config, settings))
    train(folder, ignore)
    lines = elo_lines(folder.path)
    assert lines[-1]["iteration"] == 4
    assert all(line["took"] > 0 and pairs_in(line) >= 1 for line in lines)


def test_a_run_goes_on_without_an_anchor_that_cannot_play(
    tmp_path: Path, tiny_config: Config
) -> None:
    settings = [*RATED, "run.elo_anchors=random,stockfish:1350", "run.iterations=4"]
    folder = RunFolder.create(tmp_path / "run", apply(tiny_config, settings))
    train(folder, ignore)
    notes = [line["note"] for line in Stats(folder.path).lines() if line["kind"] == "note"]
    assert len(notes) == 1 and notes[0].startswith("Elo is not measured: ")
    assert not elo_lines(folder.path)
    assert [line["kind"] for line in Stats(folder.path).lines()][-1] == "finished"


def test_an_anchor_with_an_unknown_name_is_refused(tiny_config: Config) -> None:
    with pytest.raises(ConfigError, match=r"run\.elo_anchors is 'rondom', expected auto, or"):
        apply(tiny_config, ["run.elo_anchors=rondom"])
    for wrong in ("run.elo_games=-1", "run.elo_share=1.5", "run.elo_share=-1"):
        with pytest.raises(ConfigError, match="expected"):
            apply(tiny_config, [wrong])


class FakeRun:
    """A run with a clock of its own, whose measurements cost time."""

    def __init__(self, config: Config, tmp_path: Path) -> None:
        self.config, self.clock, self.left = config, 0.0, float("inf")
        self.stats, self.notes = Stats(tmp_path), list[str]()
        self.folder = SimpleNamespace(stored_weights=lambda: [])
        self.note = self.notes.append

    def seconds(self) -> float:
        return self.clock

    def seconds_left(self) -> float:
        return self.left

    def record_elo(self, iteration: int, rating: RatingEstimate, **games: object) -> None:
        self.stats.append("elo", iteration, elo=rating.elo, **games)


def play(plan: EloPlan, *, wins: bool = True) -> list[Any]:
    """Return pairs that the network won or lost."""
    game = SimpleNamespace(result=1 if wins else -1)
    return [(opponent, (game, game)) for opponent, _ in plan.pairs]


def elo_recorder(run: FakeRun) -> EloRecorder:
    return EloRecorder(run, TICTACTOE)  # type: ignore[arg-type]


@pytest.mark.parametrize("cost", [0.001, 0.6, 15.0])
def test_games_take_their_share_of_the_time_and_no_more(
    tmp_path: Path, tiny_config: Config, cost: float
) -> None:
    run = FakeRun(apply(tiny_config, ["run.elo_games=64"]), tmp_path)
    recorder, spent, played = elo_recorder(run), 0.0, list[int]()
    for iteration in range(1, 41):
        run.clock += 300.0
        if plan := recorder.plan(iteration):
            took = cost * len(plan.pairs)
            run.clock, spent = run.clock + took, spent + took
            played.append(len(plan.pairs))
            recorder.record(plan, play(plan), took=took)
    assert spent <= 0.055 * run.clock
    assert played[0] == MIN_PAIRS and min(played) >= MIN_PAIRS
    if cost == 0.001:
        assert played[1:] == [32] * 39
    else:  # time is short, and nearly all of the share is used
        assert spent > 0.04 * run.clock


def test_the_time_of_earlier_sessions_counts(tmp_path: Path, tiny_config: Config) -> None:
    run = FakeRun(apply(tiny_config, ["run.elo_games=64"]), tmp_path)
    run.clock, recorder = 100.0, elo_recorder(run)
    plan = recorder.plan(1)
    assert plan is not None
    recorder.record(plan, play(plan), took=50.0)
    run.clock = 900.0
    assert elo_recorder(run).plan(2) is None  # 5 % are 45 seconds
    run.clock = 2100.0
    assert elo_recorder(run).plan(2) is not None
    run.left = 0.0
    assert elo_recorder(run).plan(2) is None


@pytest.mark.parametrize("setting", ["run.elo_games=0", "run.elo_games=1", "run.elo_share=0"])
def test_elo_can_be_turned_off(tmp_path: Path, tiny_config: Config, setting: str) -> None:
    run = FakeRun(apply(tiny_config, ["run.elo_games=64", setting]), tmp_path)
    run.clock = 1000.0
    assert elo_recorder(run).plan(1) is None and not run.notes


def test_damaged_lines_are_skipped() -> None:
    good: dict[str, object] = {
        "kind": "elo",
        "iteration": 4,
        "simulations": 2,
        "anchors": {"random": 0.0, "minimax:1": None},
        "results": {"random": [0, 0, 0, 0, 3]},
        "took": 1.0,
    }
    bad: list[dict[str, object]] = [
        {"results": {"random": [1, 2]}},
        {"results": {"random": [-1, 0, 0, 0, 3]}},
        {"results": {"9" * 5000: [0, 0, 0, 0, 3]}},
        {"anchors": {"random": float("nan")}},
        {"anchors": {"random": 1e300}},
        {"fingerprints": {"x": "y"}},
        {"simulations": None},
    ]
    found = read_measurements([good, *({**good, **each} for each in bad), {"kind": "note"}])
    assert [each.iteration for each in found] == [4]
    history_of(found).ratings()


def measured(iteration: int, **results: list[int]) -> EloMeasurement:
    names = {name.replace("_", ":").removeprefix("n"): each for name, each in results.items()}
    return EloMeasurement(iteration, 2, dict(ANCHORS), names)


def test_opponents_are_the_last_network_one_of_half_its_age_and_near_anchors() -> None:
    history = EloHistory(ANCHORS, 2)
    assert history.opponents(10, [10]) == list(ANCHORS)
    history.add([measured(10, random=[0, 0, 0, 0, 8], minimax_1=[1, 1, 2, 1, 1])])
    assert history.opponents(20, [10, 20]) == ["10", "minimax:2", "minimax:1"]
    history.add([measured(20, n10=[0, 0, 0, 2, 6], minimax_2=[1, 1, 4, 1, 1])])
    history.add([measured(30, n20=[0, 0, 6, 2, 0], minimax_2=[1, 1, 4, 1, 1])])
    assert history.opponents(40, [10, 20, 30]) == ["30", "minimax:4", "minimax:2", "20"]
    assert history.opponents(40, []) == ["minimax:4", "minimax:2"]


def test_networks_with_another_number_of_simulations_are_other_players() -> None:
    history = EloHistory(ANCHORS, 2)
    history.add([replace(measured(10, random=[0, 0, 0, 0, 8]), simulations=16)])
    assert history.ratings() == {}


def test_results_against_networks_without_a_measurement_are_ignored() -> None:
    history = EloHistory(ANCHORS, 2)
    history.add([measured(10, random=[0, 0, 0, 0, 8], n5=[0, 0, 0, 0, 8])])
    assert list(history.ratings()) == [10] and history.games(10) == 16


def test_anchors_without_a_known_rating_begin_at_0(tiny_config: Config) -> None:
    named = apply(tiny_config, ["run.elo_anchors=minimax:3, minimax:1"]).run
    assert anchors_for(TICTACTOE, named) == {"minimax:3": None, "minimax:1": 113}
    unknown = apply(tiny_config, ["run.elo_anchors=minimax:3,minimax:5"]).run
    assert anchors_for(TICTACTOE, unknown) == {"minimax:3": 0.0, "minimax:5": None}


def test_every_game_has_anchors(tmp_path: Path, tiny_config: Config) -> None:
    path, _ = marked_rules(tmp_path)
    own = anchors_for(load_game(str(path)), tiny_config.run)
    assert own == {"random": 0.0, **{f"minimax:{depth}": None for depth in (1, 2, 3, 4)}}
    chess = anchors_for(load_game("chess"), tiny_config.run)
    assert chess == {"random": -256, "minimax:1": -65, "minimax:2": 36}
    assert list(anchors_for(load_game("connect4"), tiny_config.run))[:2] == ["random", "minimax:1"]


@pytest.mark.parametrize("name", ["connect4", "tictactoe"])
def test_shipped_ladders_are_one_scale_from_random(name: str) -> None:
    ladder = ladder_of(load_game(name))
    assert ladder is not None and ladder == load_ladder(name) and ladder.game == name
    elos = [rung.elo for rung in ladder.rungs]
    assert ladder.rungs[0].player == "random" and elos[0] == 0 and elos == sorted(elos)
    assert all(rung.low <= rung.elo <= rung.high and rung.games >= 400 for rung in ladder.rungs)
    assert all(rung.high - rung.low < 250 for rung in ladder.rungs)


def test_pairs_are_shared_among_opponents() -> None:
    pairs = plan_pairs(TICTACTOE, ["20", "random", "minimax:1"], 7, seed=1)
    assert [opponent for opponent, _ in pairs] == [0, 1, 2, 0, 1, 2, 0]
    assert len({opening for _, opening in pairs}) == 7


def test_iterations_are_evenly_spaced() -> None:
    assert spread([2, 4, 6], 5) == [2, 4, 6]
    assert spread(list(range(0, 101, 5)), 3) == [0, 50, 100]
    assert spread(list(range(50)), 1) == [49]


def history(folder: RunFolder, *, games: int = 8, points: int = 3, workers: int = 0) -> EloHistory:
    return rate_history(
        folder,
        points=points,
        games=games,
        simulations=2,
        workers=workers,
        on_note=print,
    )


def test_a_history_plays_what_is_missing_and_keeps_it(
    copy: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = history_of(read_measurements(Stats(copy.path).lines()))
    found = history(copy, games=24)
    assert list(found.ratings()) == [2, 4, 6]
    assert all(found.games(iteration) >= 24 > before.games(iteration) for iteration in (2, 4, 6))
    kept = (copy.path / HISTORY_FILE).read_text()

    def no_game(*arguments: object) -> None:
        raise AssertionError("a game was played")

    monkeypatch.setattr("rookery.training.evaluation.tasks.play_pairs", no_game)
    again = history(copy, games=24)
    assert again.ratings() == found.ratings()
    assert (copy.path / HISTORY_FILE).read_text() == kept


def test_games_of_other_weights_are_not_used(copy: RunFolder) -> None:
    history(copy, games=24)
    first = {line["iteration"] for line in Stats(copy.path, HISTORY_FILE).lines()}
    shutil.copy(copy.path / "weights/000002.safetensors", copy.path / "weights/000006.safetensors")
    found = history(copy, games=24)
    lines = list(Stats(copy.path, HISTORY_FILE).lines())
    assert first == {2, 4, 6} and lines[-1]["iteration"] == 6
    assert found.games(6) >= 24


@pytest.mark.usefixtures("in_threads")
def test_workers_play_the_same_history(rated: RunFolder, tmp_path: Path) -> None:
    one, other = (
        RunFolder(Path(shutil.copytree(rated.path, tmp_path / name))) for name in ("one", "other")
    )
    assert history(one, games=16).ratings() == history(other, games=16, workers=2).ratings()


def test_a_history_in_a_folder_that_is_read_only_is_shown(
    copy: RunFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*arguments: object, **parts: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Stats, "append", refuse)
    assert len(history(copy, games=24).ratings()) == 3
    assert "the games are not kept" in capsys.readouterr().out


MINIMAX = PlayerSpec("plain", name="minimax:2")


@pytest.mark.usefixtures("in_threads")
@pytest.mark.parametrize("workers", [1, 3])
def test_any_number_of_workers_gives_the_same_rating(workers: int) -> None:
    ladder, finished = load_ladder("tictactoe"), list[int]()
    plan = RatingPlan(games=80, at_once=32)
    report = rate_over(
        TICTACTOE,
        MINIMAX,
        ladder,
        plan=plan,
        workers=workers,
        on_note=print,
        callback=lambda done, _: finished.append(done),
    )
    assert sum(row.counts.games for row in report.rows) == 80 == finished[-1]
    assert report.player == "minimax:2" and report.estimate.low < 387 < report.estimate.high
    expected = rate_over(TICTACTOE, MINIMAX, ladder, plan=plan, workers=2, on_note=print)
    assert report == expected


@pytest.mark.usefixtures("in_threads")
def test_an_interrupted_rating_reports_the_finished_rounds() -> None:
    def interrupt(done: int, _: RatingEstimate) -> None:
        raise KeyboardInterrupt

    report = rate_over(
        TICTACTOE,
        MINIMAX,
        load_ladder("tictactoe"),
        plan=RatingPlan(games=80),
        workers=1,
        on_note=print,
        callback=interrupt,
    )
    assert report.was_interrupted and 0 < len(report.games) < 80


def test_the_ladder_of_a_game_of_your_own_is_measured(tmp_path: Path) -> None:
    path, _ = marked_rules(tmp_path)
    rules = load_game(str(path))
    assert ladder_of(rules) is None
    ladder = measure_ladder(
        rules, ["random", "minimax:1", "minimax:2"], games=40, seed=1, workers=0, on_note=print
    )
    assert [rung.player for rung in ladder.rungs] == ["random", "minimax:1", "minimax:2"]
    assert ladder.rungs[0].elo == ladder.rungs[0].high == 0 and ladder.rungs[2].low > 0
    assert [rung.games for rung in ladder.rungs] == [80, 80, 80]
    ladder.check(rules)
