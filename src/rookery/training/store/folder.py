"""The run folder: everything there is to know of a run. Files appear whole or not at all.

run.json              format of the folder, the game, the version of its rules, and the SHA-256
                      of the rules file where the game is the user's own
config.json           the resolved settings, written before the first game
stats.jsonl           one line per event or iteration, append-only
elo.jsonl             games that `rookery rate RUN --history` has played, append-only
checkpoint.safetensors       everything that is needed to continue
checkpoints/000120/          older checkpoints and named ones, with their shards; see `kept`
weights/000120.safetensors   the network that plays, by iteration; 000000 if it started with one
replay/000012.safetensors    rows of finished games, while the window needs them
given/000003.safetensors     rows of games that the run was given to learn from
scale-*.json          requests to change the workers, until they are answered; see `requests`
.lock                 held by the process that trains
"""

import json
import logging
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from shlex import quote
from typing import IO, Any

from filelock import lock_descriptor
from pydantic import TypeAdapter

from rookery.base import (
    MALFORMED,
    ConfigError,
    DiskFull,
    FileDamaged,
    RunFolderError,
    link_or_copy,
    numbered_files,
    open_file,
    write_atomic,
)
from rookery.games import Game, load_game
from rookery.nets import GameSpec, Weights, WeightsHeader, load, pack, save
from rookery.replay import read_shard, shard_path
from rookery.training.config import Config, from_json, to_json
from rookery.training.store.checkpoint import NAME, Checkpoint, RunPosition
from rookery.training.store.given import GivenGames, GivenShards, copy_given, write_given
from rookery.training.store.kept import copy_checkpoint, find_checkpoint
from rookery.training.store.origin import InitialWeights, Origin, Parent, game_spec
from rookery.training.store.stats import Stats
from rookery.training.store.trust import remember, rules_of_run

FORMAT = 2
NEAREST = 4
"""Iterations that an error message names."""
"""1: arrays in files of our own format; 2: safetensors files."""
_log = logging.getLogger(__name__)
_ORIGIN, _GIVEN = TypeAdapter(Origin), TypeAdapter(GivenGames)


@dataclass(frozen=True)
class Identity:
    """The content of run.json."""

    game: str
    version: int
    """Of the game's rules."""
    origin: Origin | None
    """Where its first weights come from; None if it began from nothing."""
    parent: Parent | None
    """Where it was continued from; None if it was started."""
    given: GivenGames | None
    """The games that it was given to learn from."""
    rules: str
    """SHA-256 of the rules file it was trained with; empty for a shipped game."""


def read_identity(run: Path) -> Identity:
    """Read the run.json of a run folder, or RunFolderError."""
    if not run.is_dir():
        raise RunFolderError(f"{run} is not a run folder; start one with rookery train")
    try:
        plain = json.loads(_read(run, "run.json"))
        version = int(plain["format"])
        origin = _ORIGIN.validate_python(plain["origin"]) if "origin" in plain else None
        parent = Parent(**plain["parent"]) if "parent" in plain else None
        rules = plain.get("rules", "")
        given = _GIVEN.validate_python(plain["given"]) if "given" in plain else None
        found = Identity(plain["game"], plain["version"], origin, parent, given, rules)
        assert isinstance(found.game, str) and isinstance(found.rules, str)
    except (AssertionError, *MALFORMED) as error:
        raise FileDamaged(f"{run / 'run.json'} is damaged; restore it") from error
    if version != FORMAT:
        by, advice = "a newer", "upgrade Rookery"
        if version < FORMAT:
            by = "an older"
            advice = "start a new run with --init and one of its weights/*.safetensors"
        known = f"format {version}, this one reads {FORMAT}"
        raise RunFolderError(f"{run} was written by {by} Rookery ({known}); {advice}")
    return found


def read_config(run: Path) -> Config:
    """Read the settings of a run folder, checked as those of `--set`, or RookeryError."""
    text = _read(run, "config.json")
    try:
        return from_json(text)
    except ConfigError as error:
        raise ConfigError(f"{run / 'config.json'}: {error}") from error


def _read(run: Path, name: str) -> str:
    try:
        with open_file(run / name) as file:
            return file.read().decode("utf-8")
    except FileNotFoundError as error:
        raise RunFolderError(
            f"{run} is not a whole run folder ({name} is missing); restore that file, or start "
            "again in another folder"
        ) from error
    except UnicodeDecodeError as error:
        raise FileDamaged(f"{run / name} is damaged; restore it from a copy") from error


class RunFolder:
    """An existing run folder."""

    origin: Origin | None
    """Where its first weights come from; None if it began from nothing."""
    parent: Parent | None
    """Where it was continued from; None if it was started."""
    given: GivenGames | None
    """The games that it was given to learn from."""

    def __init__(self, path: Path, *, trust_rules: bool = False) -> None:
        """Open the run at `path`, or RunFolderError.

        A rules file that it names is executed only if this user trusts it and the run was trained
        with it; with `trust_rules` it is executed, and trusted from then on.
        """
        self.path = path
        identity = read_identity(path)
        self.origin, self.parent, self.given = identity.origin, identity.parent, identity.given
        self.config = read_config(path)
        self._trained_with = identity.rules
        self.game: Game = rules_of_run(
            path, self.config.game, trained_with=identity.rules, trust_rules=trust_rules
        )
        if identity.version != self.game.version or identity.game != self.game.name:
            raise RunFolderError(
                f"{path} is a run of {identity.game} version {identity.version}, "
                f"but the rules here are {self.game.name} version {self.game.version}; "
                "start a new run"
            )

    @classmethod
    def create(
        cls,
        path: Path,
        config: Config,
        first: InitialWeights | None = None,
        *,
        games: Sequence[Path] = (),
    ) -> "RunFolder":
        """A new run folder, begun with `first` and files of games to learn from.

        What is there already is never touched.
        """
        _check_free(path)
        rules = load_game(config.game)
        weights, origin = first.fit(config, rules) if first is not None else (None, None)
        with _creating(path, config):
            if weights is not None:
                save(_weights_path(path, 0), weights.state, header=weights.header)
            given = write_given(path, games, game=rules) if games else None
            _write_identity(path, rules, origin, given=given)
        remember(rules)
        return cls(path)

    def continue_in(self, path: Path, config: Config, *, at: str) -> "RunFolder":
        """Return a new run folder that continues from the checkpoint `at`, which is checked."""
        _check_free(path)
        self.check_change(config)
        source = find_checkpoint(self.path, at)
        found = Checkpoint.load(source)
        if found is None:
            raise FileDamaged(f"{source / NAME} is missing; restore it from a copy")
        iteration, seconds = found.position.iteration, found.position.seconds
        if config.run.progress(seconds, iteration) >= 1.0:
            raise ConfigError(
                f"the settings end the run at iteration {iteration} or before; let it train "
                "longer with --iterations or --minutes"
            )
        for number in found.position.shards:
            read_shard(shard_path(source / "replay", number), game=self.game)
        with _creating(path, config):
            if copy_checkpoint(source, path) != found.position:
                raise RunFolderError(f"{self.path} has just replaced this checkpoint; try again")
            for number, weights in numbered_files(self.path / "weights").items():
                if number <= iteration:
                    link_or_copy(weights, _weights_path(path, number))
            copy_given(self.path, path)
            self._copy_stats(path, found.position)
            parent = Parent(str(self.path), iteration)
            _write_identity(path, self.game, self.origin, parent, given=self.given)
        return RunFolder(path)

    def _copy_stats(self, path: Path, position: RunPosition) -> None:
        """Copy the statistics up to a position, and note there where they come from."""
        stats, text = Stats(path), f"continues {self.path} from iteration {position.iteration}"
        Stats(self.path).copy_until(position.iteration, stats)
        stats.append("note", position.iteration, seconds=position.seconds, note=text)

    def change(self, config: Config) -> None:
        """Go on with other settings; the net and the games in progress stay what they were."""
        self.check_change(config)
        self.adapt(config)

    def check_change(self, config: Config) -> None:
        """Refuse settings that a run cannot go on with."""
        if config.net != self.config.net:
            raise RunFolderError("net settings cannot change in a run; start a new one")
        if config.selfplay.games != self.config.selfplay.games:
            raise RunFolderError(
                f"selfplay.games cannot change in a run, {self.config.selfplay.games} games "
                "are under way; start a new one"
            )
        longest = [each.selfplay.longest_game(self.game) for each in (self.config, config)]
        if longest[0] != longest[1]:
            raise RunFolderError(
                f"selfplay.max_plies cannot change in a run, games of up to {longest[0]} plies "
                "are under way; start a new one"
            )

    def keep_rules(self) -> None:
        """Write down the rules file as the one that the run is trained with from now on."""
        if self._trained_with != self.game.digest:
            _write_identity(self.path, self.game, self.origin, self.parent)
            self._trained_with = self.game.digest

    def adapt(self, config: Config) -> None:
        """Replace the settings by those the run really goes on with."""
        write_atomic(self.path / "config.json", to_json(config).encode())
        self.config = config

    def lock(self) -> IO[bytes]:
        """Lock the folder until the file that is returned is closed.

        Raise RunFolderError if another process has locked it.
        """
        lock = hold(self.path)
        for draft in list(self.path.rglob(".*.draft")):  # left by a process that was killed
            if draft.is_dir() and not draft.is_symlink():
                shutil.rmtree(draft)
            else:
                draft.unlink(missing_ok=True)  # within a folder that is a draft itself
        return lock

    def game_spec(self) -> GameSpec:
        """What a net of this run must fit."""
        return game_spec(self.game)

    def make_folders(self) -> None:
        """Make the folders inside again, which a copy without empty folders lacks."""
        _make_folders(self.path)

    def stored_weights(self) -> list[int]:
        """Return the iterations whose nets are kept, in their order."""
        return list(numbered_files(self.path / "weights"))

    def count_weights(self) -> int:
        """How many nets are kept, but for the one it began with."""
        return sum(iteration > 0 for iteration in self.stored_weights())

    def has_checkpoint(self) -> bool:
        """Return whether the run can be resumed from a checkpoint."""
        return os.path.lexists(self.path / NAME)

    def save_weights(self, net: Any, *, iteration: int, step: int) -> None:
        """Write the playing net of `iteration`."""
        write_atomic(_weights_path(self.path, iteration), self.pack_weights(net, step=step))

    def pack_weights(self, net: Any, *, step: int) -> bytes:
        """A net of this run after `step` updates, as its file's content."""
        header = WeightsHeader(game=self.game_spec(), config=self.config.net, step=step)
        return pack(net.state_dict(), header)

    def load_weights(self, iteration: int | None = None) -> Weights:
        """The newest playing net, or that of `iteration`."""
        paths = numbered_files(self.path / "weights")
        if not paths:
            raise RunFolderError(f"{self.path} has no weights yet; let it train a little longer")
        if iteration is None:
            iteration = max(paths)
            if iteration < (newest := Checkpoint.iteration(self.path)):
                _note_older(_weights_path(self.path, newest), iteration)
        if iteration not in paths:
            nearest = sorted(sorted(paths, key=lambda kept: abs(kept - iteration))[:NEAREST])
            raise RunFolderError(
                f"{self.path} has no weights of iteration {iteration}; the nearest are "
                f"{', '.join(map(str, nearest))}"
            )
        return load(paths[iteration], self.game_spec())

    def given_shards(self) -> GivenShards:
        """The shards of the games that the run was given; none are taken yet."""
        return GivenShards(self.path, self.game, self.given.shards if self.given else 0)

    def first_weights(self) -> Weights | None:
        """What the run is to begin with; None if that is nothing, or once it has begun."""
        if self.origin is None or self.has_checkpoint():
            return None
        first = InitialWeights(str(_weights_path(self.path, 0)), self.load_weights(0))
        first.check(self.game, self.config.net)
        return first.weights


def hold(folder: Path) -> IO[bytes]:
    """Lock any folder that is trained in until the returned file is closed."""
    file = open_file(folder / ".lock", "ab")  # what a link leads to stays as it is
    os.utime(file.fileno())
    if not lock_descriptor(file.fileno(), blocking=False):
        file.close()
        raise RunFolderError(f"{folder} is being trained by another process")
    return file


def _check_free(path: Path) -> None:
    if os.path.lexists(path) and (not path.is_dir() or any(path.iterdir())):
        is_run = (path / "run.json").exists()
        remedy = f"go on with `rookery resume {quote(str(path))}` or " if is_run else ""
        raise RunFolderError(f"{path} exists already; {remedy}choose another folder")


@contextmanager
def _creating(path: Path, config: Config) -> Iterator[None]:
    """Make a new run folder with its settings; remove it if an error follows."""
    try:
        _make_folders(path)
        write_atomic(path / "config.json", to_json(config).encode())
        yield
    except BaseException as error:
        _remove_new(path)
        if isinstance(error, DiskFull):
            advice = "free some space and start again"
            raise DiskFull(f"no room left to create {path}; {advice}") from error
        raise


def _make_folders(run: Path) -> None:
    for folder in (run, run / "weights", run / "replay"):
        folder.mkdir(parents=True, exist_ok=True)


def _remove_new(run: Path) -> None:
    """Remove what a run folder consists of before it is whole, and the folder if it is empty."""
    for name in ("config.json", "run.json", "stats.jsonl", NAME):
        with suppress(OSError):
            (run / name).unlink()
    for name in ("weights", "replay", "given"):
        shutil.rmtree(run / name, ignore_errors=True)
    with suppress(OSError):
        run.rmdir()


@cache
def _note_older(missing: Path, used: int) -> None:
    """Say once that older weights are used."""
    _log.warning("note: %s is missing; using the weights of iteration %d instead", missing, used)


def _write_identity(
    run: Path,
    rules: Game,
    origin: Origin | None,
    parent: Parent | None = None,
    *,
    given: GivenGames | None = None,
) -> None:
    identity: dict[str, Any] = {"format": FORMAT, "game": rules.name, "version": rules.version}
    if rules.digest:
        identity["rules"] = rules.digest
    if origin is not None:
        identity["origin"] = asdict(origin)
    if parent is not None:
        identity["parent"] = asdict(parent)
    if given is not None:
        identity["given"] = asdict(given)
    write_atomic(run / "run.json", json.dumps(identity).encode())


def _weights_path(run: Path, iteration: int) -> Path:
    return run / "weights" / f"{iteration:06}.safetensors"
