"""Connect Four and a small network, for the other scripts."""

import pickle

import haiku as hk
import jax
import jax.numpy as jnp
import pgx

env = pgx.make("connect_four")


def forward(x):
    x = hk.Conv2D(32, 3)(x.astype(jnp.float32))
    for _ in range(2):
        x = x + hk.Conv2D(32, 3)(jax.nn.relu(hk.Conv2D(32, 3)(jax.nn.relu(x))))
    x = hk.Flatten()(jax.nn.relu(x))
    return hk.Linear(env.num_actions)(x), jnp.tanh(hk.Linear(1)(x))[:, 0]


net = hk.without_apply_rng(hk.transform(forward))


def load_run():
    with open("run.pickle", "rb") as file:
        return pickle.load(file)
