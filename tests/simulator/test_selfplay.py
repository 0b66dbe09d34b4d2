"""Self-play's kernels: every game they hand over is one that the rules allow."""

import numpy as np
import pytest
import torch
from torch import Tensor

from devices import Linear
from rookery.base import RunFolderError
from rookery.games import Game, load_game
from rookery.replay import DeviceRows, to_samples
from rookery.search import SearchConfig
from rookery.selfplay import DeviceSelfPlay, SelfPlayConfig
from rookery.selfplay.device import WAVES
from rookery.selfplay.report import report_rows

RULES = load_game("tictactoe")


def new_selfplay(**changes: object) -> DeviceSelfPlay:
    settings = {"games": 5, "simulations": "4, 6@0.5", "opening_plies": 3, "temperature_plies": 4}
    evaluator = Linear(RULES.planes_shape, RULES.num_actions).on(torch.device("cpu"))
    config = SelfPlayConfig(**{**settings, **changes})
    return DeviceSelfPlay(RULES, evaluator, config=config, search=SearchConfig(), moves=6, seed=3)


def games_of(rows: DeviceRows) -> list[slice]:
    starts = np.flatnonzero(rows.steps == 0)
    return [slice(a, b) for a, b in zip(starts, [*starts[1:], len(rows.steps)], strict=True)]


def check_game(rules: Game, rows: DeviceRows, place: slice) -> None:
    """Replay one game: its positions follow from its moves, its results from its end."""
    states, results = rows.states[place], rows.results[place]
    for row, state in enumerate(states):
        after = state.copy()
        action = int(rows.moves[place][row])
        assert action in rules.legal_actions(state)
        rules.rules.play(after, action)
        if row + 1 < len(states):
            assert after.tobytes() == states[row + 1].tobytes()
            assert results[row] == -results[row + 1]
        else:
            assert rules.rules.outcome(after) == -results[row]
        count = rows.num_legal[place][row]
        assert rows.actions[place][row][:count].tolist() == rules.legal_actions(state)
        np.testing.assert_allclose(rows.policy[place][row][:count].sum(), 1, atol=1e-5)


def test_games_are_whole_and_legal() -> None:
    selfplay, games, rows_seen = new_selfplay(), 0, 0
    for step in range(3):
        selfplay.play(6, progress=step / 3)
        rows, counts = selfplay.collect().fetch()
        assert counts.rows == len(rows.steps) == len(to_samples(rows, step))
        for place in games_of(rows):
            check_game(RULES, rows, place)
        games += len(games_of(rows))
        rows_seen += counts.rows
    assert games > 10
    assert rows_seen <= counts.turns <= rows_seen + 5 * RULES.max_plies


def test_a_game_that_finds_no_room_waits_and_is_not_lost() -> None:
    selfplay = new_selfplay()
    selfplay.play(9, progress=0.0)
    full = selfplay.collect()
    everything, counts = full.fetch()
    tight = new_selfplay()
    tight.play(9, progress=0.0)
    for harvest in tight._harvests:
        harvest.rows = DeviceRows(*(column[: counts.rows - 1] for column in harvest.rows))
    first, first_counts = tight.collect().fetch()
    second, second_counts = tight.collect().fetch()
    assert first_counts.asked == counts.rows
    assert first_counts.rows + second_counts.rows == counts.rows
    together = [*first.states.tolist(), *second.states.tolist()]
    assert sorted(together) == sorted(everything.states.tolist())


def test_games_under_way_survive_their_state() -> None:
    selfplay = new_selfplay()
    selfplay.play(4, progress=0.0)
    selfplay.collect()
    state = selfplay.state()
    other = new_selfplay()
    other.restore(state)
    for name, column in other.state().items():
        if name == "streams":  # searches begin anew, and draw their noise
            continue
        np.testing.assert_array_equal(column, state[name], err_msg=name)
    other.play(9, progress=1.0)
    rows, _ = other.collect().fetch()
    for place in games_of(rows):
        check_game(RULES, rows, place)


def test_games_without_a_move_survive_too() -> None:
    state = new_selfplay().state()
    other = new_selfplay()
    other.play(9, progress=1.0)
    other.restore(state)
    np.testing.assert_array_equal(other.state()["roots"], state["roots"])
    assert not other.state()["history.lengths"].any()


class Counted(Linear):
    """A net that notes after how many questions it was told to adapt itself."""

    def __init__(self) -> None:
        super().__init__(RULES.planes_shape, RULES.num_actions)
        self.device, self.cells = torch.device("cpu"), None
        self.asked, self.adapted = 0, list[int]()

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        self.asked += 1
        return self._answer(planes)

    def adapt(self, boards: Tensor) -> None:
        assert boards.shape == (2, *RULES.planes_shape) and boards.any()
        self.adapted.append(self.asked)


def test_a_net_adapts_itself_to_the_first_boards_of_every_stretch() -> None:
    net, config = Counted(), SelfPlayConfig(games=2, simulations="8")
    options = {"config": config, "search": SearchConfig(), "moves": 2, "seed": 1}
    selfplay = DeviceSelfPlay(RULES, net, **options)
    for _ in range(2):
        selfplay.play(2, progress=0.0)
    assert net.adapted == [WAVES, 3 * WAVES]


def test_what_was_counted_before_a_restart_is_not_counted_again() -> None:
    selfplay = new_selfplay(resign=0.01, resign_check=1.0)
    _, before = selfplay.finish(selfplay.start(20, progress=0.0))
    other = new_selfplay(resign=0.01, resign_check=1.0)
    other.restore(selfplay.state())
    _, after = other.finish(other.start(20, progress=0.0))
    assert before.resign_checks > 0 and after.games > 0
    in_all = other.state()["history.checks"].sum()
    assert before.resign_checks + after.resign_checks == in_all


def test_games_kept_by_an_older_layout_are_refused() -> None:
    selfplay = new_selfplay()
    state = dict(selfplay.state())
    state["history.states"] = np.zeros((5, RULES.max_plies), RULES.state_dtype)
    with pytest.raises(RunFolderError, match="begin a new run with --init"):
        new_selfplay().restore(state)


def test_the_report_counts_games() -> None:
    selfplay = new_selfplay(opening_share=0.0, temperature_plies=0)
    selfplay.play(20, progress=0.0)
    rows, counts = selfplay.collect().fetch()
    report = report_rows(rows, positions=counts.turns, simulations=4, evaluations=7, seconds=2.0)
    games = games_of(rows)
    assert report.games == len(games)
    assert report.mean_length == np.mean([place.stop - place.start for place in games])
    assert report.draws == np.mean([rows.results[place][0] == 0 for place in games])
    distinct = {rows.moves[place].tobytes() for place in games}
    assert np.isclose(report.duplicate_games, 1 - len(distinct) / len(games))
