"""Search with a function instead of a network: it prefers columns in the middle."""

from types import SimpleNamespace

import agent
import jax
import jax.numpy as jnp


def evaluate(params, observation):
    logits = jnp.tile(jnp.array([0.0, 1, 2, 3, 2, 1, 0]), (len(observation), 1))
    return logits, jnp.zeros(len(observation))


agent.net = SimpleNamespace(apply=evaluate)
print(agent.search(None, jax.random.key(0), agent.position([3, 3, 4, 2])).action)
