"""The web app: time of replies, first load, hostile requests, and its cost for a training.

    python benchmarks/serve.py [replies] [load] [run] [hostile] [training] [--players 1,10]

Every part starts `rookery serve` as its own process and talks to it over HTTP and WebSockets.
`replies` plays Connect Four against the bundled network at 100 simulations; the persons answer at
once with random legal moves. `run` opens the page of a run of 10,000 iterations in Chromium, each
time in a new profile, until its charts are drawn. `training` alternates runs without and with a
server that watches.
"""

import argparse
import asyncio
import gzip
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
from heading import print_heading, print_table
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from rookery.base import available_cores

ROOT = Path(__file__).parents[1]
PARTS = ("replies", "load", "run", "hostile", "training")
SIMULATIONS = 100
GAMES = 5
"""Games per player."""
HOSTILE = 10_000
ITERATIONS = 10_000
VISITS = 5
WAIT_SECONDS = 5.0
"""Between the start of a server and the first visit."""
TIMEOUT = 300.0
TRAIN = ("train", "connect4", "--set", "run.strength_every=0")


@contextmanager
def serving(*words: str) -> Iterator[tuple[psutil.Process, str]]:
    """A server process and its address."""
    command = [sys.executable, "-m", "rookery", "serve", "--no-browser", "--port", "0", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found, "the server did not start"
        httpx.get(found[0], timeout=TIMEOUT)
        try:
            yield psutil.Process(process.pid), found[0].rstrip("/")
        finally:
            process.terminate()


async def ask(socket: ClientConnection, question: dict[str, Any]) -> dict[str, Any]:
    """Return the last answer to a question."""
    await socket.send(json.dumps({"id": 1, **question}))
    while True:
        answer: dict[str, Any] = json.loads(await asyncio.wait_for(socket.recv(), TIMEOUT))
        assert "error" not in answer, answer
        if "view" in answer or "done" in answer:
            return answer


async def play(address: str, seed: int) -> list[float]:
    """Play games and return the seconds of each reply."""
    stream, seconds = random.Random(seed), list[float]()
    game = {"game": "connect4", "player": "bundled", "simulations": SIMULATIONS}
    url = address.replace("http", "ws", 1) + "/api/play"
    async with connect(url, origin=Origin(address)) as socket:
        for _ in range(GAMES):
            moves: list[str] = []
            view = (await ask(socket, {**game, "do": "view", "moves": moves}))["view"]
            while not view["over"]:
                moves.append(stream.choice(view["moves"])["move"])
                begin = time.perf_counter()
                view = (await ask(socket, {**game, "do": "view", "moves": moves}))["view"]
                if view["over"]:
                    break
                answer = await ask(socket, {**game, "do": "move", "moves": moves})
                seconds.append(time.perf_counter() - begin)
                moves.append(answer["move"])
                view = answer["view"]
    return seconds


async def play_all(address: str, players: int) -> list[float]:
    """Return the seconds of all replies to several players at once."""
    played = await asyncio.gather(*(play(address, seed) for seed in range(players)))
    return [each for part in played for each in part]


def measure_replies(players: list[int]) -> None:
    """Print percentiles of replies by number of players."""
    headings = ["players", "replies", "median, ms", "95 %", "99 %", "longest"]
    for count in players:
        with serving() as (_, address):
            asyncio.run(warm(address))
            found = sorted(asyncio.run(play_all(address, count)))
        cuts = statistics.quantiles(found, n=100)
        numbers = [cuts[49], cuts[94], cuts[98], found[-1]]
        row = [str(count), str(len(found)), *(f"{1000 * each:.0f}" for each in numbers)]
        print_table(headings, [row])


async def warm(address: str) -> None:
    """Load the network and compile kernels with one move, far from the games that follow."""
    url = address.replace("http", "ws", 1) + "/api/play"
    async with connect(url, origin=Origin(address)) as socket:
        moves = list("7171717")[:6]
        question = {"game": "connect4", "player": "bundled", "simulations": 1, "moves": moves}
        await ask(socket, {**question, "do": "move"})


def measure_load() -> None:
    """Print the compressed bytes of what the page needs first."""
    with serving() as (_, address):
        names, total = ["/"], 0
        for name in names:
            with httpx.stream("GET", address + name, timeout=TIMEOUT) as answer:
                sent = b"".join(answer.iter_raw())
                is_packed = answer.headers.get("content-encoding") == "gzip"
            total += len(sent)
            text = (gzip.decompress(sent) if is_packed else sent).decode("utf-8", "replace")
            found = re.findall(r'(?:src|href)="(/static/[^"]+)"', text) if name == "/" else []
            names += [each for each in found if each not in names]
    print(f"first load: {len(names)} files, {total / 1000:.1f} kB compressed")


def measure_run() -> None:
    """Print the seconds until the charts of a long run are drawn."""
    sys.path.insert(0, str(ROOT / "tests"))
    from browsing import chromium, seconds_to_charts
    from long_runs import lengthen
    from tiny_runs import tiny_run

    with tempfile.TemporaryDirectory() as folder:
        lengthen(tiny_run(Path(folder) / "long"), ITERATIONS)
        with chromium() as browser:
            for kind, wait in (("run read ahead", WAIT_SECONDS), ("server just started", 0.0)):
                with serving(folder) as (_, address):
                    time.sleep(wait)
                    found = []
                    for _ in range(VISITS):
                        page = browser.new_context().new_page()
                        found.append(seconds_to_charts(page, f"{address}/#/runs/long"))
                        page.context.close()
                numbers = ", ".join(f"{each:.2f}" for each in found)
                print(f"page of {ITERATIONS:,} iterations, {kind}: {numbers} s")


def measure_hostile(count: int) -> None:
    """Print the answers to hostile requests and what they left behind."""
    sys.path.insert(0, str(ROOT / "tests"))
    with tempfile.TemporaryDirectory() as folder, serving(folder) as (process, address):
        asyncio.run(attack(address, count // 10, seed=0))
        before = usage(process)
        begin = time.perf_counter()
        codes = asyncio.run(attack(address, count, seed=1))
        seconds = time.perf_counter() - begin
        time.sleep(2)
        after = usage(process)
    print(f"{count:,} hostile requests and messages in {seconds:.0f} s; answers: {codes}")
    for name, was in before.items():
        print(f"{name}: {was} before, {after[name]} after")


async def attack(address: str, count: int, *, seed: int) -> dict[str, int]:
    """Send half as HTTP requests and half as messages; return how they were answered."""
    from hostile_requests import Hostile

    hostile, codes = Hostile(seed), dict[str, int]()
    url = address.replace("http", "ws", 1) + "/api/play"
    for _ in range(count // 2):
        method, target, headers, body = hostile.request()
        status = await send(address, method, target, {"origin": address, **headers}, body)
        codes[status] = codes.get(status, 0) + 1
    async with connect(url, origin=Origin(address)) as socket:
        for _ in range(count // 2):
            await socket.send(hostile.question().encode("utf-8", "replace"), text=True)
            await socket.send('{"id": "mark", "do": "view", "game": "tictactoe"}')
            while (answer := json.loads(await asyncio.wait_for(socket.recv(), TIMEOUT)))[
                "id"
            ] != "mark":
                kind = "error" if "error" in answer else "answer"
                codes[kind] = codes.get(kind, 0) + 1
    return codes


async def send(
    address: str, method: str, target: str, headers: dict[str, str], body: bytes | str | None
) -> str:
    """Send a request as it is, which libraries refuse; return the status, or that there is none."""
    host, port = address.removeprefix("http://").split(":")
    content = (body or "").encode() if isinstance(body, str | None) else body
    lines = {"host": f"{host}:{port}", "content-length": str(len(content)), **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    request = f"{method} {target} HTTP/1.1\r\n{head}connection: close\r\n\r\n"
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(request.encode("utf-8", "surrogatepass") + content)
        answer = await asyncio.wait_for(reader.read(12), TIMEOUT)
        return answer[9:12].decode() or "closed"
    except ConnectionError:
        return "closed"
    finally:
        writer.close()


def usage(process: psutil.Process) -> dict[str, float]:
    """Return what a process holds."""
    return {
        "threads": process.num_threads(),
        "open files": process.num_fds(),
        "memory, MB": round(process.memory_info().rss / 2**20),
    }


def measure_training(minutes: float, pairs: int) -> None:
    """Print positions per second of runs without and with a watching server."""
    speeds: dict[bool, list[float]] = {False: [], True: []}
    shares = list[float]()
    for pair in range(2 * pairs):
        is_watched = pair % 4 in (1, 2)  # both orders
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run"
            command = [sys.executable, "-m", "rookery", *TRAIN, "--run", str(run)]
            command += ["--minutes", str(minutes)]
            training = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            if is_watched:
                with serving(folder) as (process, address):
                    before, begin = sum(process.cpu_times()[:2]), time.perf_counter()
                    asyncio.run(watch(address, training))
                    used = sum(process.cpu_times()[:2]) - before
                    shares.append(used / (time.perf_counter() - begin) / available_cores())
            training.wait()
            speeds[is_watched].append(positions_per_second(run))
    for is_watched, found in speeds.items():
        name = "watched" if is_watched else "alone"
        numbers = ", ".join(f"{each:.0f}" for each in found)
        print(f"{name}: {statistics.mean(found):.1f} positions/s ({numbers})")
    change = statistics.mean(speeds[True]) / statistics.mean(speeds[False]) - 1
    print(f"difference: {100 * change:+.2f} %")
    print("the server used", ", ".join(f"{100 * each:.2f} %" for each in shares), "of all cores")


async def watch(address: str, training: "subprocess.Popen[bytes]") -> None:
    """Follow the events of a run until it ends."""
    async with httpx.AsyncClient(base_url=address, timeout=TIMEOUT) as client:
        while training.poll() is None:
            await client.get("/api/runs/run/stats?points=1000")
            try:
                async with client.stream("GET", "/api/runs/run/events") as answer:
                    async for _ in answer.aiter_lines():
                        if training.poll() is not None:
                            return
            except httpx.HTTPError:
                await asyncio.sleep(1)


def positions_per_second(run: Path) -> float:
    """Return the positions of a run per second of its time, the first iteration left out."""
    lines = [json.loads(line) for line in (run / "stats.jsonl").read_text().splitlines()]
    played = [line for line in lines if line["kind"] == "iteration"]
    seconds = played[-1]["seconds"] - played[0]["seconds"]
    return float(sum(line["selfplay"]["positions"] for line in played[1:]) / seconds)


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=PARTS, help=", ".join(PARTS))
    parser.add_argument("--players", default="1,10")
    parser.add_argument("--hostile", type=int, default=HOSTILE)
    parser.add_argument("--minutes", type=float, default=3.0, help="length of each training")
    parser.add_argument("--pairs", type=int, default=2)
    options = parser.parse_args()
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    print_heading()
    if "replies" in options.parts:
        measure_replies([int(each) for each in options.players.split(",")])
    if "load" in options.parts:
        measure_load()
    if "run" in options.parts:
        measure_run()
    if "hostile" in options.parts:
        measure_hostile(options.hostile)
    if "training" in options.parts:
        measure_training(options.minutes, options.pairs)


if __name__ == "__main__":
    main()
