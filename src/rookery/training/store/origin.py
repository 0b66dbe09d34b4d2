"""Where a run's first weights come from, if it does not begin from nothing."""

from dataclasses import dataclass, fields

from torch import nn

from rookery.base import ConfigError
from rookery.games import Game
from rookery.nets import GameSpec, NetConfig, Weights, build_net


@dataclass(frozen=True)
class Origin:
    """What the run's folder tells of them."""

    source: str
    """The run, file or game that was named."""
    fingerprint: str
    step: int
    """Updates they had seen; those of the run are counted anew."""


@dataclass(frozen=True)
class InitialWeights:
    """Weights that a new run is to begin with."""

    source: str
    weights: Weights

    @property
    def origin(self) -> Origin:
        """What to remember of them."""
        return Origin(self.source, self.weights.fingerprint, self.weights.header.step)

    def check(self, rules: Game, net: NetConfig) -> None:
        """ConfigError if they are not of a net like `net` that plays by `rules`."""
        self.weights.check(game_spec(rules))
        own = self.weights.header.config
        for name in (field.name for field in fields(NetConfig)):
            wanted, found = getattr(net, name), getattr(own, name)
            if wanted != found:
                raise ConfigError(
                    f"net.{name} is {wanted}, but {found} in {self.source}, whose weights "
                    "the run is to begin with; leave net settings out, or begin from nothing"
                )


def new_net(config: NetConfig, rules: Game) -> nn.Module:
    """A net with random weights for the game of `rules`."""
    return build_net(config, rules.planes_shape, rules.num_actions, policy_cells=rules.policy_cells)


def game_spec(rules: Game) -> GameSpec:
    """What a net that plays by `rules` must fit."""
    return GameSpec(rules.name, rules.version, rules.planes_shape, rules.num_actions)
