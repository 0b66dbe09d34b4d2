"""Where a run's first weights come from: random numbers, or another network."""

from dataclasses import dataclass, fields

from torch import nn

from rookery.base import ConfigError
from rookery.games import Game
from rookery.nets import GameSpec, NetConfig, Weights, build_net
from rookery.training.config import Config


@dataclass(frozen=True)
class Origin:
    """What the run folder records of them."""

    source: str
    """The run, file or game that was given."""
    fingerprint: str
    step: int
    """Updates they had seen; the run counts its own from 0."""


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

    @property
    def origin(self) -> Origin:
        """What the run folder records of them."""
        return Origin(self.source, self.weights.fingerprint, self.weights.header.step)

    def check(self, rules: Game, net: NetConfig) -> None:
        """Raise ConfigError unless they are of a network like `net` for this game."""
        self.weights.check(game_spec(rules))
        own = self.weights.header.config
        for name in (field.name for field in fields(NetConfig)):
            wanted, found = getattr(net, name), getattr(own, name)
            if wanted != found:
                raise ConfigError(
                    f"net.{name} is {wanted}, but {found} in {self.source}, whose weights "
                    "the run starts with; leave net settings out, or start from scratch"
                )


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
