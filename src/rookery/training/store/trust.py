"""Which rules files this user trusts: a run folder, which may come from anybody, names code.

A rules file that the user trains with is trusted from then on, and so is one that was opened with
`--trust-rules`. The record lies outside of all run folders, one file per trusted rules file,
named by its SHA-256, in the folder `trusted-rules` of `$ROOKERY_STATE`,
`$XDG_STATE_HOME/rookery` or `~/.local/state/rookery`.
"""

import logging
import os
from pathlib import Path

from rookery.base import RookeryError, RunFolderError, write_atomic
from rookery.games import Game, is_loaded, is_shipped, load_game, read_rules, rules_digest

_log = logging.getLogger(__name__)


def rules_of_run(run: Path, name: str, *, trained_with: str, trust_rules: bool) -> Game:
    """Load the game `name` of the run folder `run`; RunFolderError if its rules are not trusted.

    `trained_with` is the SHA-256 that the folder tells, empty if it tells none. Such a folder
    proves nothing about its rules: what counts is that this user trusts the file.
    """
    if is_shipped(name) or not name.endswith(".py"):
        return load_game(name)
    digest = rules_digest(read_rules(name))
    if not trust_rules:
        _require_trust(run, name, digest=digest, trained_with=trained_with)
    rules = load_game(name, digest)
    if trust_rules:
        remember(rules)
    return rules


def remember(rules: Game) -> None:
    """Trust the rules file of a game from now on; a shipped game needs no trust."""
    if not rules.digest or is_trusted(rules.digest):
        return
    folder = _folder()
    try:
        if folder is None:
            raise OSError("there is no home folder")
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / rules.digest, os.fsencode(f"{rules.path}\n"))
    except (OSError, RookeryError) as error:
        _log.warning(
            "note: cannot record that %s is trusted (%s); commands that open a run of it "
            "will need --trust-rules",
            rules.path,
            error,
        )


def is_trusted(digest: str) -> bool:
    """Whether this user has trusted a rules file of this SHA-256."""
    folder = _folder()
    return folder is not None and os.path.isfile(folder / digest)


def _require_trust(run: Path, name: str, *, digest: str, trained_with: str) -> None:
    if trained_with and trained_with != digest:
        raise RunFolderError(
            f"the rules in {name} have changed since {run} was trained; restore that file, or "
            "repeat the command with --trust-rules to use it as it is"
        )
    if not (is_loaded(digest) or is_trusted(digest)):
        raise RunFolderError(
            f"{run} was trained with the rules in {name}, which this user has not trusted; "
            "read that file, then repeat the command with --trust-rules"
        )


def _folder() -> Path | None:
    """Where the record lies; None without a home folder, since the current one is anybody's."""
    if own := os.environ.get("ROOKERY_STATE"):
        return Path(own) / "trusted-rules"
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        state = os.path.join(os.path.expanduser("~"), ".local", "state")
    return Path(state) / "rookery" / "trusted-rules" if os.path.isabs(state) else None
