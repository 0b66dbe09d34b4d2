"""`import rookery as rk`: networks, analysis, search, training and matches in a few words."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rookery as rk
from own_rules import marked_rules
from random_runs import random_run
from rookery.api import Candidate, length_settings
from rookery.api.analyser import EVALUATOR_ROWS

TINY = {
    "net.width": 8,
    "net.depth": 1,
    "selfplay.games": 32,
    "selfplay.simulations": 4,
    "run.strength_every": 0,
    "run.elo_games": 0,
    "learning.batch_size": 32,
    "learning.compiled": False,
}


def even(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Evaluate all moves and results alike."""
    return np.zeros((len(planes), 9), np.float32), np.full((len(planes), 3), 1 / 3, np.float32)


def in_float32(net: rk.Net) -> rk.Net:
    """Return the network in float32: measuring may choose halves for one and not for another."""
    return rk.Net(replace(net.ref, inference="float32"))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> rk.Run:
    seen: list[rk.Progress] = []
    folder = tmp_path_factory.mktemp("api") / "run"
    made = rk.train(
        "tictactoe",
        iterations=2,
        settings=TINY,
        run=folder,
        devices="cpu",
        progress=seen.append,
    )
    assert seen and seen[-1].iteration == 2 and made.path == folder
    return made


def test_importing_the_package_alone_is_fast() -> None:
    code = "import sys, rookery; assert rookery.__all__; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "numba", "numpy", "rookery.api"} & set(done.stdout.split())


def test_every_public_name_exists_and_no_other() -> None:
    for name in rk.__all__:
        assert getattr(rk, name) is not None and name in dir(rk)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = rk.nothing


def test_search_is_the_function_whatever_was_imported_before() -> None:
    code = "import rookery.search, rookery as rk; print(rk.search.__module__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "rookery.api.searching"


def test_an_own_evaluator_finds_the_winning_move() -> None:
    board = rk.Board("tictactoe", "1425")
    found = rk.analyse(board, even, simulations=50)
    assert found.move == "3" and found.value == 1 and found.wdl == (1, 0, 0)
    assert found.lines[0] == Candidate("3", found.policy["3"], found.visits["3"])
    board.push(found.move)
    assert board.outcome == 1


def test_several_boards_are_analysed_at_once_and_alike() -> None:
    boards = [rk.Board("tictactoe", text) for text in ("", "5", "1425", "12")]
    together = rk.analyse(boards, even, simulations=20)
    assert together == [rk.analyse(board, even, simulations=20) for board in boards]
    assert sum(together[1].visits.values()) == 20
    assert rk.analyse([], even) == []


def test_what_cannot_be_analysed_is_an_error(run: rk.Run) -> None:
    with pytest.raises(rk.IllegalPosition, match="the game is over"):
        rk.analyse(rk.Board("tictactoe", "14253"), even)
    with pytest.raises(rk.ConfigError, match="plays tictactoe, not connect4"):
        rk.analyse(rk.Board("connect4"), run.net())
    with pytest.raises(rk.ConfigError, match="different games: tictactoe and connect4"):
        rk.analyse([rk.Board("tictactoe"), rk.Board("connect4")], even)
    for simulations in (-1, 10**18):
        with pytest.raises(rk.ConfigError, match=f"simulations is {simulations}, expected"):
            rk.analyse(rk.Board("tictactoe"), even, simulations=simulations)
        with pytest.raises(rk.ConfigError, match=f"simulations is {simulations}, expected"):
            rk.search(run.game.new_states(1), even, simulations=simulations, game=run.game)


def test_without_simulations_the_network_alone_decides() -> None:
    def prefers_cell_8(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits = np.tile(np.eye(9, dtype=np.float32)[7] * 5, (len(planes), 1))
        return logits, np.tile(np.array([0.5, 0.3, 0.2], np.float32), (len(planes), 1))

    board = rk.Board("tictactoe", "15")
    found = rk.analyse(board, prefers_cell_8, simulations=0)
    assert (found.move, set(found.visits.values())) == ("8", {0})
    assert found.wdl == pytest.approx((0.5, 0.3, 0.2), abs=1e-6)
    assert found.policy["8"] == pytest.approx(np.exp(5) / (np.exp(5) + 6), abs=1e-5)
    out = rk.search(np.stack([board.state]), prefers_cell_8, simulations=0, game=board.game)
    assert out.actions.tolist() == [7] and out.values[0] == pytest.approx(0.3, abs=1e-6)
    winning = rk.Board("tictactoe", "1425")  # the rules alone tell that 3 wins
    assert rk.analyse(winning, prefers_cell_8, simulations=0).move == "3"


def test_a_batch_of_states_is_searched_as_arrays() -> None:
    game = rk.load_game("tictactoe")
    states = game.random_states(40, seed=1)
    found = rk.search(states, even, simulations=24, game=game)
    assert len(found) == 40 and found.policy.shape == found.visits.shape == (40, 9)
    np.testing.assert_allclose(found.wdl.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(found.wdl[:, 0] - found.wdl[:, 2], found.values, atol=1e-5)
    for state, action in zip(states, found.actions, strict=True):
        assert action in game.legal_actions(state)
    again = game.random_states(40, seed=1)
    assert again.tobytes() == states.tobytes()
    assert game.random_states(40, seed=2).tobytes() != states.tobytes()


def test_states_that_cannot_be_searched_are_errors() -> None:
    game = rk.load_game("tictactoe")
    states = game.random_states(3, seed=1)
    with pytest.raises(rk.ConfigError, match="which game the evaluator plays"):
        rk.search(states, even)
    with pytest.raises(rk.ConfigError, match="positions of connect4"):
        rk.search(states, even, game="connect4")
    with pytest.raises(rk.ConfigError, match="no states"):
        rk.search(states[:0], even, game=game)
    states[1] = rk.Board("tictactoe", "14253").state
    with pytest.raises(rk.IllegalPosition, match="state 1: the game is over"):
        rk.search(states, even, game=game)


def test_an_analysis_deepens_until_it_is_stopped_or_proved() -> None:
    with rk.Analysis(rk.Board("connect4", "44"), uniform, lines=3) as analysis:
        nodes = []
        for info in analysis:
            nodes.append(info.nodes)
            if info.nodes > 2000:
                break
    assert nodes == sorted(nodes) and info.depth > 0 and info.seconds > 0
    assert len(info.lines) == 3 and info.move == info.lines[0].move == info.lines[0].variation[0]
    assert list(analysis) == []
    (*_, last) = rk.Analysis(rk.Board("tictactoe", "1425"), even)
    assert last.lines[0].wdl == (1, 0, 0) and last.move == "3"


def uniform(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((len(planes), 7), np.float32), np.full((len(planes), 3), 1 / 3, np.float32)


def test_a_run_has_statistics_networks_and_a_name(run: rk.Run) -> None:
    stats = run.stats()
    assert [line["iteration"] for line in stats] == [1, 2] and len(stats[:1]) == 1
    columns = stats.to_numpy()
    assert columns["iteration"].tolist() == [1, 2] and columns["selfplay.games"].min() > 0
    assert "started" in {line["kind"] for line in stats.lines}
    assert repr(run) == f"<Run {run.path} of tictactoe, 2 iterations>"
    assert run.net().game.name == "tictactoe" and run.net(2).name == run.path.name
    logits, wdl = run.net()(np.zeros((3, *run.game.planes_shape), np.float32))
    assert logits.shape == (3, 9) and wdl.sum(axis=1) == pytest.approx(1, abs=1e-5)


def test_saved_networks_are_listed(run: rk.Run) -> None:
    assert run.iterations and run.iterations[-1] == 2
    for iteration in run.iterations:
        assert run.net(iteration).game is run.game or run.net(iteration).game == run.game
    with pytest.raises(rk.RookeryError, match=r"no weights of iteration 7; the nearest are .*2"):
        run.net(7).evaluator  # noqa: B018


@pytest.mark.parametrize(
    ("minutes", "iterations", "expected"),
    [
        (None, None, []),
        (None, 4, ["run.minutes=0", "run.iterations=4"]),
        (None, 0, ["run.iterations=0"]),
        (2.5, None, ["run.minutes=2.5", "run.iterations=0"]),
        (2.5, 4, ["run.minutes=2.5", "run.iterations=4"]),
        (0, 4, ["run.minutes=0", "run.iterations=4"]),
    ],
)
def test_a_given_length_replaces_that_of_the_recipe(
    minutes: float | None, iterations: int | None, expected: list[str]
) -> None:
    assert length_settings(minutes, iterations) == expected


def test_states_become_planes_for_any_network() -> None:
    game = rk.load_game("connect4")
    states = game.random_states(5, seed=3)
    planes = game.planes(states)
    assert planes.shape == (5, *game.planes_shape) and planes.dtype == np.float32
    for state, found in zip(states, planes, strict=True):
        alone = np.zeros(game.planes_shape, np.float32)
        game.rules.planes(state, alone)
        assert (found == alone).all() and found.any()
    assert game.planes(states[:0]).shape == (0, *game.planes_shape)
    board = rk.Board(game, "44")
    assert game.planes(np.stack([board.state])).sum() == 2
    wrong: Any
    for wrong in (states[0], [1, 2], rk.load_game("tictactoe").random_states(2, seed=1)):
        with pytest.raises(rk.ConfigError, match=r"not an array \[G\] of positions"):
            game.planes(wrong)


def test_the_network_always_sees_the_same_number_of_rows() -> None:
    seen = list[int]()

    def counted(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        seen.append(len(planes))
        return even(planes)

    boards = [rk.Board("tictactoe", position) for position in ("", "1", "5", "15", "159", "91")]
    (alone, *_) = [rk.analyse(board, counted, simulations=8) for board in boards]
    together = rk.analyse(boards, counted, simulations=8)
    assert alone == together[0] and set(seen) == {EVALUATOR_ROWS}


def test_without_pandas_the_error_says_what_to_do(
    run: rk.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(rk.ConfigError, match="needs pandas"):
        run.stats().to_pandas()


def test_a_run_is_resumed_and_opened_again(run: rk.Run, tmp_path: Path) -> None:
    made = rk.train("tictactoe", iterations=1, settings=TINY, run=tmp_path / "a", devices="cpu")
    longer = made.resume(iterations=3)
    assert len(longer.stats()) == 3
    assert len(rk.open_run(str(tmp_path / "a")).stats()) == 3
    with pytest.raises(rk.RookeryError):
        rk.open_run(tmp_path / "nothing")


def test_training_can_be_stopped_from_the_callback(tmp_path: Path) -> None:
    def stop(progress: rk.Progress) -> None:
        if progress.iteration >= 2:
            raise rk.Stopped

    run = rk.train(
        "tictactoe", minutes=5, settings=TINY, run=tmp_path / "run", devices="cpu", progress=stop
    )
    assert 1 <= len(run.stats()) <= 3


def test_weights_files_and_averages_are_networks(run: rk.Run) -> None:
    file = run.path / "weights" / "000002.safetensors"
    planes: Any = np.random.default_rng(1).random((4, *run.game.planes_shape)).astype(np.float32)
    expected = in_float32(run.net())(planes)
    for name in (file, f"{run.path}@2", f"{run.path}+{run.path}"):
        found = in_float32(rk.load_net(name))(planes)
        np.testing.assert_allclose(found[1], expected[1], atol=1e-4)
    with pytest.raises(rk.ConfigError, match="player without a network"):
        rk.load_net("minimax:4")


def test_a_match_between_any_two_kinds_of_players(run: rk.Run) -> None:
    report = rk.match(run, "random", games=4, simulations=4)
    assert report.total.games == 4
    assert report.elo.low <= report.elo.elo <= report.elo.high
    assert str(report.elo).startswith(f"{report.elo.elo:.0f} (")
    assert rk.match(run.net(), run, games=2, simulations=2).a == run.path.name
    with pytest.raises(rk.ConfigError, match="name the game"):
        rk.match("random", "minimax:1")
    assert rk.match("minimax:1", "random", games=2, game="tictactoe").total.games == 2


def test_a_search_without_a_network_treats_all_moves_alike() -> None:
    board = rk.Board("tictactoe", "15")
    assert rk.analyse(board, simulations=50) == rk.analyse(board, even, simulations=50)
    states = rk.load_game("tictactoe").random_states(4, seed=1)
    with pytest.raises(rk.ConfigError, match="say which game"):
        rk.search(states)
    out = rk.search(states, simulations=8, game="tictactoe")
    np.testing.assert_array_equal(
        out.policy, rk.search(states, even, simulations=8, game="tictactoe").policy
    )
    with rk.Analysis(board) as analysis:
        assert next(iter(analysis)).lines


def test_a_network_is_saved_and_loaded(run: rk.Run, tmp_path: Path) -> None:
    net, planes = run.net(), np.zeros((1, 2, 3, 3), np.float32)
    path = net.save(tmp_path / "net.safetensors")
    for mine, theirs in zip(net(planes), rk.load_net(path)(planes), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert net.save(str(tmp_path / "net.onnx")).read_bytes()
    half = net.save(tmp_path / "half.safetensors", half=True)
    assert half.stat().st_size < path.stat().st_size


def test_a_network_of_an_own_game_is_loaded_with_its_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules, _ = marked_rules(tmp_path)
    monkeypatch.setenv("ROOKERY_STATE", str(tmp_path / "state"))
    net = rk.load_net(random_run(tmp_path / "run", str(rules)))
    path, planes = net.save(tmp_path / "net.safetensors"), np.ones((1, 2, 3, 3), np.float32)
    with pytest.raises(rk.ConfigError, match=r"plays mine, .* as in game='mine.py'"):
        rk.load_net(path)
    for game in (str(rules), rk.load_game(str(rules))):
        loaded = rk.load_net(path, game=game)
        np.testing.assert_array_equal(loaded(planes)[0], net(planes)[0])
        assert rk.analyse(rk.Board(game), loaded, simulations=4).move in "123456789"


@pytest.mark.parametrize(
    ("name", "game", "found"),
    [
        ("net.onnx", None, "net.onnx is for other programs; load a run folder"),
        ("connect4", "connect4", "game is for weights files; connect4 says itself"),
        ("net.safetensors", "connect4", "connect4 has 7 actions, got 9"),
        ("net.safetensors", "conect4", "unknown game 'conect4'; did you mean connect4"),
    ],
)
def test_a_network_that_cannot_be_loaded_is_an_error(
    run: rk.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, game: str, found: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run.net().save("net.safetensors")
    with pytest.raises(rk.ConfigError, match=found):
        rk.load_net(name, game=game)


@pytest.mark.parametrize(
    ("name", "half", "found"),
    [
        ("net.pt", False, "must end in .onnx or .safetensors"),
        ("net.onnx", True, "half is for .safetensors"),
        ("there.onnx", False, "exists already"),
        ("missing/net.onnx", False, "there is no folder"),
    ],
)
def test_a_network_is_not_saved_anywhere(
    run: rk.Run, tmp_path: Path, name: str, half: bool, found: str
) -> None:
    (tmp_path / "there.onnx").write_text("mine")
    with pytest.raises(rk.ConfigError, match=found):
        run.net().save(tmp_path / name, half=half)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]
