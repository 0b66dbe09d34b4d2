"""Where a run's first weights come from: random numbers, or another network."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

import torch
from torch import nn

from rookery.base import ConfigError
from rookery.games import Game
from rookery.nets import GameSpec, NetConfig, Weights, WeightsHeader, build_net, pack, unpack
from rookery.training.config import Config

SHOWN_PARTS = 8
"""Parts that a note names, at most."""


@dataclass(frozen=True)
class Origin:
    """What the run folder records of them."""

    source: str
    """The run, file or game that was given."""
    fingerprint: str
    step: int
    """Updates they had seen; the run counts its own from 0."""
    copied: int = 0
    """Tensors that were copied from there."""
    tensors: int = 0
    """Tensors of the network, without its counters."""
    new: tuple[str, ...] = ()
    """The parts that were not copied, and began with random numbers."""
    game: str = ""
    """The game of that network, if it is not that of the run or has other rules."""

    @property
    def note(self) -> str:
        """What was copied and what was not; empty if all of it was, from the same game."""
        if not (self.new or self.game):
            return ""
        more = len(self.new) - SHOWN_PARTS
        names = [*self.new[:SHOWN_PARTS], *([f"{more} more"] if more > 0 else [])]
        made_for = f", a network of {self.game}" if self.game else ""
        rest = f"; new: {', '.join(names)}" if names else ""
        copied = f"copied {self.copied} of {self.tensors} tensors"
        return f"{copied} from {self.source}{made_for}{rest}"


@dataclass(frozen=True)
class Parent:
    """The run and its iteration that a run continues from in a folder of its own."""

    run: str
    iteration: int


@dataclass(frozen=True)
class InitialWeights:
    """Weights that a new run starts with."""

    source: str
    weights: Weights

    def fit(self, config: Config, rules: Game) -> tuple[Weights, Origin]:
        """Return weights of the run's network with all tensors that it can copy from these.

        A tensor is copied if name and shape are the same; the others are those of a new network.
        Blocks that a deeper network has in addition pass on what they get, so that it begins as
        the network that was given.
        """
        header, state = self.weights.header, new_net(config, rules).state_dict()
        if header.config.kind != config.net.kind:
            raise self._mismatch("kind", config.net)
        fitted = WeightsHeader(game_spec(rules), config.net, header.step)
        floating = [name for name, tensor in state.items() if tensor.is_floating_point()]
        copied = {
            name: found for name in floating if (found := self._find(name, state[name].shape))
        }
        new = [name for name in floating if name not in copied]
        origin = Origin(
            self.source,
            self.weights.fingerprint,
            header.step,
            copied=len(copied),
            tensors=len(floating),
            new=tuple(_parts(new, copied)),
            game="" if header.game == fitted.game else _title(header.game),
        )
        if header == fitted:
            return self.weights, origin
        for name, source in copied.items():
            state[name].copy_(self.weights.state[source])
        is_as_wide = any(name.endswith("stem.norm.weight") for name in copied)
        for name in new:
            if is_as_wide and name.endswith("second.norm.weight"):
                state[name].zero_()
        return unpack(pack(state, fitted)), origin

    def _find(self, name: str, shape: torch.Size) -> str:
        """Return the name of the tensor to copy, empty if none has the shape.

        One network fits every member of an ensemble, and the first member fits one network.
        """
        alone, state = re.sub(r"members\.\d+\.", "", name), self.weights.state
        names = [each for each in (name, alone, f"members.0.{name}") if each in state]
        return names[0] if names and state[names[0]].shape == shape else ""

    def check(self, rules: Game, net: NetConfig) -> None:
        """Raise ConfigError unless they are of a network like `net` for this game."""
        self.weights.check(game_spec(rules))
        own = self.weights.header.config
        for name in (field.name for field in fields(NetConfig)):
            if getattr(net, name) != getattr(own, name):
                raise self._mismatch(name, net)

    def _mismatch(self, name: str, net: NetConfig) -> ConfigError:
        wanted, found = getattr(net, name), getattr(self.weights.header.config, name)
        return ConfigError(
            f"net.{name} is {wanted}, but {found} in {self.source}, whose weights the run starts "
            "with; leave net settings out, or start from scratch"
        )


def _title(game: GameSpec) -> str:
    return f"{game.name} version {game.version}"


def _parts(new: Iterable[str], copied: Iterable[str]) -> Iterator[str]:
    """Yield the largest parts of a network that hold tensors of `new` and none of `copied`."""
    partly = {part for name in copied for part in _prefixes(name)}
    yield from dict.fromkeys(
        next(part for part in _prefixes(name) if part not in partly) for name in new
    )


def _prefixes(name: str) -> list[str]:
    """Return stem, stem.conv and stem.conv.weight for the last of them."""
    words = name.split(".")
    return [".".join(words[:end]) for end in range(1, len(words) + 1)]


def new_net(config: Config, game: Game) -> nn.Module:
    """Return a network for `game` with random weights, which follow from the run's seed."""
    return build_net(
        config.net,
        game.planes_shape,
        game.num_actions,
        policy_cells=game.policy_cells,
        seed=config.run.seed,
    )


def game_spec(game: Game) -> GameSpec:
    """Return what a network that plays `game` must fit."""
    return GameSpec(game.name, game.version, game.planes_shape, game.num_actions)
