"""Self-play and updates of a network for a pgx environment, for the other scripts."""

import pickle
from functools import partial

import jax
import jax.numpy as jnp
import optax
from agent import search

optimiser = optax.adam(1e-3)


@partial(jax.jit, static_argnums=(0, 1))
def play(env, net, params, key):
    """Play eight games to the end; return their positions and targets."""

    def ply(state, key):
        out = search(env, net.apply, params, key, state)
        after = jax.vmap(env.step)(state, out.action)
        return after, (state, out.action_weights, after.rewards)

    first, rest = jax.random.split(key)
    start = jax.vmap(env.init)(jax.random.split(first, 8))
    _, (states, policy, rewards) = jax.lax.scan(ply, start, jax.random.split(rest, 42))
    value = rewards.sum(0)[jnp.arange(8), states.current_player]
    return states.observation, policy, value, ~states.terminated


def new_run(env, net):
    observation = jax.vmap(env.init)(jax.random.split(jax.random.key(0), 1)).observation
    params = net.init(jax.random.key(1), observation)
    return params, optimiser.init(params), []


@partial(jax.jit, static_argnums=0)
def update(net, params, opt_state, data):
    def loss(params, observation, policy, value, mask):
        logits, values = jax.vmap(net.apply, (None, 0))(params, observation)
        losses = optax.softmax_cross_entropy(logits, policy) + (values - value) ** 2
        return (losses * mask).sum() / mask.sum()

    found, gradients = jax.value_and_grad(loss)(params, *data)
    updates, opt_state = optimiser.update(gradients, opt_state)
    return optax.apply_updates(params, updates), opt_state, found


def train(env, net, run, iterations, path):
    params, opt_state, losses = run
    for _ in range(iterations):
        data = play(env, net, params, jax.random.key(len(losses)))
        for _ in range(8):
            params, opt_state, found = update(net, params, opt_state, data)
        losses.append(float(found))
    with open(path, "wb") as file:
        pickle.dump((params, opt_state, losses), file)
    print(losses)
