"""Self-play's kernels: every game they hand over is one that the rules allow."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from devices import Linear
from rookery.base import read_arrays, write_arrays
from rookery.games import load_game
from rookery.replay import count
from rookery.replay.rows import select
from rookery.search import SearchConfig, follow
from rookery.search.tree import UNVISITED
from rookery.selfplay import GpuSelfPlay, SelfPlayConfig
from rookery.selfplay.gpu import WAVES
from selfplay_games import check_end, check_game, check_report, keys_of, split_games

RULES = load_game("tictactoe")


def new_selfplay(**changes: Any) -> GpuSelfPlay:
    settings: dict[str, Any] = {
        "games": 5,
        "simulations": "4, 6@0.5",
        "opening_plies": 3,
        "temperature_plies": 4,
    } | changes
    evaluator = Linear(RULES.planes_shape, RULES.num_actions).on(torch.device("cpu"))
    config = SelfPlayConfig(**settings)
    return GpuSelfPlay(RULES, evaluator, config=config, search=SearchConfig(), moves=6, seed=3)


def test_games_are_whole_and_legal() -> None:
    selfplay, games, num_rows, positions = new_selfplay(), 0, 0, 0
    for step in range(3):
        played = selfplay.finish(selfplay.start(6, progress=step / 3, iteration=step))
        for game in split_games(played.rows):
            check_end(RULES, game)
        check_report(played.report, played.rows)
        assert (played.rows.iterations == step).all()
        games += played.report.games
        num_rows += count(played.rows)
        positions += played.report.positions
    assert games > 10
    assert num_rows <= positions <= num_rows + 5 * RULES.max_plies


def test_the_report_has_the_batches_of_the_network() -> None:
    selfplay = new_selfplay()
    evaluator, needed = selfplay._trees._evaluator, list[int]()
    forward = evaluator.forward

    def counted(planes: Tensor) -> Any:
        assert len(planes) == 5
        needed.append(int(np.sum(selfplay._trees.needs_net)))
        return forward(planes)

    evaluator.forward = counted  # type: ignore[method-assign]
    for step in range(2):
        needed.clear()
        report = selfplay.finish(selfplay.start(6, progress=0.0, iteration=step)).report
        assert (report.batches, report.evaluations) == (len(needed), sum(needed))
        assert report.mean_batch == 5
        assert report.useful_rows == sum(needed) / (5 * len(needed)) < 1


def test_two_periods_can_be_enqueued() -> None:
    selfplay, alone = new_selfplay(), new_selfplay()
    enqueued = [selfplay.start(6, progress=0.0, iteration=i) for i in range(2)]
    found = [selfplay.finish(each) for each in enqueued]
    expected = [alone.finish(alone.start(6, progress=0.0, iteration=i)) for i in range(2)]
    for one, other in zip(found, expected, strict=True):
        assert keys_of(one.rows) == keys_of(other.rows)
        assert one.report.positions == other.report.positions


def test_games_from_misjudged_positions_are_legal_and_resume(tmp_path: Path) -> None:
    selfplay, other = new_selfplay(misjudged_share=0.6), new_selfplay(misjudged_share=0.6)
    for step in range(4):
        games = split_games(selfplay.finish(selfplay.start(6, progress=0.0, iteration=step)).rows)
        for game in games:
            check_end(RULES, game)
    assert max(int(game.openings[0]) for game in games) > 3  # longer than a random opening
    write_arrays(tmp_path / "file", selfplay.state())
    other.restore(read_arrays(tmp_path / "file")[0])
    for mine, restored in zip(selfplay._misjudged.arrays, other._misjudged.arrays, strict=True):
        assert mine.tobytes() == restored.tobytes()


def test_a_game_that_finds_no_space_waits_and_is_not_lost() -> None:
    selfplay, tight = new_selfplay(), new_selfplay()
    for each in (selfplay, tight):
        each.play_waves(9, progress=0.0)
    everything, _ = selfplay.collect(0).fetch()
    for finished in tight._finished:
        finished._rows = select(finished._rows, slice(0, count(everything) - 1))
    (first, _), (second, _) = (tight.collect(0).fetch() for _ in range(2))
    num_needed = int(tight._finished[1]._counts[0])  # of the first collection
    assert num_needed == count(everything) == count(first) + count(second)
    assert sorted(keys_of(first) + keys_of(second)) == sorted(keys_of(everything))


def test_games_in_progress_survive_a_checkpoint(tmp_path: Path) -> None:
    selfplay = new_selfplay()
    selfplay.play_waves(4, progress=0.0)
    selfplay.collect(0)
    write_arrays(tmp_path / "file", selfplay.state())
    state, other = selfplay.state(), new_selfplay()
    other.restore(read_arrays(tmp_path / "file")[0])
    for name, column in other.state().items():
        if name != "search_streams":  # searches begin again, and draw their noise
            np.testing.assert_array_equal(column, state[name], err_msg=name)
    other.play_waves(9, progress=1.0)
    rows, _ = other.collect(0).fetch()
    games = split_games(rows)
    assert games
    for game in games:
        check_end(RULES, game)


def test_games_without_a_move_survive_a_checkpoint() -> None:
    state = new_selfplay().state()
    other = new_selfplay()
    other.play_waves(9, progress=1.0)
    other.restore(state)
    np.testing.assert_array_equal(other.state()["roots"], state["roots"])
    assert not other.state()["games.lengths"].any()


def test_evaluations_are_kept_from_move_to_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it games are the same, but need more evaluations."""
    monkeypatch.setattr(follow, "child_by", lambda *arguments: UNVISITED)
    fresh, followed = new_selfplay(simulations="12"), new_selfplay(simulations="12")
    without = fresh.finish(fresh.start(30, progress=0.0, iteration=0))
    monkeypatch.undo()
    kept = followed.finish(followed.start(30, progress=0.0, iteration=0))
    assert without.report.games > 10
    assert set(keys_of(without.rows)) <= set(keys_of(kept.rows))
    per_position = [
        played.report.evaluations / played.report.positions for played in (kept, without)
    ]
    assert per_position[0] < 0.95 * per_position[1]


class Counted(Linear):
    """A network that notes after how many calls it was told to adapt itself."""

    def __init__(self) -> None:
        super().__init__(RULES.planes_shape, RULES.num_actions)
        self.device = torch.device("cpu")
        self.cells: Tensor | None = None
        self.asked, self.adapted = 0, list[int]()

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        self.asked += 1
        return self._answer(planes)

    def adapt(self, boards: Tensor) -> None:
        assert boards.shape == (2, *RULES.planes_shape) and boards.any()
        self.adapted.append(self.asked)


def test_a_net_adapts_itself_to_the_first_boards_of_every_period() -> None:
    net, config = Counted(), SelfPlayConfig(games=2, simulations="8")
    options: dict[str, Any] = {"config": config, "search": SearchConfig(), "moves": 2, "seed": 1}
    selfplay = GpuSelfPlay(RULES, net, **options)
    for _ in range(2):
        selfplay.play_waves(2, progress=0.0)
    assert net.adapted == [WAVES, 3 * WAVES]


def test_what_was_counted_before_a_restart_is_not_counted_again() -> None:
    selfplay, other = (new_selfplay(resign=0.01, resign_check=1.0) for _ in range(2))
    before = selfplay.finish(selfplay.start(20, progress=0.0, iteration=0)).report
    other.restore(selfplay.state())
    after = other.finish(other.start(20, progress=0.0, iteration=1)).report
    assert before.resign_checks > 0 and after.games > 0
    total = other.state()["games.resign_checks"].sum()
    assert before.resign_checks + after.resign_checks == total


def test_players_that_would_have_resigned_wrongly_are_counted() -> None:
    selfplay = new_selfplay(resign=0.01, resign_check=1.0)
    played = selfplay.finish(selfplay.start(20, progress=0.0, iteration=0))
    checks = errors = 0
    for game in split_games(played.rows):
        assert check_game(RULES, game) == -game.results[-1]
        low = np.flatnonzero(game.values[:-1] < -0.01)
        checks += len(low) > 0
        errors += len(low) > 0 and game.results[low[0]] != -1
    assert (played.report.resign_checks, played.report.resign_errors) == (checks, errors)
    assert checks > 0
