"""How a pool treats its workers, with fake workers and a fake clock; no process is started."""

from dataclasses import dataclass, replace

import pytest

from rookery import __version__
from rookery.workers import (
    Failed,
    Heartbeat,
    Message,
    Ready,
    RestartPolicy,
    Worker,
    WorkerEvent,
    WorkerPool,
    WorkersLost,
    WorkerStats,
)

POLICY = RestartPolicy(
    silence_seconds=10.0,
    start_seconds=60.0,
    failures=3,
    period_seconds=100.0,
    first_pause=1.0,
    longest_pause=3.0,
)


@dataclass(frozen=True)
class FakeReady(Ready):
    """A message that says more than Ready."""

    games: int


@dataclass(frozen=True)
class FakeWork(Message):
    """A result of a fake worker."""

    number: int


class FakeWorker(Worker):
    """A worker that does what a test says."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.outbox: list[Message] = []
        self.sent: list[Message] = []
        self.is_in_queue, self.is_killed, self.end = False, False, ""

    def received(self) -> list[Message]:
        found, self.outbox = self.outbox, []
        return found

    def send(self, message: Message) -> None:
        self.sent.append(message)

    def is_queued(self) -> bool:
        return self.is_in_queue

    def death(self) -> str:
        return self.end

    def kill(self) -> None:
        self.is_killed = True

    def _read(self) -> None:
        raise AssertionError("nothing is read from a fake worker")


class Fixture:
    """A pool of fake workers, and its clock."""

    def __init__(self, size: int = 1, policy: RestartPolicy = POLICY) -> None:
        self.now = 1000.0
        self.events: list[WorkerEvent] = []
        self.started: list[tuple[str, int, int]] = []
        self.workers: dict[int, FakeWorker] = {}
        self.pool = WorkerPool(
            "actor",
            size,
            self._start,
            policy=policy,
            on_event=self.events.append,
            clock=lambda: self.now,
        )

    def _start(self, name: str, number: int, start: int) -> FakeWorker:
        self.started.append((name, number, start))
        self.workers[number] = FakeWorker(name)
        return self.workers[number]

    def poll(self, *messages: Message, number: int = 0) -> list[tuple[int, Message]]:
        """Poll after a worker has sent messages."""
        self.workers[number].outbox += messages
        return self.pool.poll()

    def make_ready(self) -> None:
        """Have all workers ready."""
        for worker in self.workers.values():
            if not worker.is_killed:
                worker.outbox.append(Ready(__version__))
        self.pool.poll()

    def wait(self, seconds: float) -> None:
        """Let time pass, one heartbeat of every worker per second."""
        for _ in range(int(seconds)):
            self.now += 1.0
            for worker in self.workers.values():
                worker.outbox.append(Heartbeat(100))
            self.pool.poll()

    def fail(self, number: int = 0, end: str = "was killed by SIGKILL") -> str:
        """Have a worker end; return what was done about it."""
        self.workers[number].end = end
        self.pool.poll()
        return self.events[-1].done

    def fail_and_restart(self) -> str:
        done = self.fail()
        self.wait(POLICY.longest_pause)
        self.make_ready()
        return done


def test_workers_are_started_and_numbered() -> None:
    fixture = Fixture(size=2)
    assert fixture.started == [("actor 0", 0, 1), ("actor 1", 1, 1)]
    assert (fixture.pool.ready(), fixture.pool.size()) == ([], 2)


def test_ready_and_its_subclasses_are_returned_and_make_a_worker_ready() -> None:
    fixture = Fixture(size=2)
    assert fixture.poll(Ready(__version__)) == [(0, Ready(__version__))]
    assert fixture.poll(FakeReady(__version__, 16), number=1) == [(1, FakeReady(__version__, 16))]
    assert fixture.pool.ready() == [0, 1]


def test_a_worker_that_works_before_it_is_ready_does_not_count_as_ready() -> None:
    fixture = Fixture()
    assert fixture.poll(FakeWork(1)) == [(0, FakeWork(1))]
    assert fixture.pool.ready() == []


def test_heartbeats_and_failures_are_not_returned() -> None:
    fixture = Fixture()
    assert fixture.poll(Ready(__version__), Heartbeat(123), FakeWork(1)) == [
        (0, Ready(__version__)),
        (0, FakeWork(1)),
    ]
    assert fixture.pool.stats() == {0: WorkerStats("actor 0", 123, 0)}
    assert fixture.poll(FakeWork(2), Failed("why")) == [(0, FakeWork(2))]


@pytest.mark.parametrize("ready", [Ready("0.0.1"), FakeReady("0.0.1", 16)])
def test_a_worker_of_another_version_is_dropped_at_once(ready: Ready) -> None:
    fixture = Fixture(size=2)
    assert fixture.poll(ready, FakeWork(1)) == []
    what = f"runs Rookery 0.0.1, expected {__version__}"
    assert fixture.workers[0].is_killed and fixture.pool.size() == 1
    assert str(fixture.events[0]) == f"actor 0 {what}; dropped"
    with pytest.raises(WorkersLost, match=f"no actor is left; the last one {what}"):
        fixture.poll(ready, number=1)


def test_messages_go_to_the_worker_that_runs() -> None:
    fixture = Fixture()
    fixture.pool.send(0, FakeWork(1))
    assert fixture.workers[0].sent == [FakeWork(1)]
    fixture.fail()
    fixture.pool.send(0, FakeWork(2))
    assert fixture.workers[0].sent == [FakeWork(1)]


def test_a_worker_that_ends_is_replaced_after_a_pause() -> None:
    fixture = Fixture(size=2)
    fixture.make_ready()
    fixture.now += 5.0
    fixture.workers[0].end = "was killed by SIGKILL"
    fixture.pool.poll()
    expected = WorkerEvent("actor 0", "was killed by SIGKILL", "restarting in 1.0 s")
    assert fixture.events == [expected]
    assert fixture.pool.last_failure == "was killed by SIGKILL"
    assert (fixture.pool.ready(), fixture.pool.size()) == ([1], 2)
    fixture.now += 0.9
    fixture.pool.poll()
    assert len(fixture.started) == 2
    fixture.now += 0.2
    fixture.pool.poll()
    assert fixture.started[2:] == [("actor 0", 0, 2)]
    fixture.make_ready()
    assert fixture.pool.ready() == [0, 1] and fixture.pool.stats()[0].failures == 1


def test_a_worker_that_reports_a_failure_is_replaced_before_it_ends() -> None:
    fixture = Fixture()
    fixture.poll(Failed("ValueError: no"))
    assert fixture.workers[0].is_killed
    assert str(fixture.events[0]) == "actor 0 failed: ValueError: no; restarting in 1.0 s"
    fixture.now += 2.0
    fixture.pool.poll()
    fixture.fail()
    assert fixture.events[1].what == "was killed by SIGKILL"  # not the reason of another worker


def test_a_silent_worker_is_killed_and_replaced() -> None:
    fixture = Fixture()
    fixture.make_ready()
    worker = fixture.workers[0]
    fixture.wait(50)
    fixture.now += POLICY.silence_seconds
    fixture.pool.poll()
    assert not fixture.events
    fixture.now += 1.0
    fixture.pool.poll()
    assert worker.is_killed and fixture.events[0].what == "was silent for 11 s"


def test_a_worker_that_speaks_in_time_is_left_alone() -> None:
    fixture = Fixture()
    fixture.make_ready()
    for _ in range(5):
        fixture.now += 0.9 * POLICY.silence_seconds
        fixture.poll(Heartbeat(1))
    assert not fixture.events


@pytest.mark.parametrize("beats", [True, False])
def test_a_worker_that_is_not_ready_in_time_is_replaced(beats: bool) -> None:
    fixture = Fixture()
    for _ in range(61):
        fixture.now += 1.0
        fixture.poll(*[Heartbeat(1)] * beats)
    assert fixture.events[0].what == "was not ready after 61 s"


def test_a_worker_that_waits_for_a_machine_is_not_late() -> None:
    fixture = Fixture()
    fixture.workers[0].is_in_queue = True
    fixture.now += 1000.0
    fixture.pool.poll()
    fixture.workers[0].is_in_queue = False
    fixture.now += POLICY.start_seconds
    fixture.pool.poll()
    assert not fixture.events
    fixture.now += 1.0
    fixture.pool.poll()
    assert fixture.events[0].what == "was not ready after 61 s"


def test_pauses_double_up_to_the_longest_and_then_the_worker_is_dropped() -> None:
    fixture = Fixture(size=2)
    assert [fixture.fail_and_restart() for _ in range(4)] == [
        "restarting in 1.0 s",
        "restarting in 2.0 s",
        "restarting in 3.0 s",
        "dropped after 4 failures",
    ]
    assert fixture.pool.size() == 1 and fixture.pool.ready() == [1]
    fixture.wait(1000)
    assert len(fixture.started) == 2 + 3


def test_a_pool_without_workers_is_lost() -> None:
    fixture = Fixture(policy=RestartPolicy(failures=0))
    with pytest.raises(WorkersLost, match="no actor is left; the last one was killed by SIGKILL"):
        fixture.fail()
    assert fixture.events[0].done == "dropped after 1 failures"
    assert fixture.events[0].fallback == "workers"


def test_failures_are_forgotten_after_a_period_of_work() -> None:
    fixture = Fixture()
    fixture.make_ready()
    for _ in range(20):
        assert fixture.fail_and_restart() == "restarting in 1.0 s"
        fixture.wait(POLICY.period_seconds)
    assert fixture.pool.stats()[0].failures == 20


def test_figures_tell_healthy_starting_failed_and_dropped_workers_apart() -> None:
    fixture = Fixture(size=2)

    def found(number: int) -> tuple[str, int, int, float]:
        stats = fixture.pool.stats(with_failed=True)[number]
        return stats.state, stats.failures, stats.restarts, stats.heartbeat_age

    assert found(0) == ("starting", 0, 0, 0.0)
    fixture.make_ready()
    fixture.now += 2.0
    assert found(0) == ("healthy", 0, 0, 2.0)
    fixture.fail()
    assert found(0) == ("failed", 1, 0, 2.0)
    assert 0 not in fixture.pool.stats()
    fixture.now += 1.0
    fixture.poll(Heartbeat(100), number=1)
    assert found(0) == ("starting", 1, 1, 0.0)
    fixture.pool.drop_worker(0, "fails")
    assert found(0)[:3] == ("dropped", 1, 1)
    fixture.pool.retire(1, "is not needed")
    assert list(fixture.pool.stats(with_failed=True)) == [0]


def test_work_does_not_excuse_frequent_failures() -> None:
    fixture = Fixture(size=2)
    for _ in range(3):
        fixture.poll(FakeWork(1))
        fixture.fail_and_restart()
        fixture.wait(POLICY.period_seconds / 4)
    assert fixture.fail().startswith("dropped")


def test_time_in_which_a_worker_does_not_work_forgets_no_failure() -> None:
    fixture = Fixture(size=2)
    for _ in range(4):
        fixture.now += POLICY.start_seconds + 1.0
        fixture.poll(Ready(__version__), Heartbeat(1), number=1)
        fixture.now += POLICY.longest_pause
        fixture.poll(Heartbeat(1), number=1)
    done = [event.done for event in fixture.events if event.worker == "actor 0"]
    assert done[-1] == "dropped after 4 failures"


def test_a_pool_grows_and_shrinks() -> None:
    fixture = Fixture()
    fixture.pool.add_worker("is needed")
    fixture.make_ready()
    retired = fixture.workers[0]
    fixture.pool.retire(0, "is not needed")
    assert retired.is_killed and (fixture.pool.size(), fixture.pool.ready()) == (1, [1])
    fixture.wait(1000)
    assert len(fixture.started) == 2
    fixture.pool.add_worker("is needed again")
    fixture.make_ready()
    assert fixture.pool.ready() == [0, 1]
    assert [str(event) for event in fixture.events] == [
        "actor 1 is needed; added",
        "actor 0 is not needed; retired",
        "actor 0 is needed again; added",
    ]


def test_a_dropped_worker_does_not_come_back() -> None:
    fixture = Fixture(size=2)
    fixture.pool.drop_worker(0, "is too slow")
    assert fixture.pool.last_failure == "is too slow"
    fixture.pool.add_worker("is needed")
    assert fixture.started[2:] == [("actor 2", 2, 1)]


def test_closing_ends_all_workers() -> None:
    fixture = Fixture(size=3)
    fixture.pool.close()
    assert all(worker.is_killed for worker in fixture.workers.values())
    assert fixture.pool.stats() == {}


def test_an_owner_can_report_events() -> None:
    fixture = Fixture()
    fixture.now += 7.0
    fixture.pool.report_event(0, "is slow", "kept")
    assert fixture.events == [WorkerEvent("actor 0", "is slow", "kept")]


COOLING = replace(POLICY, cooldown_seconds=500.0)


def drop(fixture: Fixture) -> None:
    """Have the first worker fail until it is dropped."""
    for _ in range(POLICY.failures + 1):
        fixture.fail_and_restart()


def test_a_dropped_worker_returns_after_its_cooldown() -> None:
    fixture = Fixture(size=2, policy=COOLING)
    drop(fixture)
    assert fixture.events[-1].done == "dropped after 4 failures, returns in 500 s"
    assert (fixture.pool.size(), fixture.pool.num_cooling()) == (1, 1)
    fixture.wait(500 - POLICY.longest_pause - 1)
    assert len(fixture.started) == 2 + 3
    fixture.wait(1)
    assert fixture.started[-1] == ("actor 0", 0, 5)
    assert str(fixture.events[-1]) == "actor 0 was dropped 500 s ago; started again"
    fixture.make_ready()
    assert fixture.pool.ready() == [0, 1] and fixture.pool.num_cooling() == 0
    assert fixture.fail() == "restarting in 1.0 s", "its failures are forgotten"


def test_a_pool_waits_for_the_last_worker_to_return() -> None:
    fixture = Fixture(policy=COOLING)
    drop(fixture)
    fixture.wait(500)
    fixture.make_ready()
    assert fixture.pool.ready() == [0]


def test_a_worker_that_a_restart_would_not_help_does_not_return() -> None:
    fixture = Fixture(size=2, policy=COOLING)
    fixture.make_ready()
    fixture.pool.drop_worker(0, "runs another version")
    fixture.wait(1000)
    assert len(fixture.started) == 2 and fixture.pool.num_cooling() == 0


def test_an_owner_can_keep_dropped_workers_away() -> None:
    fixture = Fixture(size=2, policy=COOLING)
    drop(fixture)
    fixture.pool.keep_dropped()
    fixture.wait(1000)
    assert len(fixture.started) == 2 + 3 and fixture.pool.size() == 1


def test_a_worker_is_restarted_without_a_failure() -> None:
    fixture = Fixture()
    fixture.make_ready()
    first = fixture.workers[0]
    fixture.pool.restart(0, "moves")
    assert first.is_killed and fixture.started[1:] == [("actor 0", 0, 2)]
    assert (fixture.pool.ready(), fixture.pool.numbers()) == ([], [0])
    assert fixture.pool.stats()[0].failures == 0
    assert str(fixture.events[0]) == "actor 0 moves; restarted"


def test_the_usage_of_a_gpu_is_reported_and_smoothed() -> None:
    fixture = Fixture()
    fixture.make_ready()
    assert fixture.pool.stats()[0].device_busy is None
    for busy in (0.5, 1.0):
        fixture.poll(Heartbeat(100, 2000, busy))
    stats = fixture.pool.stats()[0]
    assert stats.device_mb == 2000 and stats.device_busy == pytest.approx(0.6)
    fixture.poll(Heartbeat(100, 2000, None))
    assert fixture.pool.stats()[0].device_busy is None
    fixture.poll(Heartbeat(100, 2000, 0.9))
    fixture.pool.restart(0, "moves")
    expected = WorkerStats("actor 0", 100, 0, restarts=1, state="starting")
    assert fixture.pool.stats()[0] == expected, "another worker"
