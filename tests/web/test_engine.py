"""The shared engine: fair turns, limits, and nothing left behind."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import cast

import numpy as np
import pytest

from fake_time import FakeTime
from rookery.api import Analysis, Board, Net
from rookery.base import ConfigError, IllegalPosition
from rookery.games import load_game
from rookery.interface.web import engine as engine_module
from rookery.interface.web import searches
from rookery.interface.web.engine import Answer, Engine, Floats, Job, Steps, Wanted
from rookery.interface.web.evaluations import Evaluations
from rookery.interface.web.nets import Remembering
from rookery.interface.web.searches import Asked, move_steps
from rookery.interface.web.trees import MEGABYTE, Trees
from rookery.search import Evaluator, nodes_in_memory

SECONDS = 60.0


class User:
    """An owner of questions."""

    is_closed = False


@pytest.fixture
def one_thread() -> Iterator[Engine]:
    engine = Engine(1, name="test")
    yield engine
    engine.close()


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.005)


def steps(log: list[str], name: str, count: int) -> Steps:
    for _ in range(count):
        log.append(name)
        yield None


def run_all(engine: Engine, jobs: list[Job]) -> None:
    """Queue jobs while the thread is busy, then let it go."""
    gate = threading.Event()

    def hold() -> Steps:
        gate.wait(SECONDS)
        yield None

    engine.submit(Job(User(), hold(), print))
    for job in jobs:
        engine.submit(job)
    gate.set()
    wait_until(lambda: len(engine) == 0)


def test_users_take_turns_however_many_questions_they_have(one_thread: Engine) -> None:
    log: list[str] = []
    busy, quiet = User(), User()
    jobs = [Job(busy, steps(log, "busy", 8), print) for _ in range(4)]
    run_all(one_thread, [*jobs, Job(quiet, steps(log, "quiet", 8), print)])
    assert log[:16] == ["busy", "quiet"] * 8 and log.count("busy") == 32


def test_a_cancelled_question_gets_no_further_slice(one_thread: Engine) -> None:
    log: list[str] = []
    answers: list[Answer] = []
    job = Job(User(), steps(log, "x", 10**9), answers.append)
    one_thread.submit(job)
    wait_until(lambda: len(log) > 3)
    job.is_cancelled = True
    wait_until(lambda: len(one_thread) == 0)
    done = len(log)
    time.sleep(0.05)
    assert len(log) == done and answers == []


def test_a_cancelled_search_gives_its_memory_back(one_thread: Engine) -> None:
    closed = threading.Event()

    def search() -> Steps:
        try:
            while True:
                yield None
        finally:
            closed.set()

    job = Job(User(), search(), print)
    one_thread.submit(job)
    time.sleep(0.05)
    job.is_cancelled = True
    assert closed.wait(SECONDS)


@pytest.mark.parametrize(
    ("error", "told"),
    [(IllegalPosition("not so"), "not so"), (ZeroDivisionError(), engine_module.FAILED)],
)
def test_errors_become_answers_and_the_thread_lives_on(
    one_thread: Engine, error: Exception, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> Steps:
        raise error
        yield None

    answers: list[Answer] = []
    for _ in range(3):
        one_thread.submit(Job(User(), fail(), answers.append))
    wait_until(lambda: len(one_thread) == 0)
    assert answers == [{"error": told}] * 3


def test_too_many_questions_are_refused(
    one_thread: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "MAX_WAITING", 3)
    log: list[str] = []
    jobs = [Job(User(), steps(log, "x", 10**9), print) for _ in range(4)]
    for job in jobs[:3]:
        one_thread.submit(job)
    with pytest.raises(ConfigError, match="too many"):
        one_thread.submit(jobs[3])
    for job in jobs:
        job.is_cancelled = True
    wait_until(lambda: len(one_thread) == 0)


def test_a_closed_engine_leaves_no_thread() -> None:
    before = threading.active_count()
    engine = Engine(3, name="test")
    assert threading.active_count() == before + 3
    engine.close()
    assert threading.active_count() == before
    with pytest.raises(ConfigError):
        engine.submit(Job(User(), steps([], "", 1), print))


GAME = load_game("tictactoe")


def uniform(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((len(planes), 9), np.float32), np.full((len(planes), 3), 1 / 3, np.float32)


def analysis(nodes: int) -> Analysis:
    return Analysis(Board(GAME), uniform, max_nodes=nodes)


def test_idle_trees_make_room_for_new_ones_and_busy_ones_stay() -> None:
    nodes = nodes_in_memory(GAME, 4)
    trees, user = Trees(max_bytes=10 * MEGABYTE), User()
    with trees.use(user, "busy", game=GAME, nodes=nodes, make=analysis):
        with trees.use(user, "old", game=GAME, nodes=nodes, make=analysis):
            assert len(trees) == 2
        with trees.use(user, "new", game=GAME, nodes=nodes, make=analysis):
            assert trees.find(user, "old") is None and trees.find(user, "busy") is not None
            with (
                pytest.raises(ConfigError, match="too many positions"),
                trees.use_once(game=GAME, nodes=nodes, make=analysis),
            ):
                pass
    trees.drop(user)
    assert (len(trees), trees.bytes) == (0, 0)


def test_a_tree_is_continued_and_given_up_when_its_user_has_gone() -> None:
    trees, user = Trees(), User()
    with trees.use(user, "here", game=GAME, nodes=50, make=analysis) as tree:
        tree.analysis.grow(20)
    with trees.use(user, "here", game=GAME, nodes=50, make=analysis) as again:
        assert again is tree and again.analysis.nodes == 20
        user.is_closed = True
        trees.drop(user)
    assert (len(trees), trees.bytes) == (0, 0)


def test_failing_to_make_a_tree_costs_nothing() -> None:
    trees = Trees()

    def fail(nodes: int) -> Analysis:
        raise IllegalPosition("no")

    for use in (
        trees.use(User(), "x", game=GAME, nodes=9, make=fail),
        trees.use_once(game=GAME, nodes=9, make=fail),
    ):
        with pytest.raises(IllegalPosition), use:
            pass
    assert (len(trees), trees.bytes) == (0, 0)


def test_remembered_evaluations_are_those_of_the_network() -> None:
    calls = []

    def evaluate(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        calls.append(len(planes))
        sums = planes.reshape(len(planes), -1).sum(1, keepdims=True)
        return np.repeat(sums, 9, 1), np.repeat(sums, 3, 1)

    remembering = Remembering(evaluate, max_bytes=100_000)
    planes = np.arange(4 * 18, dtype=np.float32).reshape(4, 2, 3, 3)
    first = remembering(planes[:3])
    again = remembering(planes[[3, 1, 1]])
    assert calls == [3, 1]
    assert np.array_equal(again[0][1], first[0][1]) and again[1][0, 0] == planes[3].sum()
    many = np.random.default_rng(1).random((2000, 2, 3, 3), np.float32)
    remembering(many)
    assert len(remembering._known) < 300


def checked(planes: Floats) -> tuple[Floats, Floats]:
    if planes.max() > 99:
        raise IllegalPosition("too large")
    return planes[:, :, 0, 0], planes[:, :1, 0, 0]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_shared_evaluations_are_those_of_the_network(threads: int) -> None:
    evaluations = Evaluations(threads)
    shared = evaluations.shared(checked)
    for count in (1, 2, 3, 4, 9, 64):
        planes = np.arange(count * 18, dtype=np.float32).reshape(count, 2, 3, 3) % 100
        for found, expected in zip(shared(planes), checked(planes), strict=True):
            assert np.array_equal(found, expected)
    planes[-1] = 100
    with pytest.raises(IllegalPosition, match="too large"):
        shared(planes)
    evaluations.close()


def search(evaluator: Evaluator, sizes: list[int], found: list[Floats]) -> Steps:
    for size in sizes:
        logits, _ = yield Wanted(evaluator, np.full((size, 2, 3, 3), size, np.float32))
        found.append(logits)
    yield {"done": True}


def test_searches_share_batches_and_get_their_own_rows_back() -> None:
    engine, batches = Engine(1, name="test", jobs_per_turn=8), list[int]()

    def counted(planes: Floats) -> tuple[Floats, Floats]:
        batches.append(len(planes))
        return checked(planes)

    found: list[list[Floats]] = [[], [], []]
    answers: list[Answer] = []
    wanted = [[1, 4], [2, 3, 5], [7]]
    jobs = [
        Job(User(), search(counted, sizes, found[number]), answers.append)
        for number, sizes in enumerate(wanted)
    ]
    run_all(engine, jobs)
    engine.close()
    assert batches == [10, 7, 5]
    assert answers == [{"done": True}] * 3
    for sizes, each in zip(wanted, found, strict=True):
        assert [rows.tolist() for rows in each] == [[[size, size]] * size for size in sizes]


def test_an_error_of_the_network_reaches_those_who_asked_it() -> None:
    engine, answers = Engine(1, name="test", jobs_per_turn=8), list[Answer]()

    def broken(planes: Floats) -> tuple[Floats, Floats]:
        raise IllegalPosition("broken")

    jobs = [
        Job(User(), search(evaluator, [1], []), answers.append) for evaluator in (broken, checked)
    ]
    run_all(engine, jobs)
    engine.close()
    assert sorted(answers, key=str) == [{"done": True}, {"error": "broken"}]


def test_a_move_by_time_is_made_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock takes a second: one at the start, one before each batch."""
    monkeypatch.setattr(searches, "time", FakeTime(tick=1.0))
    asked, net = Asked("tictactoe", GAME, "", ("5",)), cast(Net, uniform)
    moving = move_steps(asked, net, Trees(), simulations=1, seconds=5.0)
    answer, batches = next(moving), 0
    while isinstance(answer, Wanted):
        answer, batches = moving.send(uniform(answer.planes)), batches + 1
    assert batches == 4
    assert answer is not None and answer["done"] and answer["move"] in "12346789"
