"""Play ten games of the network of train.py against random moves."""

import jax
import jax.numpy as jnp
from agent import search
from connect_four import env, load_run, net

params, ours = load_run()[0], jnp.arange(10) % 2


def ply(carry, key):
    state, score = carry
    found = search(env, net.apply, params, key, state).action
    drawn = jax.random.categorical(key, jnp.where(state.legal_action_mask, 0.0, -jnp.inf))
    state = jax.vmap(env.step)(state, jnp.where(state.current_player == ours, found, drawn))
    return (state, score + state.rewards[jnp.arange(10), ours]), None


state = jax.vmap(env.init)(jax.random.split(jax.random.key(0), 10))
keys = jax.random.split(jax.random.key(1), 42)
(_, score), _ = jax.lax.scan(ply, (state, jnp.zeros(10)), keys)
print((score > 0).sum(), (score == 0).sum(), (score < 0).sum())
