"""Train a network of one's own: one convolution and two heads."""

import haiku as hk
import jax
import jax.numpy as jnp
import pgx

from training import new_run, train

env = pgx.make("connect_four")


def forward(x):
    x = hk.Flatten()(jax.nn.relu(hk.Conv2D(32, 3)(x.astype(jnp.float32))))
    return hk.Linear(env.num_actions)(x), jnp.tanh(hk.Linear(1)(x))[:, 0]


net = hk.without_apply_rng(hk.transform(forward))
train(env, net, new_run(env, net), 2, "plain.pickle")
