"""`rookery analyse`: positions from arguments, a file or stdin; answers in the same order."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_line import Mistake, Rookery
from rookery.api import Analyser, analyser, read_net
from rookery.api.analyser import PaddedEvaluator
from rookery.base import IllegalPosition
from rookery.interface.line_queue import LineQueue

DEADLINE_SECONDS = 240
POSITIONS = ["", "5", "1", "15", "152", "1523", "9", "95", "951", "3", "37", "375", "2", "28"] * 2


def answers(out: str) -> list[dict[str, Any]]:
    """Return the JSON objects of the lines."""
    return [json.loads(line) for line in out.splitlines()]


def test_every_line_is_answered(rookery: Rookery, finished_run: Path) -> None:
    answer = rookery("analyse", finished_run, "--simulations", 16, typed="\n5\n1425\n")
    start, centre, winning = answers(answer.out)
    assert answer.code == 0
    assert start["position"] == "" and sorted(start["policy"]) == list("123456789")
    assert sum(start["visits"].values()) == 16
    assert "5" not in centre["policy"] and centre["move"] in centre["policy"]
    assert sum(centre["policy"].values()) == pytest.approx(1, abs=1e-3)
    assert winning["move"] == "3" and winning["value"] == 1 and winning["wdl"] == [1, 0, 0]
    for found in (start, centre):
        win, draw, loss = found["wdl"]
        assert win + draw + loss == pytest.approx(1, abs=1e-3)
        assert win - loss == pytest.approx(found["value"], abs=1e-3)


def test_bad_lines_are_answered_with_an_error_and_exit_code_2(
    rookery: Rookery, finished_run: Path
) -> None:
    answer = rookery("analyse", finished_run, "--simulations", 2, typed="55\nx\n14253\n5\n")
    taken, strange, over, good = answers(answer.out)
    assert answer.code == 2 and answer.err == ""
    assert "taken" in taken["error"] and "got 'x'" in strange["error"]
    assert "over" in over["error"] and over["position"] == "14253"
    assert "error" not in good and good["move"]


def test_chess_takes_a_fen_and_answers_in_san(rookery: Rookery, chess_run: Path) -> None:
    mate = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"
    answer = rookery("analyse", chess_run, mate, "startpos moves e2e5", "--simulations", 64)
    found, illegal = answers(answer.out)
    assert answer.code == 2 and "'e2e5' is not a legal move" in illegal["error"]
    assert found["move"] == "Rd8#" and found["value"] == 1 and "Kf1" in found["policy"]


def test_arguments_a_file_and_stdin_give_the_same_answers(
    rookery: Rookery, finished_run: Path, tmp_path: Path
) -> None:
    file, text = tmp_path / "positions.txt", "\n".join([*POSITIONS, "55"])
    file.write_text(f"{text}\r\n")
    command = ("analyse", finished_run, "--simulations", 8)
    given = rookery(*command, *POSITIONS, "55")
    assert [answer["position"] for answer in answers(given.out)] == [*POSITIONS, "55"]
    for other in (rookery(*command, "--file", file), rookery(*command, typed=text)):
        assert (other.code, other.out) == (given.code, given.out) == (2, given.out)


def test_a_file_that_cannot_be_read_is_a_mistake(
    mistake: Mistake, finished_run: Path, tmp_path: Path
) -> None:
    missing = mistake("analyse", finished_run, "--file", tmp_path / "none")
    assert f"there is no file {tmp_path / 'none'}" in missing
    assert "choose one" in mistake("analyse", finished_run, "5", "--file", tmp_path / "none")


@pytest.mark.parametrize("method", ["gumbel", "puct"])
def test_an_answer_does_not_depend_on_its_batch(
    monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """The bundled network is large enough for other kernels at other batch sizes."""
    net = read_net("connect4:4")
    assert net is not None
    net = replace(net, search=replace(net.search, method=method), inference="float32")
    texts = ["", "4", "44", "443", "4433", "1", "17", "172", "2", "26", "263", "5", "53", "531"]
    batched = Analyser.of_net(net).analyse([*texts, *texts])
    assert batched[: len(texts)] == batched[len(texts) :]
    assert Analyser.of_net(net).analyse(texts[::-1]) == batched[: len(texts)][::-1]
    other_seed = Analyser.of_net(replace(net, seed=99))
    assert [other_seed.analyse([text])[0] for text in texts[:4]] == batched[:4]
    monkeypatch.setattr(analyser, "MAX_BATCH", 3)
    narrow = Analyser.of_net(net)
    assert narrow.batch_size == 3 and narrow.analyse(texts[3:6]) == batched[3:6]


def test_rows_are_filled_up_to_full_batches() -> None:
    sizes = []

    def evaluate(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sizes.append(len(planes))
        return planes[:, 0, 0], planes[:, 0, 0]

    planes = np.arange(2 * 19 * 9, dtype=np.float32).reshape(19, 2, 3, 3)
    logits, wdl = PaddedEvaluator(evaluate, 16)(planes)
    assert sizes == [16, 16] and len(wdl) == 19 and (logits == planes[:, 0, 0]).all()


def test_many_simulations_are_searched_in_smaller_batches(finished_run: Path) -> None:
    net = read_net(f"{finished_run}:100000")
    assert net is not None
    assert Analyser.of_net(net).batch_size < analyser.MAX_BATCH
    small = Analyser.of_net(replace(net, simulations=10))
    assert small.batch_size == analyser.MAX_BATCH
    assert isinstance(small.analyse(["55"])[0], IllegalPosition) and small.analyse([]) == []


def test_lines_are_batched_as_they_arrive() -> None:
    queue = LineQueue(f" {number}\n" for number in range(7))
    queue._thread.join()
    assert list(queue.batches(3)) == [["0", "1", "2"], ["3", "4", "5"], ["6"]]


def start(environment: dict[str, str], run: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "rookery", "analyse", str(run), "--simulations", "2"]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment
    )


def test_a_slow_producer_gets_every_answer_at_once(
    environment: dict[str, str], finished_run: Path
) -> None:
    process = start(environment, finished_run)
    assert process.stdin and process.stdout
    for position in ("5", "x", "51"):
        process.stdin.write(f"{position}\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["position"] == position
    out, err = process.communicate("512", timeout=DEADLINE_SECONDS)
    assert json.loads(out)["position"] == "512"
    assert process.returncode == 2 and err == ""


def test_ctrl_c_while_waiting_for_a_line_is_quiet(
    environment: dict[str, str], finished_run: Path
) -> None:
    process = start(environment, finished_run)
    assert process.stdin and process.stdout
    process.stdin.write("5\n")
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(DEADLINE_SECONDS) == 130
    assert process.stderr and process.stderr.read() == ""
    process.communicate()
