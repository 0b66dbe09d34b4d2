"""The planner on machines of known speed, and once on this one."""

from dataclasses import replace
from math import inf
from typing import Any

import pytest
import torch

from rookery.base import ConfigError
from rookery.games import Game, load_game
from rookery.nets import count_parameters
from rookery.nets.inference.mps import MpsBackend
from rookery.training import Config, Plan, apply, plan_run, recipe_for
from rookery.training.planning import plan as planning
from rookery.training.planning import speed
from rookery.training.store.origin import new_net

CPU = torch.device("cpu")
CONNECT4 = load_game("connect4")


class Machine:
    """Multiplies weights at a constant rate, with full speed from `full_batch` games on."""

    def __init__(self, rate: float, *, learning: float = 0.1, full_batch: int = 64) -> None:
        self.rate, self.learning, self.full_batch = rate, learning, full_batch
        self.seconds, self.tried = 0.0, list[tuple[int, int, int]]()

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(planning, "play_speed", self.play_speed)
        monkeypatch.setattr(planning, "learn_speed", self.learn_speed)

    def play_speed(self, game: Game, config: Config, *, seconds: float, **_: Any) -> float:
        self.seconds += seconds + 0.5
        self.tried.append((config.net.width, config.net.depth, config.selfplay.games))
        share = min(1.0, config.selfplay.games / self.full_batch)
        return share * self.rate / count_parameters(new_net(config, game))

    def learn_speed(self, game: Game, config: Config, *, seconds: float, **_: Any) -> float:
        self.seconds += seconds
        return self.learning * self.rate / count_parameters(new_net(config, game))

    def plan(self, monkeypatch: pytest.MonkeyPatch, minutes: float, *settings: str) -> Plan:
        self.install(monkeypatch)
        length = [f"run.minutes={minutes}", "run.iterations=0"]
        config = apply(recipe_for("connect4"), [*length, *settings])
        return plan_run(CONNECT4, config, device=CPU, clock=lambda: self.seconds)


@pytest.mark.parametrize("rate", [3e7, 1e9, 1e10, 1e12])
def test_the_network_sees_about_the_ideal_number_of_positions(
    monkeypatch: pytest.MonkeyPatch, rate: float
) -> None:
    found = Machine(rate).plan(monkeypatch, 60)
    sizes = [trial.net for trial in found.trials]
    shape = (found.settings["net.width"], found.settings["net.depth"])
    chosen = next(t for t in found.trials if (t.net.width, t.net.depth) == shape)
    largest = (sizes[-1].width, sizes[-1].depth) == planning.SIZES[-1]
    smallest = (sizes[0].width, sizes[0].depth) == planning.SIZES[0]
    assert chosen.fits or chosen.misfit == min(trial.misfit for trial in found.trials)
    assert 0.55 < chosen.positions / chosen.weights < 3.8 or largest or smallest


def test_faster_machines_and_longer_runs_get_larger_networks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def weights(rate: float, minutes: float) -> int:
        found = Machine(rate).plan(monkeypatch, minutes)
        config = apply(recipe_for("connect4"), [f"{k}={v}" for k, v in found.settings.items()])
        return count_parameters(new_net(config, CONNECT4))

    assert weights(1e8, 10) < weights(1e9, 10) < weights(1e10, 10) <= weights(1e10, 60)


def test_learning_takes_at_most_half_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    cheap = Machine(1e9, learning=1.0).plan(monkeypatch, 10)
    assert cheap.settings["learning.reuse"] == 3.0  # that of the recipe
    dear = Machine(1e9, learning=0.04).plan(monkeypatch, 10)
    simulations = planning._mean_simulations(recipe_for("connect4"))
    assert dear.settings["learning.reuse"] == pytest.approx(simulations * 0.04, abs=0.06)
    hopeless = Machine(1e9, learning=0.001).plan(monkeypatch, 10)
    assert hopeless.settings["learning.reuse"] == planning.MIN_REUSE


@pytest.mark.parametrize(("full_batch", "games"), [(1, 256), (256, 256), (512, 512), (10**6, 1024)])
def test_more_games_are_played_only_if_that_is_much_faster(
    monkeypatch: pytest.MonkeyPatch, full_batch: int, games: int
) -> None:
    found = Machine(1e11, full_batch=full_batch).plan(monkeypatch, 600)
    assert found.settings["selfplay.games"] == games


def test_the_first_games_end_early_in_a_short_run(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Machine(1e8).plan(monkeypatch, 1)
    config = apply(recipe_for("connect4"), [f"{k}={v}" for k, v in found.settings.items()])
    first = config.selfplay.games * 21 * config.selfplay.simulations_at(0.0)
    speed_there = 1e8 / count_parameters(new_net(config, CONNECT4))
    assert config.selfplay.games == 8 or first / speed_there < 0.06 * 60


@pytest.mark.parametrize("minutes", [1, 60])
def test_measurements_take_the_share_of_the_time_that_they_take_in_the_recipe(
    monkeypatch: pytest.MonkeyPatch, minutes: float
) -> None:
    start = recipe_for("connect4")
    found = Machine(1e9).plan(monkeypatch, minutes)
    config = apply(start, [f"{name}={value}" for name, value in found.settings.items()])

    def positions_between(config: Config) -> int:
        return config.run.strength_every * config.run.moves * config.selfplay.games

    assert positions_between(config) == pytest.approx(positions_between(start), rel=0.1)
    never = Machine(1e9).plan(monkeypatch, minutes, "run.strength_every=0")
    assert "run.strength_every" not in never.settings


def test_windows_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = recipe_for("connect4").replay
    found = Machine(1e12).plan(monkeypatch, 600).settings
    assert found["replay.window_min"] == recipe.window_min
    assert found["replay.window_max"] == recipe.window_max
    monkeypatch.setattr(planning, "_free_bytes", lambda device: 10_000_000)
    little = Machine(1e12).plan(monkeypatch, 600).settings
    assert int(little["replay.window_min"]) <= int(little["replay.window_max"]) <= 50_000


@pytest.mark.parametrize(("minutes", "moves"), [(1, 8), (4, 16), (60, 16)])
def test_iterations_are_those_of_the_recipe_unless_the_run_would_have_few(
    monkeypatch: pytest.MonkeyPatch, minutes: float, moves: int
) -> None:
    found = Machine(2e9).plan(monkeypatch, minutes, "net.width=32", "net.depth=3")
    assert found.settings["run.moves"] == moves


def test_the_network_of_the_recipe_stays_if_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    machine, net = Machine(2e10), recipe_for("connect4").net
    found = machine.plan(monkeypatch, 4)
    assert [trial.net for trial in found.trials] == [net]
    assert (found.settings["net.width"], found.settings["net.depth"]) == (net.width, net.depth)


def test_measuring_ends_in_time_on_a_slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(1e12)
    original = machine.play_speed

    def slow(*words: Any, **options: Any) -> float:
        machine.seconds += 12
        return original(*words, **options)

    monkeypatch.setattr(machine, "play_speed", slow)
    found = machine.plan(monkeypatch, 60)
    assert len(found.trials) == 2 and found.settings["selfplay.games"] == 256
    for minutes, limit in ((60, 30), (4, 20), (0.1, 12)):
        machine = Machine(1e9)
        machine.plan(monkeypatch, minutes)
        assert machine.seconds < limit


@pytest.mark.parametrize("minutes", [0.001, 10_000_000])
def test_any_length_gives_valid_settings(monkeypatch: pytest.MonkeyPatch, minutes: float) -> None:
    found = Machine(1e9).plan(monkeypatch, minutes)
    apply(recipe_for("connect4"), [f"{name}={value}" for name, value in found.settings.items()])
    assert all(choice.reason for choice in found.choices) and found.positions >= 1


def test_an_apple_gpu_is_named_and_only_evaluates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learning on it would fail here: there is none, and the CPU evaluates in its place."""
    monkeypatch.setattr(MpsBackend, "device", CPU)
    monkeypatch.setattr(planning, "MEASURING_SECONDS", (0.0, 0.0))
    for name in ("PLAY_SECONDS", "LEARN_SECONDS"):
        monkeypatch.setattr(planning, name, 0.0)
    config = apply(recipe_for("tictactoe"), ["run.minutes=1", "net.width=8", "net.depth=1"])
    found = plan_run(load_game("tictactoe"), config, device=torch.device("mps"))
    assert found.machine.device == "Apple GPU"
    assert "run.actors" not in found.settings


def test_a_run_without_length_cannot_be_planned() -> None:
    from rookery.api import plan_from

    with pytest.raises(ConfigError, match="no length in minutes"):
        plan_from(recipe_for("tictactoe"), None, devices="cpu")


def test_speeds_of_this_machine_are_measured() -> None:
    game = load_game("tictactoe")
    config = apply(recipe_for("tictactoe"), ["selfplay.games=16", "run.inference=float32"])
    small = replace(config, net=replace(config.net, width=8, depth=1))
    assert 0 < speed.play_speed(game, small, device=CPU, seconds=0.1) < inf
    assert 0 < speed.learn_speed(game, small, device=CPU, seconds=0.1) < inf
