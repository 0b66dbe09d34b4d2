"""Settings of self-play."""

from dataclasses import dataclass
from typing import ClassVar

from rookery.base import (
    MAX_GAMES,
    MAX_PLIES,
    MAX_SIMULATIONS,
    ConfigError,
    Ranges,
    check_ranges,
)
from rookery.games import Game

MOST_PLIES = 512


@dataclass(frozen=True)
class SelfPlayConfig:
    """Settings of self-play."""

    RANGES: ClassVar[Ranges] = {
        "games": (1, MAX_GAMES),
        "temperature": (0.01, 100),
        "temperature_plies": (0, 10_000),
        "opening_share": (0, 1),
        "opening_plies": (0, MAX_PLIES),
        "misjudged_share": (0, 1),
        "max_plies": (0, 30_000),
        "resign": (0, 1),
        "resign_check": (0, 1),
    }

    games: int = 256
    """Games played at once; their leaves are one batch of the network."""
    simulations: str = "32"
    """Simulations per move by progress of the run: "16, 32@0.3" is 16 until 30 %, then 32."""
    temperature: float = 1.0
    """Moves of the first plies are drawn from the policy, raised to 1 / temperature."""
    temperature_plies: int = 10
    """Plies, counted from the start of the game, whose moves are drawn."""
    opening_share: float = 0.5
    """Share of games that start with random moves."""
    opening_plies: int = 6
    """Maximum number of random moves of such an opening."""
    misjudged_share: float = 0.0
    """Share of games that start from a position that an earlier game misjudged."""
    max_plies: int = 0
    """Plies after which a game is a draw; 0 = the limit of the rules, at most 512."""
    resign: float = 0.0
    """A player whose value falls below minus this number resigns; 0 = players never resign."""
    resign_check: float = 0.1
    """Share of games played to the end, to measure how often resigning would be wrong."""

    def __post_init__(self) -> None:
        check_ranges("selfplay", self, self.RANGES)
        self.schedule()

    def longest_game(self, game: Game) -> int:
        """Return the maximum number of plies of a game."""
        return min(game.max_plies, self.max_plies or MOST_PLIES)

    def schedule(self) -> tuple[tuple[float, int], ...]:
        """Return pairs (progress, simulations), by rising progress."""
        try:
            parts = [part.strip().split("@") for part in self.simulations.split(",")]
            steps = tuple((float(at[0]) if at else 0.0, int(count)) for count, *at in parts)
        except ValueError:
            steps = ()
        starts = [start for start, _ in steps]
        are_shares = all(0 <= start <= 1 for start in starts) and starts == sorted(starts)
        if not (steps and are_shares and all(1 <= n <= MAX_SIMULATIONS for _, n in steps)):
            raise ConfigError(
                f"selfplay.simulations is {self.simulations!r}, expected whole numbers from 1 to "
                f'{MAX_SIMULATIONS}, as in "16, 32@0.3, 64@0.7"'
            )
        return steps

    def simulations_at(self, progress: float) -> int:
        """Return the simulations per move when `progress` (0 to 1) of the run is done."""
        return self.schedule()[self.step_at(progress)][1]

    def step_at(self, progress: float) -> int:
        """Return the step of the schedule when `progress` of the run is done."""
        return max(0, sum(start <= progress for start, _ in self.schedule()) - 1)

    def max_simulations(self) -> int:
        """Return the maximum of the schedule."""
        return max(count for _, count in self.schedule())
