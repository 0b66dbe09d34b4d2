"""Connect Four, a small network and its search, for the other scripts."""

import haiku as hk
import jax
import jax.numpy as jnp
import mctx
import pgx

env = pgx.make("connect_four")


def forward(x):
    x = hk.Conv2D(32, 3)(x.astype(jnp.float32))
    for _ in range(2):
        x = x + hk.Conv2D(32, 3)(jax.nn.relu(hk.Conv2D(32, 3)(jax.nn.relu(x))))
    x = hk.Flatten()(jax.nn.relu(x))
    return hk.Linear(env.num_actions)(x), jnp.tanh(hk.Linear(1)(x))[:, 0]


net = hk.without_apply_rng(hk.transform(forward))


def recurrent_fn(params, key, action, state):
    player = state.current_player
    state = jax.vmap(env.step)(state, action)
    logits, value = net.apply(params, state.observation)
    return mctx.RecurrentFnOutput(
        reward=state.rewards[jnp.arange(len(player)), player],
        discount=jnp.where(state.terminated, 0.0, -1.0),
        prior_logits=jnp.where(state.legal_action_mask, logits, -1e9),
        value=jnp.where(state.terminated, 0.0, value),
    ), state


def search(params, key, state, simulations=32):
    logits, value = net.apply(params, state.observation)
    root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
    mask = ~state.legal_action_mask
    return mctx.gumbel_muzero_policy(
        params, key, root, recurrent_fn, simulations, invalid_actions=mask
    )


def position(columns):
    state = env.init(jax.random.key(0))
    for column in columns:
        state = env.step(state, column)
    return jax.tree.map(lambda x: x[None], state)
