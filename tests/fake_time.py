"""A clock for tests of what depends on measured times: real ones differ with the machine's load."""

from dataclasses import dataclass


@dataclass
class FakeTime:
    """Stands for the module `time`; it advances by what a test adds, by pauses and by `tick`."""

    now: float = 100.0
    tick: float = 0.0
    """Seconds that pass with every look at the clock."""

    def perf_counter(self) -> float:
        self.now += self.tick
        return self.now

    monotonic = perf_counter

    def sleep(self, seconds: float) -> None:
        self.now += seconds
