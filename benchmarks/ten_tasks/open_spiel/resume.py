"""Train the network of train.py for one more iteration.

Not offered: a training starts with new weights and without games. This makes every process load
the last weights instead; the replay buffer is empty and the steps are counted from one again.
"""

from open_spiel.python.algorithms.alpha_zero import alpha_zero

from training import config

build = alpha_zero._init_model_from_config


def build_trained(config):
    model = build(config)
    model.load_checkpoint(2)
    return model


alpha_zero._init_model_from_config = build_trained
if __name__ == "__main__":
    alpha_zero.alpha_zero(config.replace(max_steps=1))
