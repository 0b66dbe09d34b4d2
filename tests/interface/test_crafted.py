"""Files of a run with valid checksums and wrong content: one line, and nothing is changed."""

import json
from pathlib import Path

import numpy as np
import pytest

from command_line import Mistake, Rookery
from crafted import Change, recraft

LONGER = ("--set", "run.iterations=3")


def content(run: Path) -> dict[str, bytes]:
    """Return the files of a run, except its settings and its lock."""
    paths = (path for path in sorted(run.rglob("*")) if path.is_file())
    return {str(p): p.read_bytes() for p in paths if p.name not in (".lock", "config.json")}


def header(**changes: object) -> Change:
    """Return a change of the header."""
    return lambda arrays, found: found.update(changes)


def array(name: str, new: np.ndarray | None) -> Change:
    """Return a change of one array, None to leave it out."""
    return lambda arrays, _: arrays.pop(name) if new is None else arrays.update({name: new})


def entry(name: str, new: float) -> Change:
    """Return a change of the first number of an array."""
    return lambda arrays, _: arrays[name].reshape(-1).__setitem__(0, new)


STEM = "learner/net.stem.conv.weight"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (header(iteration=-1), "iteration: Input should be greater than"),
        (header(iteration=10**30), "iteration: "),
        (header(iteration="x"), "iteration: "),
        (header(seconds=float("nan")), "seconds: "),
        (header(rows_owed=float("inf")), "rows_owed: "),
        (header(rows_made=5), "5 rows were made, but its shards hold"),
        (header(shards=[1] * 1000), "shards are not in order"),
        (header(shards=None), "shards: "),
        (header(shards=[-1]), "shards: "),
        (header(selfplay="tpu"), "selfplay: "),
        (header(inference=5), "inference: "),
        (header(more=1), "is not a checkpoint"),
        (array("learner/updates", None), "updates should have shape [1] of int64, got nothing"),
        (array("learner/updates", np.array([-3])), "has made -3 updates"),
        (array("learner/updates", np.array([2**60])), "updates"),
        (array("learner/updates", np.zeros(0, np.int64)), "updates should have shape [1]"),
        (array("learner/more", np.zeros(3)), "the learner has no more"),
        (array(STEM, np.zeros(3, np.float32)), "net.stem.conv.weight should have shape"),
        (array(STEM, np.zeros((8, 2, 3, 3))), "net.stem.conv.weight should have shape"),
        (entry(STEM, np.nan), "net.stem.conv.weight has numbers that are not finite"),
        (entry("learner/optimizer.value.last.bias.exp_avg", np.inf), "not finite"),
        (array("selfplay/roots", None), "lack {'roots'}"),
        (array("selfplay/more", np.zeros(3)), "lack {'more'}"),
        (array("selfplay/roots", np.zeros((3, 4), np.uint8)), "roots is uint8 [3, 4], expected"),
        (array("selfplay/games.lengths", np.zeros(3, np.int32)), "games.lengths is int32 [3]"),
        (array("selfplay/rows.values", np.zeros(3)), "rows.values is float64 [3], expected"),
        (array("selfplay/games.firsts", None), "lack {'games.firsts'}"),
        (array("selfplay/rows.moves", np.zeros((8, 9), np.int16)), "selfplay.games and"),
        (entry("selfplay/games.lengths", 10**6), "games.lengths out of range"),
        (entry("selfplay/games.lengths", -1), "games.lengths out of range"),
        (entry("selfplay/games.firsts", 10**6), "games.firsts out of range"),
        (entry("selfplay/games.openings", -1), "games.openings out of range"),
        (entry("selfplay/rows.num_legal", 10_000), "rows.num_legal out of range"),
        (entry("selfplay/rows.moves", 9), "rows.moves out of range"),
    ],
)
def test_a_checkpoint_of_wrong_content_is_not_resumed(
    mistake: Mistake, own_run: Path, change: Change, found: str
) -> None:
    path = own_run / "checkpoint.safetensors"
    recraft(path, change)
    before = content(own_run)
    line = mistake("resume", own_run, *LONGER)
    assert str(path) in line and found in line
    assert content(own_run) == before


def test_a_shard_of_wrong_content_is_not_resumed(mistake: Mistake, own_run: Path) -> None:
    path = min((own_run / "replay").iterdir())
    recraft(path, entry("num_legal", 32_000))
    before = content(own_run)
    assert f"{path} is damaged: num_legal has" in mistake("resume", own_run, *LONGER)
    assert content(own_run) == before


@pytest.mark.parametrize("command", ["eval", "analyse", "play"])
def test_weights_of_wrong_content_do_not_play(
    mistake: Mistake, own_run: Path, command: str
) -> None:
    path = own_run / "weights" / "000002.safetensors"
    recraft(path, entry("stem.conv.weight", np.nan))
    line = mistake(command, own_run)
    assert f"{path} is damaged: stem.conv.weight has numbers that are not finite" in line


def test_weights_that_are_not_finite_are_not_exported(
    mistake: Mistake, own_run: Path, tmp_path: Path
) -> None:
    recraft(own_run / "weights" / "000002.safetensors", entry("stem.conv.weight", np.inf))
    line = mistake("export", own_run, tmp_path / "half.safetensors", "--half")
    assert "is damaged: stem.conv.weight has numbers" in line and "float32" not in line


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"selfplay": {', b'"selfplax": {'),
        (b'"games": ', b'"gamds": '),
        (b'"seconds": ', b'"seconds": "a",'),
        (b'"kind": "iteration"', b'"kind": "iterathon"'),
        (b'"iteration": 2,', b'"iteration": "2",'),
        (b'"label": "', b'"label": 5, "x": "'),
        (b'"losses": {', b'"losses": 5, "x": {'),
        (b'"device": "cpu"', b'"device": [1]'),
    ],
)
def test_damaged_statistics_do_not_stop_a_run(
    rookery: Rookery,
    own_run: Path,
    caplog: pytest.LogCaptureFixture,
    old: bytes,
    new: bytes,
) -> None:
    path = own_run / "stats.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    place = next(i for i, line in enumerate(lines) if old in line)
    lines[place] = lines[place].replace(old, new, 1)
    path.write_bytes(b"".join(lines))
    shown = rookery("watch", own_run, "--once")
    assert shown.code == 0 and "skipped 1 damaged line of" in shown.out
    assert path.read_bytes() == b"".join(lines)
    assert rookery("resume", own_run, *LONGER).code == 0
    notes = [text for text in caplog.messages if "damaged" in text]
    assert notes == [f"note: skipped 1 damaged line of {path}"]
    kept = [line for i, line in enumerate(lines) if i != place and b'"finished"' not in line]
    found = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert all(json.loads(line) in found for line in kept)


@pytest.mark.parametrize(
    ("section", "name", "value"),
    [
        ("run", "moves", 0),
        ("run", "minutes", float("nan")),
        ("run", "mode", "sideways"),
        ("run", "movse", 5),
        ("net", "width", 20_000),
        ("replay", "window_min", 10**9),
        ("selfplay", "games", [1] * 1000),
    ],
)
@pytest.mark.parametrize("command", ["resume", "watch", "eval"])
def test_edited_settings_are_checked(
    mistake: Mistake, own_run: Path, command: str, section: str, name: str, value: object
) -> None:
    path = own_run / "config.json"
    tree = json.loads(path.read_text())
    tree[section][name] = value
    path.write_text(json.dumps(tree))
    line = mistake(command, own_run)
    assert f"{path}: " in line and f"{section}.{name}" in line and len(line) < 400


@pytest.mark.parametrize("text", ["[" * 100_000, '{"run": ' + "9" * 5000 + "}"])
@pytest.mark.parametrize("name", ["run.json", "config.json"])
def test_settings_of_no_sane_form_are_refused(
    mistake: Mistake, own_run: Path, name: str, text: str
) -> None:
    (own_run / name).write_text(text)
    assert str(own_run / name) in mistake("watch", own_run)


@pytest.mark.parametrize(
    ("section", "name", "value"),
    [("net", "width", 16), ("selfplay", "games", 8)],
)
def test_edited_settings_that_do_not_fit_the_checkpoint_are_named(
    mistake: Mistake, own_run: Path, section: str, name: str, value: int
) -> None:
    path = own_run / "config.json"
    tree = json.loads(path.read_text())
    tree[section][name] = value
    path.write_text(json.dumps(tree))
    line = mistake("resume", own_run, *LONGER)
    assert f"{section}.{name}" in line or f"{section}.*" in line
