"""How games are played against oneself."""

from dataclasses import dataclass

from rookery.base import ConfigError
from rookery.games import Game

MOST_PLIES = 512


@dataclass(frozen=True)
class SelfPlayConfig:
    """Settings of self-play."""

    games: int = 256
    """Games played in step; their leaves make one batch of the net."""
    simulations: str = "32"
    """Simulations a move, by progress of the run: "16, 32@0.3, 64@0.7" is 16 until 30 %, ..."""
    temperature: float = 1.0
    """Moves of the first plies are drawn from the search's policy, raised to 1 / temperature."""
    temperature_plies: int = 10
    """Plies, counted from the start of the game, that are drawn so."""
    opening_share: float = 0.5
    """Share of games that begin with random moves."""
    opening_plies: int = 6
    """Random moves of such an opening, at most."""
    max_plies: int = 0
    """A game that lasts so long is a draw; 0 = as long as the rules let it, to MOST_PLIES."""
    resign: float = 0.0
    """A player whose value falls below minus this resigns; 0 = nobody ever does."""
    resign_check: float = 0.1
    """Share of games in which nobody resigns, to see who would have been wrong to."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("games", 1, 1_000_000),
            ("temperature", 0.01, 100),
            ("temperature_plies", 0, 10_000),
            ("opening_share", 0, 1),
            ("opening_plies", 0, 1_000),
            ("max_plies", 0, 30_000),
            ("resign", 0, 1),
            ("resign_check", 0, 1),
        ):
            if not low <= getattr(self, name) <= high:
                value = getattr(self, name)
                raise ConfigError(f"selfplay.{name} must be in {low}..{high}, got {value}")
        self.schedule()

    def longest_game(self, game: Game) -> int:
        """The most plies that a game can have."""
        return min(game.max_plies, self.max_plies or MOST_PLIES)

    def schedule(self) -> tuple[tuple[float, int], ...]:
        """Pairs (progress, simulations), by rising progress."""
        try:
            parts = [part.strip().split("@") for part in self.simulations.split(",")]
            steps = tuple((float(at[0]) if at else 0.0, int(count)) for count, *at in parts)
        except ValueError:
            steps = ()
        starts = [start for start, _ in steps]
        if not steps or starts != sorted(starts) or any(count < 1 for _, count in steps):
            example = '"16, 32@0.3, 64@0.7"'
            raise ConfigError(
                f"selfplay.simulations must look like {example}, got {self.simulations!r}"
            )
        return steps

    def simulations_at(self, progress: float) -> int:
        """Simulations a move when `progress` (0 to 1) of the run is done."""
        return self.schedule()[self.step_at(progress)][1]

    def step_at(self, progress: float) -> int:
        """The step of the schedule when `progress` of the run is done."""
        return max(0, sum(start <= progress for start, _ in self.schedule()) - 1)

    def max_simulations(self) -> int:
        """The most that the schedule asks for."""
        return max(count for _, count in self.schedule())
