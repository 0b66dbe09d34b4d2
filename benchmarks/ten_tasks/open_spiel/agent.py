"""Connect Four, the network of a run and its search, for the other scripts."""

import json
import os

import pyspiel
from open_spiel.python.algorithms import mcts
from open_spiel.python.algorithms.alpha_zero import evaluator, utils

game = pyspiel.load_game("connect_four")


def load_model(step, path=os.path.abspath("run")):
    with open(f"{path}/config.json") as file:
        config = json.load(file)
    model = utils.api_selector(config["nn_api_version"]).Model.build_model(
        config["nn_model"],
        config["observation_shape"],
        config["output_size"],
        config["nn_width"],
        config["nn_depth"],
        config["weight_decay"],
        config["learning_rate"],
        path,
    )
    model.load_checkpoint(step)
    return model


def new_bot(evaluate, simulations=32, game=game):
    return mcts.MCTSBot(
        game, 2, simulations, evaluate, child_selection_fn=mcts.SearchNode.puct_value
    )


def load_bot():
    return new_bot(evaluator.AlphaZeroEvaluator(game, load_model(2)))


def position(columns):
    state = game.new_initial_state()
    for column in columns:
        state.apply_action(column)
    return state
