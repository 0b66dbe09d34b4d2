"""One position at a time: what a net and its search think of it."""

from dataclasses import dataclass
from typing import Any

from rookery.base import IllegalPosition
from rookery.games import ONGOING, Board
from rookery.interface.formatting import written
from rookery.interface.players import NetRef
from rookery.search import new_search

DIGITS = 4


@dataclass(frozen=True)
class Analysis:
    """A search's answer, with moves as people write them. Values are for the player to move."""

    move: str
    value: float
    """From -1, lost, to 1, won."""
    draw: float
    """How probable a draw is."""
    policy: dict[str, float]
    visits: dict[str, int]

    def to_plain(self) -> dict[str, Any]:
        """As JSON takes it, with win, draw and loss probabilities."""
        wdl = ((1 - self.draw + self.value) / 2, self.draw, (1 - self.draw - self.value) / 2)
        return {
            "move": self.move,
            "value": round(self.value, DIGITS),
            "wdl": [round(share, DIGITS) for share in wdl],
            "policy": {move: round(share, DIGITS) for move, share in self.policy.items()},
            "visits": self.visits,
        }


class Analyser:
    """Searches positions given as text with a net."""

    def __init__(self, net: NetRef, *, devices: str = "cpu") -> None:
        self._game = net.game
        self._simulations = net.simulations
        self._search = new_search(
            net.game,
            net.player(inference="float32", devices=devices).evaluator(),
            config=net.search,
            num_games=1,
            max_simulations=net.simulations,
            explore=False,
            seed=net.seed,
        )

    def analyse(self, text: str) -> Analysis:
        """The answer to the position that `text` describes, or IllegalPosition."""
        board = Board.from_text(self._game, text)
        state, repetitions = board.state, self._search.repetitions
        if self._game.rules.outcome(state) != ONGOING:
            raise IllegalPosition("the game is over in this position; there is no move to find")
        self._search.roots[0] = state
        repetitions.keys[0], repetitions.counts[0] = (
            board.repetitions.keys[0],
            board.repetitions.counts[0],
        )
        found = self._search.run(self._simulations)
        moves = {
            action: written(self._game, state, action) for action in self._game.legal_actions(state)
        }
        return Analysis(
            move=moves[int(found.actions[0])],
            value=float(found.values[0, 0]),
            draw=float(found.values[0, 1]),
            policy={move: float(found.policy[0, action]) for action, move in moves.items()},
            visits={move: int(found.visits[0, action]) for action, move in moves.items()},
        )
