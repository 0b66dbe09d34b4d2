"""Questions over the WebSocket, with a network of random weights."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

from random_runs import random_run
from rookery.games import load_game
from rookery.interface.web import limits
from rookery.interface.web.services import Services
from rookery.interface.web.site import Site
from web_client import ask, client_of

SECONDS = 120.0
NET = {"game": "tictactoe", "player": "run:random"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("runs")
    random_run(folder / "random", "tictactoe")
    with client_of(Site(folders=[folder])) as found:
        yield found


@pytest.fixture
def socket(client: TestClient) -> Iterator[WebSocketTestSession]:
    with client.websocket_connect("/api/play") as found:
        yield found


def services(client: TestClient) -> Services:
    found: Services = client.app.state.services  # type: ignore[attr-defined]
    return found


def test_games_and_players_are_listed(client: TestClient) -> None:
    games = {game["name"]: game for game in client.get("/api/games").json()}
    assert games.keys() == {"chess", "connect4", "tictactoe"}
    assert games["chess"]["has_games"] and games["chess"]["planes"] == [16, 8, 8]
    players = client.get("/api/players", params={"game": "tictactoe"}).json()
    found = {player["id"]: player for player in players}
    assert found["run:random"] == {
        "id": "run:random",
        "label": "random",
        "kind": "net",
        "iterations": [1],
    }
    assert {"solver", "minimax:2", "random"} <= found.keys() and "bundled" not in found
    assert client.get("/api/players?game=nothing").status_code == 400


def test_a_whole_game_is_played(socket: WebSocketTestSession) -> None:
    game, moves = load_game("tictactoe"), list[str]()
    while True:
        player = ("run:random@1", "solver")[len(moves) % 2]
        (answer,) = ask(
            socket,
            {**NET, "do": "move", "player": player, "moves": moves, "simulations": 20},
        )
        moves.append(answer["move"])
        assert answer["view"]["last"]["to"] is not None
        if answer["view"]["over"]:
            break
    state = game.replay(int(move) - 1 for move in moves)
    assert game.rules.outcome(state) != 2
    assert answer["view"]["outcome"] in (0, -1)  # the solver does not lose


def test_a_search_finds_the_win(socket: WebSocketTestSession) -> None:
    moves = ["1", "4", "2", "5"]
    (answer,) = ask(socket, {**NET, "do": "move", "moves": moves, "simulations": 200})
    assert answer["move"] == "3" and answer["value"] == 1 and answer["wdl"] == [1, 0, 0]
    (answer,) = ask(socket, {**NET, "do": "move", "moves": moves, "simulations": 0})
    assert answer["view"]["over"] == (answer["move"] == "3")


def test_an_analysis_deepens_and_its_tree_can_be_read(socket: WebSocketTestSession) -> None:
    question = {**NET, "moves": ["5"], "do": "analyse", "nodes": 3000, "lines": 3}
    answers = ask(socket, question)
    last = answers[-1]["info"]
    assert answers[-1]["done"] and len(last["lines"]) == 3
    assert last["nodes"] >= 3000 or last["finished"]
    nodes = [answer["info"]["nodes"] for answer in answers]
    assert nodes == sorted(nodes)
    best = last["lines"][0]
    assert best["variation"][0] == best["move"] and 0 < best["prior"] < 1
    (tree,) = ask(socket, {**question, "do": "tree", "path": []})
    assert tree["kept"] and len(tree["children"]) == 8
    assert sum(child["prior"] for child in tree["children"]) == pytest.approx(1, abs=1e-3)
    (deeper,) = ask(socket, {**question, "do": "tree", "path": best["variation"][:2]})
    assert len(deeper["children"]) in (0, 6)
    (other,) = ask(socket, {**question, "do": "tree", "moves": ["1"]})
    assert other == {"id": 1, "children": [], "kept": False}


def test_a_report_has_a_value_for_every_position(socket: WebSocketTestSession) -> None:
    moves = ["1", "4", "2", "5", "3"]
    answers = ask(socket, {**NET, "do": "report", "moves": moves, "nodes": 100})
    assert [answer.get("ply") for answer in answers] == [0, 1, 2, 3, 4, 5, None]
    assert answers[4]["value"] == 1 and answers[4]["best"] == "3"
    assert answers[5]["value"] == -1 and answers[5]["best"] is None  # X has won, O would move


def test_a_search_can_be_stopped(socket: WebSocketTestSession, client: TestClient) -> None:
    long = {"game": "connect4", "player": "bundled", "do": "analyse", "nodes": 1_000_000}
    socket.send_text(json.dumps({"id": 7, **long}))
    while "info" not in (answer := json.loads(socket.receive_text())):
        assert "error" not in answer
    socket.send_text(json.dumps({"id": 8, "do": "stop", "stop": 7}))
    while "done" not in (answer := json.loads(socket.receive_text())):
        pass
    assert answer == {"id": 7, "done": True, "stopped": True}
    wait_until_idle(client)


def test_a_closed_socket_ends_its_searches(client: TestClient) -> None:
    with client.websocket_connect("/api/play") as socket:
        for number in range(limits.MAX_QUESTIONS):
            long = {"game": "connect4", "player": "bundled", "do": "analyse", "nodes": 1_000_000}
            socket.send_text(json.dumps({"id": number, **long, "moves": ["4"] * number}))
        socket.send_text(json.dumps({"id": "one more", **long}))
        while (answer := json.loads(socket.receive_text()))["id"] != "one more":
            pass
        assert "at most 4" in answer["error"]
    wait_until_idle(client)
    assert services(client).trees.bytes == 0


def wait_until_idle(client: TestClient) -> None:
    until = time.monotonic() + SECONDS
    while len(services(client).searches):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_socket_too_many_is_refused(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_SOCKETS", 1)
    with (
        client.websocket_connect("/api/play"),
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect("/api/play"),
    ):
        pass
    with client.websocket_connect("/api/play") as socket:
        ask(socket, {"do": "view", "game": "tictactoe"})


WRONG: list[Any] = [
    "",
    "[]",
    "null",
    "[" * 60_000,
    '{"id": 1}',
    '{"id": 1, "do": "view"}',
    '{"id": 1, "do": "view", "game": "tictactoe", "moves": ["5", "5"]}',
    '{"id": 1, "do": "view", "game": "tictactoe", "moves": "5"}',
    '{"id": 1, "do": "view", "game": "tictactoe", "moves": [5]}',
    '{"id": 1, "do": "view", "game": "tictactoe", "start": {}}',
    '{"id": 1, "do": "view", "game": "../../etc/passwd"}',
    '{"id": 1, "do": "move", "game": "tictactoe", "player": "uci:touch /tmp/x"}',
    '{"id": 1, "do": "move", "game": "tictactoe", "player": "run:../random"}',
    '{"id": 1, "do": "move", "game": "tictactoe", "player": "run:random@99"}',
    '{"id": 1, "do": "move", "game": "connect4", "player": "run:random"}',
    '{"id": 1, "do": "move", "game": "tictactoe", "player": "run:random", "simulations": 1e9}',
    '{"id": 1, "do": "move", "game": "tictactoe", "player": "run:random", "simulations": -1}',
    '{"id": 1, "do": "move", "game": "tictactoe", "player": "run:random", "simulations": true}',
    '{"id": 1, "do": "move", "game": "tictactoe", "player": "run:random", "seconds": NaN}',
    '{"id": 1, "do": "move", "game": "tictactoe", "player": "run:random", "seconds": 1e99}',
    '{"id": 1, "do": "analyse", "game": "tictactoe", "player": "solver"}',
    '{"id": 1, "do": "tree", "game": "tictactoe", "player": "run:random", "path": ["x"]}',
    '{"id": [], "do": "view", "game": "tictactoe"}',
    '{"id": 1, "do": "view", "game": "chess", "start": "' + "9/" * 20_000 + '"}',
]


@pytest.mark.parametrize("message", WRONG, ids=lambda text: text[-60:])
def test_a_wrong_question_gets_one_sentence(socket: WebSocketTestSession, message: str) -> None:
    socket.send_text(message)
    answer = json.loads(socket.receive_text())
    assert answer["error"] and "\n" not in answer["error"] and len(answer["error"]) < 2000
    assert "done" not in answer
    ask(socket, {"do": "view", "game": "tictactoe"})


def test_rules_of_strangers_are_not_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from own_rules import strangers_run

    run, mark = strangers_run(tmp_path, monkeypatch)
    with client_of(Site(folders=[run])) as client:
        assert {game["name"] for game in client.get("/api/games").json()} == {
            "chess",
            "connect4",
            "tictactoe",
        }
        assert client.get("/api/players?game=mine").status_code == 400
        client.get("/api/runs")
        client.get("/api/runs/run")
        client.get("/api/runs/run/games")
    assert not mark.exists()
    with client_of(Site(folders=[run], trust_rules=True)) as client:
        assert "mine" in {game["name"] for game in client.get("/api/games").json()}
    assert mark.exists()
