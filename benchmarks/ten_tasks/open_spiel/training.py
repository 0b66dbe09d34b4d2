"""The settings of a short training, for the other scripts."""

import os

from open_spiel.python.algorithms.alpha_zero import alpha_zero

config = alpha_zero.Config(
    game="connect_four",
    path=os.path.abspath("run"),
    learning_rate=1e-3,
    weight_decay=1e-4,
    decouple_weight_decay=False,
    train_batch_size=64,
    replay_buffer_size=512,
    replay_buffer_reuse=3,
    max_steps=2,
    checkpoint_freq=1,
    actors=1,
    evaluators=0,
    evaluation_window=50,
    eval_levels=2,
    uct_c=2,
    max_simulations=32,
    policy_alpha=1,
    policy_epsilon=0.25,
    temperature=1,
    temperature_drop=10,
    nn_model="resnet",
    nn_width=32,
    nn_depth=2,
    observation_shape=None,
    output_size=None,
    verbose=False,
    quiet=True,
)
