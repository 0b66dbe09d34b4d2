"""A whole match in this process."""

from rookery.arena import MatchPlan, MatchReport, Player, play_part, report_match
from rookery.games import Game


def play_match(
    game: Game, a: Player, b: Player, *, games: int, seed: int, opening_plies: int
) -> MatchReport:
    """Play all parts of a match and return the report."""
    plan = MatchPlan(games, seed, opening_plies)
    parts = (play_part(game, a, b, plan.openings(game, part)) for part in range(plan.parts))
    return report_match(a.name, b.name, played=[each for part in parts for each in part])
