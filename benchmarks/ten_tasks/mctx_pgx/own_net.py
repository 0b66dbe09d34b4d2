"""Train a network of one's own: one convolution and two heads."""

import agent
import haiku as hk
import jax
import jax.numpy as jnp

from training import new_run, train


def forward(x):
    x = hk.Flatten()(jax.nn.relu(hk.Conv2D(32, 3)(x.astype(jnp.float32))))
    return hk.Linear(agent.env.num_actions)(x), jnp.tanh(hk.Linear(1)(x))[:, 0]


agent.net = hk.without_apply_rng(hk.transform(forward))
train(new_run(), 2, "plain.pickle")
