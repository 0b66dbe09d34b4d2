"""The routes of runs, asked over HTTP: list, page, curves, news, games, and what is refused."""

import asyncio
import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from rookery.games import load_game
from rookery.interface.web import run_shelf, runs
from rookery.interface.web.live_run import LiveRun
from rookery.interface.web.run_columns import spread
from rookery.interface.web.run_control import read_settings
from rookery.interface.web.run_games import find_opening
from rookery.interface.web.run_page import measurements
from rookery.interface.web.run_shelf import RunShelf
from rookery.interface.web.runs import run_routes
from rookery.interface.web.work_threads import NICENESS
from stats_lines import iteration_line, write_stats
from tiny_runs import tiny_run
from web_server import serving


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run, damaged ones, a long one, and what is no run."""
    top = tmp_path_factory.mktemp("runs")
    tiny_run(top / "tiny", selfplay__opening_share=1.0)
    broken = Path(shutil.copytree(top / "tiny", top / "broken"))
    (broken / "run.json").write_text('{"format": 2, "ga')
    cut = Path(shutil.copytree(top / "tiny", top / "cut"))
    with open(cut / "stats.jsonl", "a") as file:
        file.write('{"kind": "iteration", "itera\n')
    bare = Path(shutil.copytree(top / "tiny", top / "bare"))
    for name in ("config.json", "stats.jsonl"):
        (bare / name).unlink()
    shutil.rmtree(bare / "weights")
    write_stats(Path(shutil.copytree(top / "tiny", top / "long")), 10_000)
    outside = tmp_path_factory.mktemp("outside") / "secret"
    shutil.copytree(top / "tiny", outside)
    (top / "link").symlink_to(outside)
    (top / "no run").mkdir()
    return top


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[httpx.Client]:
    """A client of a server of that folder."""
    with serving(folder) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def test_all_runs_are_listed_and_damaged_ones_say_so(client: httpx.Client) -> None:
    until, runs = time.monotonic() + 60, dict[str, dict[str, Any]]()
    while not runs or any(run["state"] == "reading" for run in runs.values()):
        runs = {run["id"]: run for run in client.get("/api/runs").json()}
        assert time.monotonic() < until
    assert runs.keys() == {"tiny", "broken", "cut", "bare", "long"}
    assert runs["tiny"]["state"] == "finished" and runs["tiny"]["game"] == "tictactoe"
    assert runs["tiny"]["iterations"] == 2 and not runs["tiny"]["notes"]
    assert runs["broken"]["state"] == "damaged" and runs["broken"]["iterations"] == 2
    assert runs["broken"]["notes"] == ["broken/run.json is damaged; restore it"]
    assert runs["cut"]["notes"] == ["skipped 1 damaged line of stats.jsonl"]
    assert (
        runs["bare"]["state"] == "damaged" and "config.json is missing" in runs["bare"]["notes"][0]
    )
    assert runs["long"]["strength"]["errors"] == pytest.approx(60 / 10_000)


@pytest.mark.parametrize("name", ["tiny", "broken", "cut", "bare"])
def test_every_page_loads(client: httpx.Client, name: str) -> None:
    page = client.get(f"/api/runs/{name}").json()
    assert page["id"] == name and page["control"] is True
    stats = client.get(f"/api/runs/{name}/stats").json()
    assert stats["columns"]["iteration"] == ([] if name == "bare" else [1, 2])


def test_the_page_tells_what_differs_from_the_recipe(client: httpx.Client) -> None:
    page = client.get("/api/runs/tiny").json()
    differences = {each["name"]: (each["value"], each["recipe"]) for each in page["differences"]}
    assert differences["net.width"] == (8, 32) and "search.considered" not in differences
    assert page["settings"]["net.width"] == 8 and page["nets"]
    assert page["newest"]["positions_per_second"] > 0 and page["newest"]["policy_entropy"] > 0


def test_a_run_of_10_000_iterations_loads_quickly(folder: Path) -> None:
    with serving(folder / "long") as address:
        begun = time.process_time()
        answer = httpx.get(f"{address}/api/runs/long/stats?points=1000", timeout=60)
        taken = time.process_time() - begun
    columns = answer.json()["columns"]
    assert len(columns["iteration"]) == 1000 and len(answer.content) < 400_000
    assert columns["iteration"][0] == 1 and columns["iteration"][-1] == 10_000
    assert columns["loss"][-1] == pytest.approx(3 / 10_000)
    assert taken < 5  # seconds of all threads, less than one alone on a core


def test_runs_are_read_before_the_first_page_is_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_shelf, "FIRST_SECONDS", 60.0)
    shelf = RunShelf([folder])
    shelf.read_ahead()
    assert {run.name: len(run.columns) for run in shelf.runs()}["long"] == 10_000


def test_measurements_have_their_intervals(client: httpx.Client) -> None:
    found = client.get("/api/runs/long/stats?points=2").json()["measurements"]
    strength = found["strength"]
    assert strength["errors"][0] == 30 and strength["low"][0] == 25 and strength["high"][0] == 35


def test_elo_follows_when_it_is_computed(folder: Path, tmp_path: Path) -> None:
    run = LiveRun("own", write_stats(Path(shutil.copytree(folder / "tiny", tmp_path / "own")), 8))
    until = time.monotonic() + 60
    while not (ratings := run.refresh().ratings()):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert list(ratings) == [2, 4, 6, 8] == measurements(run)["elo"]["iteration"]


def test_absurd_figures_break_no_page(folder: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(folder / "tiny", tmp_path / "own"))
    lines = [iteration_line(number) for number in range(3, 8)]
    lines[0]["seconds"] = float("inf")
    lines[1]["selfplay"] |= {"positions": 10**400}  # type: ignore[operator]
    lines[2] = {"kind": "started", "iteration": 5, "device": "", "precision": "", "seconds": "x"}
    lines[3]["learning"] |= {"learning_rate": float("nan")}  # type: ignore[operator]
    lines[4]["device"] = {"busy": float("inf"), "memory_mb": 1.0}
    with open(path / "stats.jsonl", "a") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines))
    (Path(shutil.copytree(path, tmp_path / "odd")) / "run.json").write_text('{"format": Infinity}')
    with serving(tmp_path) as address:
        own = httpx.get(f"{address}/api/runs/own", timeout=60).json()
        stats = httpx.get(f"{address}/api/runs/own/stats", timeout=60).json()
        odd = httpx.get(f"{address}/api/runs/odd", timeout=60).json()
    assert own["notes"] == ["skipped 3 damaged lines of stats.jsonl"] and odd["state"] == "damaged"
    assert stats["columns"]["iteration"] == [1, 2, 6, 7]
    assert stats["columns"]["learning_rate"][2:] == [None, 1e-3]


@pytest.mark.parametrize(("count", "points"), [(5, 10), (10, 10), (11, 10), (10_000, 7), (9, 1)])
def test_thinning_keeps_the_ends(count: int, points: int) -> None:
    rows = list(spread(range(count), points))
    assert len(rows) == min(count, points) and rows == sorted(set(rows)) and rows[-1] == count - 1
    assert points == 1 or rows[0] == 0


def test_nothing_is_read_while_nothing_changes(folder: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(folder / "tiny", tmp_path / "own"))
    run, reads = LiveRun("own", path).refresh(), 0
    read = run._tail.read

    def counting() -> object:
        nonlocal reads
        reads += 1
        return read()

    run._tail.read = counting  # type: ignore[method-assign,assignment]
    version = run.version
    for _ in range(3):
        run._looked_at = -1.0
        run.refresh()
    assert reads == 0 and run.version == version
    with open(path / "stats.jsonl", "a") as file:
        file.write(json.dumps(iteration_line(3)) + "\n")
    run._looked_at = -1.0
    run.refresh()
    assert reads == 1 and run.version > version and len(run.columns) == 3 and run.era == 1


def test_news_hold_only_what_is_new(folder: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(folder / "tiny", tmp_path / "own"))
    with serving(path) as address:
        known = httpx.get(f"{address}/api/runs/own/stats", timeout=60).json()
        query = {"rows": known["rows"], "era": known["era"]}
        with httpx.stream(
            "GET", f"{address}/api/runs/own/events", params=query, timeout=60
        ) as news:
            assert news.headers["content-type"].startswith("text/event-stream")
            messages = (json.loads(line[5:]) for line in news.iter_lines() if line[:5] == "data:")
            first = next(messages)
            assert first["columns"] == {} and first["run"]["iterations"] == 2
            with open(path / "stats.jsonl", "a") as file:
                file.write(json.dumps(iteration_line(3)) + "\n")
            second = next(messages)
    assert second["columns"]["iteration"] == [3] and second["rows"] == 3
    assert second["run"]["state"] == "stopped" and "measurements" not in second


def test_games_can_be_replayed_from_the_start(client: httpx.Client) -> None:
    games = client.get("/api/runs/tiny/games?games=20").json()
    rules = load_game("tictactoe")
    assert len(games) == 20 and any(game["opening"] for game in games)
    for game in games:
        state = rules.new_states(1)[0]
        for move in game["moves"]:
            rules.rules.play(state, rules.read_move(state, move))
        assert rules.rules.outcome(state) != rules.rules.outcome(rules.new_states(1)[0])
        assert len(game["search"]) == len(game["moves"]) - game["opening"]
        assert all(-1 <= each["value"] <= 1 for each in game["search"])


def test_openings_of_games_with_stones_are_found() -> None:
    rules = load_game("connect4")
    actions = [3, 3, 2, 4, 1, 0, 6, 6, 6, 2, 3, 5]
    target = rules.replay(actions)
    found = find_opening(rules, target, len(actions))
    assert found is not None and rules.replay(found).tobytes() == target.tobytes()
    assert find_opening(rules, target, len(actions) - 1) is None


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/api/runs/none", 404, "there is no run"),
        ("/api/runs/..%2f..%2fetc", 404, ""),
        ("/api/runs/link", 404, "there is no run"),
        ("/api/runs/secret/stats", 404, "there is no run"),
        ("/api/runs/tiny/stats?points=0", 400, "points is '0'"),
        ("/api/runs/tiny/stats?points=1e9", 400, "points"),
        ("/api/runs/tiny/stats?from=-1", 400, "from is '-1'"),
        ("/api/runs/tiny/games?games=99999999", 400, "games"),
        ("/api/runs/broken/games", 400, "broken/run.json is damaged"),
    ],
)
def test_wrong_questions_get_one_sentence(
    client: httpx.Client, folder: Path, path: str, status: int, words: str
) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    assert words in answer.json()["error"] and str(folder) not in answer.text


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("", {"game": "go", "minutes": 1}, "there is no game 'go'"),
        ("", {"game": "/etc/passwd.py", "minutes": 1}, "there is no game"),
        ("", {"game": "tictactoe"}, "minutes must be a number"),
        ("", {"game": "tictactoe", "minutes": -1}, "minutes must be a number"),
        ("", {"game": "tictactoe", "minutes": 1, "settings": {"net.wide": 1}}, "net.wide"),
        ("", {"game": "tictactoe", "minutes": 1, "settings": {"net.width": "x"}}, "net.width"),
        ("", {"game": "tictactoe", "minutes": 1, "settings": {"game": "a.py"}}, "cannot be set"),
        ("", [1], "expected a JSON object"),
        ("/tiny/stop", {}, "tiny is not being trained"),
        ("/tiny/resume", {"minutes": 1e-6}, "has taken"),
        ("/broken/resume", {"minutes": 5}, "broken/run.json is damaged"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_sentence(
    client: httpx.Client, folder: Path, path: str, body: object, words: str
) -> None:
    before = sorted(os.listdir(folder))
    origin = {"Origin": str(client.base_url).rstrip("/")}
    answer = client.post(f"/api/runs{path}", json=body, headers=origin)
    assert answer.status_code == 400 and words in answer.json()["error"]
    assert "\n" not in answer.json()["error"] and str(folder) not in answer.text
    assert sorted(os.listdir(folder)) == before


def test_other_sites_cannot_start_runs(client: httpx.Client) -> None:
    body = {"game": "tictactoe", "minutes": 1}
    answer = client.post("/api/runs", json=body, headers={"Origin": "http://evil.example"})
    assert answer.status_code == 403


def test_settings_that_name_programs_are_for_terminals() -> None:
    assert read_settings({"net.width": 8, "search.prove": True}) == [
        "net.width=8",
        "search.prove=true",
    ]
    for name in ("run.elo_anchors", " run.cluster ", "recipe"):
        with pytest.raises(ValueError, match="cannot be set from the page"):
            read_settings({name: "uci:rm"})


def test_a_server_without_control_refuses(folder: Path) -> None:
    app = Starlette(routes=run_routes(RunShelf([folder]), refusal="only the owner starts runs"))

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.post("/api/runs/tiny/resume", json={"minutes": 1})

    answer = asyncio.run(ask())
    assert answer.status_code == 403 and answer.json() == {"error": "only the owner starts runs"}


def test_runs_that_are_examined_hold_up_no_other_page(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The doctor takes seconds per run; a server has 40 threads for all short requests."""
    is_over, examined = threading.Event(), list[int]()

    def examine(run: LiveRun) -> list[Any]:
        is_over.wait(60)
        return [os.getpriority(os.PRIO_PROCESS, threading.get_native_id())]

    monkeypatch.setattr(runs, "_findings", examine)
    with serving(folder / "tiny") as address:

        def ask() -> None:
            examined.extend(httpx.get(f"{address}/api/runs/tiny/doctor", timeout=120).json())

        threads = [threading.Thread(target=ask) for _ in range(50)]
        for thread in threads:
            thread.start()
        time.sleep(1)
        assert httpx.get(f"{address}/api/runs/tiny", timeout=20).json()["id"] == "tiny"
        assert not examined
        is_over.set()
        for thread in threads:
            thread.join()
    assert len(examined) == 50
    assert sys.platform != "linux" or set(examined) == {NICENESS}
