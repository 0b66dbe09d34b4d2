"""A private Ray and its workers listen where no other machine can connect."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

import psutil
import pytest
import torch

from faulty_trainers import new_pool, window
from rookery.training.trainers.cluster_store import ClusterStore
from rookery.workers import Cluster
from sockets import exposed, listening
from worker_processes import running

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_OVERRIDE_RESOURCES", '{"CPU": 2}')
        with closing(Cluster("local")) as cluster:
            yield cluster


def names(sockets: set[tuple[str, str, int]]) -> set[str]:
    return {name for name, _, _ in sockets}


def test_a_local_ray_and_its_trainers_listen_on_loopback_only(cluster: Cluster) -> None:
    pool, _ = new_pool(2, cluster=cluster)
    with closing(pool):
        rows = window()
        while len(pool.learn(rows, 1, progress=0.2).worked) < 2:
            pass
        found = listening()
    assert names(found) >= {"gcs_server", "raylet", "ray::Host", "ray::KeyValues"}
    assert not exposed(found)


def test_a_local_ray_requires_a_token(cluster: Cluster) -> None:
    below = psutil.Process().children(recursive=True)
    variables = next(daemon for daemon in running(below, "raylet/raylet")).environ()
    assert variables["RAY_AUTH_MODE"] == "token" and len(variables["RAY_AUTH_TOKEN"]) == 64


def test_a_cluster_store_is_a_torch_store(cluster: Cluster) -> None:
    name = cluster.start_store()
    store = ClusterStore(name)
    store.set_timeout(timedelta(seconds=60))  # Ray starts its processes at low priority
    inner: Any = torch.distributed.PrefixStore("group", store)  # type: ignore[attr-defined]
    inner.set("key", b"\x00\xff")
    assert inner.get("key") == store.get("group/key") == b"\x00\xff"
    assert (inner.add("sum", 2), inner.add("sum", 3)) == (2, 5)
    assert inner.compare_set("new", "", "one") == b"one"
    assert inner.compare_set("new", "two", "three") == b"one"
    assert inner.check(["key", "new"]) and not inner.check(["key", "absent"])
    assert inner.delete_key("key") and not inner.check(["key"])
    assert inner.num_keys() == 2
    assert inner.clone().check(["new"])
    with pytest.raises(RuntimeError, match="no member has set group/absent in time"):
        inner.wait(["absent"], timedelta(seconds=0.1))
    cluster.end_store(name)
    with pytest.raises(RuntimeError, match="the trainers' store is gone"):
        store.set("key", "value")
