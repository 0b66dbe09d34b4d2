"""Connect Four and a search with any evaluator, for the other scripts."""

import pyspiel
from open_spiel.python.algorithms import mcts

game = pyspiel.load_game("connect_four")


def new_bot(evaluator):
    return mcts.MCTSBot(game, 2, 32, evaluator, child_selection_fn=mcts.SearchNode.puct_value)


def position(columns):
    state = game.new_initial_state()
    for column in columns:
        state.apply_action(column)
    return state
