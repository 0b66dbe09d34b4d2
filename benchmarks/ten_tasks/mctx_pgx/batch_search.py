"""Search 64 positions of random games in one batch."""

import jax
import jax.numpy as jnp
from agent import search
from connect_four import env, load_run, net


def random_position(key):
    def ply(_, carry):
        state, key = carry
        key, used = jax.random.split(key)
        logits = jnp.log(state.legal_action_mask.astype(jnp.float32))
        after = env.step(state, jax.random.categorical(used, logits))
        return jax.tree.map(lambda a, b: jnp.where(after.terminated, b, a), after, state), key

    plies = jax.random.randint(key, (), 0, 30)
    return jax.lax.fori_loop(0, plies, ply, (env.init(key), key))[0]


states = jax.vmap(random_position)(jax.random.split(jax.random.key(1), 64))
print(search(env, net.apply, load_run()[0], jax.random.key(0), states).action)
