"""A run folder's rules file is executed only if it is the right one and this user trusts it."""

import json
import py_compile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from own_rules import forget_rules, marked_rules, strangers_run
from rookery.arena import MatchPlan
from rookery.base import ConfigError, RunFolderError
from rookery.games import load_game, read_rules, rules_digest
from rookery.training import (
    Config,
    PlayerSpec,
    RunFolder,
    Stats,
    Study,
    apply,
    read_identity,
    read_space,
    recipe_for,
    to_json,
    train,
)
from rookery.training.actors.actor import actor
from rookery.training.evaluation.tasks import (
    MatchTask,
    PartRefused,
    RunPart,
    StrengthTask,
    Tasks,
    run_part,
)
from rookery.training.trainers.trainer import Trainer, TrainerJob
from rookery.workers import pack, unpack

OTHER = "0" * 64
RANDOM = PlayerSpec("plain", name="random")


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Return a run of another user with their own rules, and the file that these write."""
    return strangers_run(tmp_path, monkeypatch)


def own_config(rules: Path, tiny: list[str], *settings: str) -> Config:
    return apply(recipe_for(str(rules)), [*tiny, *settings])


def rewrite(path: Path, **changes: object) -> None:
    """Change entries of a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_run_records_the_digest_of_its_rules_file(stranger: tuple[Path, Path]) -> None:
    run, mark = stranger
    digest = rules_digest((run.parent / "mine.py").read_bytes())
    assert read_identity(run).rules == digest and len(digest) == 64
    assert not mark.exists()


def test_a_strangers_rules_are_not_executed(stranger: tuple[Path, Path]) -> None:
    run, mark = stranger
    with pytest.raises(RunFolderError, match=r"mine\.py, which this user has not trusted; read"):
        RunFolder(run)
    assert not mark.exists()


def test_a_folder_without_a_digest_is_not_trusted_either(stranger: tuple[Path, Path]) -> None:
    run, mark = stranger
    rewrite(run / "run.json", rules="")
    with pytest.raises(RunFolderError, match="has not trusted"):
        RunFolder(run)
    assert not mark.exists()


def test_a_shipped_game_that_was_replaced_by_a_file_is_not_executed(
    stranger: tuple[Path, Path], tmp_path: Path, tiny_config: Config
) -> None:
    run, mark = stranger
    own = RunFolder.create(tmp_path / "own", tiny_config).path
    rewrite(own / "config.json", game=str(run.parent / "mine.py"))
    with pytest.raises(RunFolderError, match="has not trusted"):
        RunFolder(own)
    assert not mark.exists()


def test_trust_is_remembered(stranger: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    run, mark = stranger
    assert RunFolder(run, trust_rules=True).game.name == "mine" and mark.exists()
    forget_rules(monkeypatch)
    assert RunFolder(run).game.name == "mine"


def test_rules_that_were_trained_with_are_trusted_in_every_process(
    tmp_path: Path, tiny: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_rules(monkeypatch, tmp_path / "state")
    rules, _ = marked_rules(tmp_path)
    run = RunFolder.create(tmp_path / "run", own_config(rules, tiny)).path
    forget_rules(monkeypatch)
    assert RunFolder(run).game.name == "mine"
    forget_rules(monkeypatch, tmp_path / "another state")
    with pytest.raises(RunFolderError, match="has not trusted"):
        RunFolder(run)


def test_edited_rules_are_refused_until_the_user_trusts_them(
    stranger: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, mark = stranger
    rules = run.parent / "mine.py"
    RunFolder(run, trust_rules=True)
    mark.unlink()
    rules.write_text(rules.read_text() + "\n")
    with pytest.raises(RunFolderError, match=r"mine\.py have changed since .*run was trained"):
        RunFolder(run)
    assert not mark.exists()
    folder = RunFolder(run, trust_rules=True)
    assert mark.exists()
    folder.keep_rules()
    forget_rules(monkeypatch)
    assert RunFolder(run).game.digest == rules_digest(rules.read_bytes())


def test_a_home_that_cannot_be_written_is_a_warning(
    tmp_path: Path,
    tiny: list[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "file").write_text("")
    forget_rules(monkeypatch, tmp_path / "file" / "state")
    rules, _ = marked_rules(tmp_path)
    run = RunFolder.create(tmp_path / "run", own_config(rules, tiny)).path
    assert "cannot record that" in caplog.text and "mine.py is trusted" in caplog.text
    assert RunFolder(run).game.name == "mine", "this process has executed them anyway"
    forget_rules(monkeypatch)
    with pytest.raises(RunFolderError, match="has not trusted"):
        RunFolder(run)
    assert RunFolder(run, trust_rules=True).game.name == "mine"


@pytest.mark.parametrize("state", ["", "state"])
def test_the_current_folder_is_never_taken_for_the_home(
    stranger: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    run, mark = stranger
    for name, value in {"ROOKERY_STATE": "", "XDG_STATE_HOME": state, "HOME": "home"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(run.parent)
    for home in ("state", "home/.local/state"):
        record = Path(home) / "rookery/trusted-rules"
        record.mkdir(parents=True)
        (record / read_identity(run).rules).write_text("")
    with pytest.raises(RunFolderError, match="has not trusted"):
        RunFolder(run)
    assert not mark.exists()


def test_compiled_code_next_to_the_file_is_not_used(tmp_path: Path) -> None:
    rules, mark = marked_rules(tmp_path)
    py_compile.compile(str(rules), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    rules.write_text(rules.read_text().replace("\nopen(", "\n# open("))
    assert load_game(str(rules)).name == "mine" and not mark.exists()


def test_only_the_rules_that_are_asked_for_are_executed(tmp_path: Path) -> None:
    rules, mark = marked_rules(tmp_path)
    with pytest.raises(ConfigError, match=r"mine\.py is not the expected one"):
        load_game(str(rules), OTHER)
    assert not mark.exists()
    found = load_game(str(rules), rules_digest(read_rules(str(rules))))
    rules.write_text("gone")
    assert load_game(str(rules), found.digest) is found, "what was executed is not read again"


def run_actor(config: str) -> None:
    job = {"config": config, "digest": OTHER, "device": "cpu", "games": 4}
    channel: Any = SimpleNamespace()
    actor(channel, job)


def run_trainer(config: str) -> None:
    Trainer(TrainerJob(config, OTHER, "cpu"))


@pytest.mark.parametrize("work", [run_actor, run_trainer])
def test_workers_refuse_other_rules_than_the_coordinators(
    work: Callable[[str], None], tmp_path: Path, tiny_config: Config
) -> None:
    rules, mark = marked_rules(tmp_path)
    with pytest.raises(ConfigError, match="is not the expected one"):
        work(to_json(replace(tiny_config, game=str(rules))))
    assert not mark.exists()


def test_evaluation_workers_refuse_other_rules_than_the_coordinators(tmp_path: Path) -> None:
    rules, mark = marked_rules(tmp_path)
    plan = MatchPlan(2, 1, 0, book=False)
    sent = Tasks(
        (
            StrengthTask(str(rules), RANDOM, 1, digest=OTHER),
            MatchTask(str(rules), plan, RANDOM, RANDOM, digest=OTHER),
        )
    )
    tasks = unpack(pack(sent))
    assert isinstance(tasks, Tasks)
    for number in range(2):
        reply = run_part(tasks, RunPart(number, 0))
        assert isinstance(reply, PartRefused) and "is not the expected one" in reply.reason
    assert not mark.exists()


def test_a_study_executes_no_rules_but_its_own(
    stranger: tuple[Path, Path], tmp_path: Path, tiny_config: Config
) -> None:
    pytest.importorskip("optuna")
    run, mark = stranger
    config = apply(tiny_config, ["run.strength_every=2"])
    study = Study(tmp_path / "study", config, read_space(["search.considered=2..8"], config))
    run.rename(study.path / "trial-0000")
    trial = SimpleNamespace(
        user_attrs={"run": "trial-0000"}, number=1, set_user_attr=lambda name, value: None
    )
    assert study._folder(trial, config).path == study.path / "trial-0001"
    assert not mark.exists()


def test_actors_and_trainers_play_by_rules_of_your_own(
    tmp_path: Path, tiny: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_rules(monkeypatch, tmp_path / "state")
    rules, _ = marked_rules(tmp_path)
    settings = ["run.actors=1", "run.iterations=2", "learning.method=distributed"]
    config = own_config(rules, tiny, *settings, "learning.workers=1")
    folder = RunFolder.create(tmp_path / "run", config)
    train(folder, lambda progress: None)
    kinds = [line["kind"] for line in Stats(folder.path).lines()]
    assert kinds.count("iteration") == 2 and kinds[-1] == "finished"
