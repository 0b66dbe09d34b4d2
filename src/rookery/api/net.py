"""A network by name, ready to evaluate positions."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rookery.api.board import as_game
from rookery.api.players import NetRef, read_net
from rookery.base import (
    MAX_SIMULATIONS,
    ConfigError,
    UnknownName,
    check_new_files,
    write_atomic,
)
from rookery.games import Game
from rookery.gpu import find_device
from rookery.nets import load, pack, pack_onnx
from rookery.search import Evaluator, SearchConfig, choose_leaves
from rookery.training import PlayerSpec, game_spec

Floats = NDArray[np.float32]
ONNX, WEIGHTS = ".onnx", ".safetensors"


class Net:
    """A network of a game: an evaluator, and the search settings that it was trained with."""

    def __init__(self, ref: NetRef, *, devices: str = "cpu") -> None:
        self.ref, self.devices = ref, devices

    @property
    def name(self) -> str:
        """Its name in reports."""
        return self.ref.name

    @property
    def game(self) -> Game:
        """The game that it plays."""
        return self.ref.game

    @property
    def search(self) -> SearchConfig:
        """The settings of its search."""
        return self.ref.search

    @cached_property
    def evaluator(self) -> Evaluator:
        """The network on its device; created at the first use."""
        return self.spec(0).evaluator()

    def small_evaluator(self, rows: int) -> Evaluator:
        """Return the network for calls with `rows` positions; on a GPU that for any number."""
        if find_device(self.devices).type == "cuda":
            return self.evaluator
        return replace(self.spec(0), batch_size=rows).evaluator()

    @cached_property
    def leaves(self) -> int:
        """Leaves per batch of a search of one position; measured at the first use."""
        return choose_leaves(self.game, self.evaluator)

    def spec(self, simulations: int) -> PlayerSpec:
        """Return the description of a player with this network."""
        ref = replace(self.ref, simulations=simulations)
        return ref.player(inference=ref.inference, devices=self.devices)

    def save(self, path: str | Path, *, half: bool = False) -> Path:
        """Write it to a new file and return the path: NAME.onnx or NAME.safetensors.

        `half` stores the weights of a .safetensors file in float16.
        """
        path = Path(path)
        if path.suffix not in (ONNX, WEIGHTS):
            raise ConfigError(f"{path} must end in {ONNX} or {WEIGHTS}, which selects the format")
        if half and path.suffix == ONNX:
            raise ConfigError(f"half is for {WEIGHTS}; {ONNX} files are in float32")
        if self.ref.partners:
            raise ConfigError(f"a file holds one network, got {self.name}; save each separately")
        check_new_files(path)
        weights = self.ref.load()
        if path.suffix == ONNX:
            payload = pack_onnx(weights)
        else:
            payload = pack(weights.halved() if half else weights.state, weights.header)
        write_atomic(path, payload)
        return path

    def __call__(self, planes: Floats) -> tuple[Floats, Floats]:
        """Return logits [B, A] and win-draw-loss probabilities [B, 3] of planes [B, P, H, W]."""
        return self.evaluator(planes)

    def __repr__(self) -> str:
        return f"<Net {self.name} of {self.game.name} on {self.devices}>"


def load_net(
    name: str | Path,
    *,
    game: str | Game | None = None,
    devices: str = "cpu",
    trust_rules: bool = False,
) -> Net:
    """Return a network: of a run folder, `RUN@20`, a weights file, a game's own, or `A+B`.

    `game` is the rules file of a weights file for a game of your own; all others know their game.
    `devices` is where it runs: cpu, cuda:0 or auto. `trust_rules` allows executing the rules file
    of a run from somewhere else.
    """
    text = str(name)
    if text.endswith((WEIGHTS, ONNX)) and not Path(text).is_dir():
        return Net(_from_file(Path(text), game), devices=devices)
    if game is not None:
        raise ConfigError(f"game is for weights files; {text} says itself which game it plays")
    ref = read_net(text, others=(), trust_rules=trust_rules)
    if ref is None:
        raise ConfigError(f"{text} is a player without a network; give a run folder or a game")
    return Net(ref, devices=devices)


def as_net(net: Net | Evaluator | str | None) -> Net | Evaluator | None:
    """Return the network of a name; others as they are."""
    return load_net(net) if isinstance(net, str) else net


def parts_of(
    net: Net | Evaluator | None, game: Game, *, rows: int | None = None
) -> tuple[Evaluator, SearchConfig]:
    """Return the evaluator and the search settings, or ConfigError if it plays another game.

    With `rows` the evaluator is one for calls with this number of positions.
    """
    if net is None:
        return _uniform(game.num_actions), SearchConfig()
    if not isinstance(net, Net):
        return net, SearchConfig()
    if net.game.name != game.name:
        raise ConfigError(f"{net.name} plays {net.game.name}, not {game.name}")
    return net.evaluator if rows is None else net.small_evaluator(rows), net.search


def _uniform(num_actions: int) -> Evaluator:
    """Return an evaluator to which all moves and all results are equally likely."""

    def evaluate(planes: Floats) -> tuple[Floats, Floats]:
        rows = len(planes)
        return np.zeros((rows, num_actions), np.float32), np.full((rows, 3), 1 / 3, np.float32)

    return evaluate


def check_simulations(simulations: int) -> None:
    """Refuse a number of simulations that a search cannot have."""
    if not 0 <= simulations <= MAX_SIMULATIONS:
        raise ConfigError(f"simulations is {simulations}, expected 0 to {MAX_SIMULATIONS}")


def _from_file(path: Path, given: str | Game | None) -> NetRef:
    if path.suffix == ONNX:
        raise ConfigError(f"{path} is for other programs; load a run folder or a {WEIGHTS} file")
    weights = load(path)
    name = weights.header.game.name
    try:
        game = as_game(name if given is None else given)
    except UnknownName as error:
        if given is not None:
            raise
        raise ConfigError(
            f"{path} plays {name}, which does not come with Rookery; give its rules, as in "
            f"game='{name}.py'"
        ) from error
    weights.check(game_spec(game))
    return NetRef(path.name, game, SearchConfig(), lambda: weights, 0)
