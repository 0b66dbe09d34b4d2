"""The network of train.py, for the other scripts."""

import json
import os

from bots import game, new_bot
from open_spiel.python.algorithms.alpha_zero import evaluator, utils


def load_model():
    with open("run/config.json") as file:
        config = json.load(file)
    model = utils.api_selector(config["nn_api_version"]).Model.build_model(
        config["nn_model"],
        config["observation_shape"],
        config["output_size"],
        config["nn_width"],
        config["nn_depth"],
        config["weight_decay"],
        config["learning_rate"],
        os.path.abspath("run"),
    )
    model.load_checkpoint(2)
    return model


def load_bot():
    return new_bot(evaluator.AlphaZeroEvaluator(game, load_model()))
