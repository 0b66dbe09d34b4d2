"""The files of the page: few bytes for the first visit, none for the next."""

import re

from web_client import client_of

FIRST_LOAD = 200_000
"""Compressed bytes."""


def test_the_first_load_is_small_and_kept_by_browsers() -> None:
    with client_of() as client:
        answers = [client.get("/")]
        names = re.findall(r'(?:src|href)="(/static/[^"]+)"', answers[0].text)
        answers += [client.get(name) for name in names]
    assert len(names) > 30
    assert all(answer.headers["content-encoding"] == "gzip" for answer in answers)
    assert sum(int(answer.headers["content-length"]) for answer in answers) < FIRST_LOAD
    assert all("immutable" in answer.headers["cache-control"] for answer in answers[1:])
