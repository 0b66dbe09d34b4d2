"""The search of a pgx environment with any evaluator, for the other scripts."""

import jax
import jax.numpy as jnp
import mctx


def search(env, evaluate, params, key, state, simulations=32):
    def recurrent_fn(params, key, action, state):
        player = state.current_player
        state = jax.vmap(env.step)(state, action)
        logits, value = evaluate(params, state.observation)
        return mctx.RecurrentFnOutput(
            reward=state.rewards[jnp.arange(len(player)), player],
            discount=jnp.where(state.terminated, 0.0, -1.0),
            prior_logits=jnp.where(state.legal_action_mask, logits, -1e9),
            value=jnp.where(state.terminated, 0.0, value),
        ), state

    logits, value = evaluate(params, state.observation)
    root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
    illegal = ~state.legal_action_mask
    return mctx.gumbel_muzero_policy(
        params, key, root, recurrent_fn, simulations, invalid_actions=illegal
    )


def position(env, actions):
    state = env.init(jax.random.key(0))
    for action in actions:
        state = env.step(state, action)
    return jax.tree.map(lambda x: x[None], state)
