"""Check that planes show what the rules depend on: positions with equal planes must agree."""

from rookery.games.contract.random_games import (
    CheckFailed,
    CheckWarning,
    RandomGames,
    after,
    legal_moves,
    planes_of,
)
from rookery.games.game import DRAW, ONGOING, Action, Game, State


def check_information(played: RandomGames) -> str:
    """Check that positions with equal planes have the same outcome and legal moves.

    A count of moves that ends a game as a draw need not be in the planes, so that it only warns.
    """
    game, pairs, warning = played.game, 0, ""
    seen: dict[bytes, tuple[State, list[Action]]] = {}
    for state, line in played.positions():
        view = planes_of(game, game.rules, state).tobytes()
        other, earlier = seen.setdefault(view, (state.copy(), line))
        if other.tobytes() == state.tobytes():
            continue
        pairs += 1
        difference, is_count = _difference(game, other, state)
        if difference:
            message = (
                f"planes are equal {after(earlier)} and {after(line)}, but these positions have"
                f" {difference}: write everything that the rules depend on, as the player to"
                f" move sees it\n{game.show(other)}\n\n{game.show(state)}"
            )
            if not is_count:
                raise CheckFailed(message)
            warning = warning or message
    if warning:
        raise CheckWarning(warning)
    return f"{len(seen)} different planes; {pairs} pairs of states with equal planes agree"


def _difference(game: Game, first: State, second: State) -> tuple[str, bool]:
    """Return how two positions differ, and whether a count of moves may explain it."""
    outcomes = {int(game.rules.outcome(state)) for state in (first, second)}
    if len(outcomes) > 1:
        return "different outcomes", outcomes == {DRAW, ONGOING}
    moves = [sorted(legal_moves(game, game.rules, state)) for state in (first, second)]
    is_different = outcomes == {ONGOING} and moves[0] != moves[1]
    return "different legal moves" if is_different else "", False
