"""The token of every Ray of these tests: a process reads it only once."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def token() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef" * 4)
        yield
