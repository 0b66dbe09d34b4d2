"""Matches and measurements over judges in processes of their own: always the same result."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import rookery
import worker_functions
from disturbed import KilledAtFirstAnswer, workers
from rookery.arena import MatchPlan, MatchReport, Strength
from rookery.base import ConfigError, RookeryError
from rookery.games import Game, load_game, tictactoe
from rookery.nets import GameSpec, NetConfig, WeightsHeader, build_net, pack
from rookery.training import PlayerSpec, measure_over, play_match_over
from rookery.training.evaluation import pool as judging
from rookery.training.evaluation.tasks import StrengthTask, pack_cases, source_of, unpack_cases
from rookery.workers import Message, WorkersLost

TICTACTOE, CONNECT4 = load_game("tictactoe"), load_game("connect4")
PLAN = MatchPlan(games=96, seed=5, opening_plies=2)
MINIMAX = PlayerSpec("plain", name="minimax:2")


def tiny(rules: Game, simulations: int = 3) -> PlayerSpec:
    """A net of random weights: one as it begins would find all moves alike."""
    torch.manual_seed(1)
    config = NetConfig(width=8, depth=1)
    net = build_net(config, rules.planes_shape, rules.num_actions)
    for weights in net.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    fits = GameSpec(rules.name, rules.version, rules.planes_shape, rules.num_actions)
    payload = pack(net.state_dict(), WeightsHeader(fits, config, step=0))
    return PlayerSpec(
        "net", name="tiny", simulations=simulations, weights=payload, inference="float32"
    )


def play(number: int, notes: list[str] | None = None) -> MatchReport:
    told: list[str] = [] if notes is None else notes
    return play_match_over(
        TICTACTOE, PLAN, tiny(TICTACTOE), MINIMAX, workers=number, tell=told.append
    )


def measure(rules: Game, players: Sequence[PlayerSpec], number: int) -> list[Strength]:
    notes: list[str] = []
    measured = measure_over(rules, players, seed=1, workers=number, tell=notes.append)
    assert not notes
    return measured


@pytest.fixture(scope="module")
def undisturbed() -> MatchReport:
    """The match, played in this process."""
    return play(0)


@pytest.fixture(autouse=True)
def no_orphans() -> Iterator[None]:
    """No judge outlives what it was needed for."""
    yield
    assert not workers()


def test_a_match_is_played_out_here(undisturbed: MatchReport) -> None:
    assert (undisturbed.a, undisturbed.b) == ("tiny", "minimax:2")
    assert undisturbed.total.games == 96 and PLAN.parts == 3
    assert undisturbed.distinct_games > 40
    assert min(undisturbed.total.wins, undisturbed.total.losses) > 0


@pytest.mark.parametrize("number", [1, 2, 3])
def test_any_number_of_judges_sees_the_same_match(undisturbed: MatchReport, number: int) -> None:
    notes: list[str] = []
    assert play(number, notes) == undisturbed
    assert not notes


def test_judges_that_are_killed_are_replaced_and_nothing_changes(
    undisturbed: MatchReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "WorkerPool", KilledAtFirstAnswer)
    notes: list[str] = []
    assert play(2, notes) == undisturbed
    assert sorted(notes) == [
        f"judge {number} killed by SIGKILL; another one in 0.5 s" for number in (0, 1)
    ]


def test_judges_measure_every_position_of_a_tiny_game() -> None:
    players = [tiny(TICTACTOE, simulations) for simulations in (0, 2)]
    here = measure(TICTACTOE, players, 0)
    assert measure(TICTACTOE, players, 2) == here
    assert here[0] != here[1] and here[0].errors > 1


def test_judges_measure_positions_of_connect_four() -> None:
    players = [tiny(CONNECT4, simulations) for simulations in (0, 2)]
    here = measure(CONNECT4, players, 0)
    assert measure(CONNECT4, players, 3) == here
    assert here[0] != here[1] and here[0].errors > 1


def test_judges_find_the_rules_of_a_game_of_your_own(tmp_path: Path) -> None:
    path = tmp_path / "noughts.py"
    source = Path(tictactoe.__file__).read_text()
    path.write_text(source.replace('NAME = "tictactoe"', 'NAME = "noughts"'))
    rules = load_game(str(path))
    assert rules.name == "noughts" and source_of(rules) == str(path)
    players = [PlayerSpec("plain", name="random"), PlayerSpec("plain", name="minimax:1")]
    here = measure(rules, players, 0)
    assert measure(rules, players, 1) == here
    assert here[0].errors > here[1].errors > 0


def test_a_judge_that_always_throws_ends_the_match(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(judging, "judge", worker_functions.throwing_judge)
    notes: list[str] = []
    expected = "3 judges failed at the same part, the last one: ValueError: this judge always fails"
    with pytest.raises(RookeryError, match=expected) as error:
        play(1, notes)
    assert len(notes) == 3 and "\n" not in str(error.value)


def test_what_no_judge_can_do_is_said_once() -> None:
    notes: list[str] = []
    case = StrengthTask("tictactoe", PlayerSpec("plain", name="minimax:0"), seed=1)
    with pytest.raises(RookeryError, match="at least 1 ply ahead"):
        judging.look_at([case], workers=1, tell=notes.append)
    assert not notes


def test_a_contestant_that_cannot_play_starts_no_judge() -> None:
    def tell(note: str) -> None:
        raise AssertionError(note)

    with pytest.raises(ConfigError, match="at least 1 ply ahead"):
        play_match_over(
            TICTACTOE, PLAN, MINIMAX, PlayerSpec("plain", name="minimax:0"), workers=2, tell=tell
        )


def test_a_judge_of_another_version_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "__version__", "99.0")
    with pytest.raises(WorkersLost, match=f"runs rookery {rookery.__version__}, expected 99.0"):
        play(1)


def test_cases_travel_whole_and_weights_once() -> None:
    cases = [
        StrengthTask("tictactoe", tiny(TICTACTOE, simulations), seed=1) for simulations in (0, 5)
    ]
    message = pack_cases(cases)
    assert len(message.arrays) == 1
    assert unpack_cases(Message.unpack(message.pack())) == cases


def test_a_net_is_made_ready_once() -> None:
    one, other = tiny(TICTACTOE, 0), tiny(TICTACTOE, 7)
    assert one.evaluator() is other.evaluator()
    assert one.evaluator() is not tiny(CONNECT4).evaluator()


def test_settling_decides_how_a_net_is_evaluated() -> None:
    undecided = replace(tiny(TICTACTOE), inference="auto", devices="auto")
    settled = undecided.settled(TICTACTOE)
    assert settled.inference == undecided.evaluator().backend != "auto"
    assert settled.devices != "auto"
