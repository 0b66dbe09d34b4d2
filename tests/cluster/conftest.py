"""The token and the priority of every Ray of these tests: a process reads both only once."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def variables() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef" * 4)
        patch.setenv("RAY_worker_niceness", "0")  # else other tests slow down Ray's workers
        yield
