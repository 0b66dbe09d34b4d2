"""Train Connect Four for two iterations."""

from open_spiel.python.algorithms.alpha_zero import alpha_zero

from training import config

if __name__ == "__main__":
    alpha_zero.alpha_zero(config)
