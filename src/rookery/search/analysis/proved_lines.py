"""The moves from a position that was proved as a leaf to the end of the game."""

from rookery.games import LOSS, ONGOING, WIN, Action, Game, State
from rookery.search.config import Settings
from rookery.search.proofs import bind_proofs
from rookery.search.simulate import bind_play
from rookery.search.tree import ROOT, new_tree, reset_tree

ONE_SIMULATION = 1


class ProvedLines:
    """Proves positions again, to find the fastest win and the slowest loss.

    It knows no positions played before: where they decide, a line may end early.
    """

    def __init__(self, game: Game, settings: Settings) -> None:
        self._game, self._settings = game, settings
        self._tree = new_tree(game, 1, ONE_SIMULATION, proves_leaves=True)
        self._kernels = bind_proofs(game.rules, bind_play(game.rules))

    def line_from(self, state: State) -> list[Action]:
        """Return the moves to the end of the game, as far as they are proved."""
        actions: list[Action] = []
        while self._game.rules.outcome(state) == ONGOING:
            proof, _, action = self._prove(state)
            if proof == LOSS:
                action = max(
                    self._game.legal_actions(state), key=lambda move: self._plies(state, move)
                )
            elif proof != WIN:
                break
            actions.append(action)
            state = self._after(state, action)
        return actions

    def _plies(self, state: State, action: Action) -> int:
        """Return how long the game lasts after a move of the losing player, 0 if unknown."""
        after = self._after(state, action)
        return self._prove(after)[1] if self._game.rules.outcome(after) == ONGOING else 0

    def _after(self, state: State, action: Action) -> State:
        after = state.copy()
        self._game.rules.play(after, action)
        return after

    def _prove(self, state: State) -> tuple[int, int, Action]:
        """Return the proof of a position, its length in plies and the winning move, if any."""
        tree = self._tree
        tree.states[0, ROOT] = state
        reset_tree(tree, ROOT)
        self._kernels.prove_leaf(tree, self._settings, ROOT, ROOT)
        root = tree.nodes[0, ROOT]
        return int(root.proof), int(root.proof_plies), int(tree.edges[0, 0].action)
