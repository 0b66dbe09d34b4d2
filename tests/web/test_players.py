"""Opponents with processes and devices of their own: UCI engines, and a network on a GPU."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from devices import Linear
from random_runs import random_run
from rookery.api import Net
from rookery.games import load_game
from rookery.interface.web.players import ENGINE_FOLDERS
from rookery.interface.web.site import Site
from web_client import ask, client_of

TINY = Path(__file__).parents[1] / "tiny_engine.py"
ENGINE = f"uci:{sys.executable} {TINY}"
CHESS = {"game": "chess", "do": "move"}
FEN = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with client_of(Site(engines=[ENGINE, f"{ENGINE} 2"])) as found:
        yield found


def engines(client: TestClient) -> dict[str, str]:
    """Ids of the engines by label."""
    found = client.get("/api/players", params={"game": "chess"}).json()
    return {player["label"]: player["id"] for player in found if player["kind"] == "engine"}


def named(client: TestClient, end: str) -> str:
    return next(name for label, name in engines(client).items() if label.endswith(end))


def test_a_label_names_the_program_and_not_its_folder(client: TestClient) -> None:
    program = Path(sys.executable).name
    assert {f"{program} tiny_engine.py", f"{program} tiny_engine.py 2"} <= engines(client).keys()


@pytest.mark.parametrize(
    ("start", "moves", "expected"),
    [("", [], "a2a3"), ("", ["a2a3", "a7a5", "b2b3"], "a5a4"), (FEN, ["e2e4"], "e8d7")],
)
def test_an_engine_moves_in_the_position_it_is_asked_about(
    client: TestClient, start: str, moves: list[str], expected: str
) -> None:
    player = named(client, "tiny_engine.py")
    with client.websocket_connect("/api/play") as socket:
        (answer,) = ask(socket, {**CHESS, "player": player, "start": start, "moves": moves})
    assert answer["move"] == expected and answer["view"]["turn"] == (len(moves) + 1) % 2


def test_an_engine_that_ends_is_told_in_one_sentence(client: TestClient) -> None:
    player = named(client, "tiny_engine.py 2")
    with client.websocket_connect("/api/play") as socket:
        question = {**CHESS, "player": player}
        answers = [ask(socket, question)[-1] for _ in range(3)]
    assert answers[0]["move"] == "a2a3"
    assert "tiny_engine.py 2 gave no move" in answers[1]["error"]
    assert "\n" not in answers[1]["error"]
    assert "error" in answers[2] or answers[2]["move"] == "a2a3"  # started again


@pytest.mark.skipif(
    not (shutil.which("stockfish") or shutil.which("stockfish", path=ENGINE_FOLDERS)),
    reason="stockfish is not installed",
)
def test_an_installed_stockfish_is_offered_and_plays(client: TestClient) -> None:
    player = engines(client)["Stockfish, Elo 1350"]
    with client.websocket_connect("/api/play") as socket:
        (answer,) = ask(socket, {**CHESS, "player": player, "moves": ["e2e4"]})
    assert answer["view"]["turn"] == 0 and not answer["view"]["over"]


def test_networks_are_placed_on_the_device_of_the_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random_run(tmp_path / "runs" / "random", "tictactoe")
    game, devices = load_game("tictactoe"), list[str]()

    def evaluator(net: Net) -> Any:
        devices.append(net.devices)
        return Linear(game.planes_shape, game.num_actions)

    monkeypatch.setattr(Net, "evaluator", property(evaluator, lambda net, new: None))
    with (
        client_of(Site(folders=[tmp_path / "runs"], devices="cuda:0")) as client,
        client.websocket_connect("/api/play") as socket,
    ):
        question = {"game": "tictactoe", "do": "move", "player": "run:random", "simulations": 8}
        (answer,) = ask(socket, question)
    assert answer["move"] in {str(cell) for cell in range(1, 10)}
    assert set(devices) == {"cuda:0"}
