"""Search Nim with 200 simulations and without a network.

Nim: take one, two or three of seven matches; whoever takes the last one wins.
"""

import jax
import jax.numpy as jnp
import pgx
from agent import position, search
from pgx._src.struct import dataclass


@dataclass
class State(pgx.State):
    current_player: jax.Array = jnp.int32(0)
    observation: jax.Array = jnp.ones(7)
    rewards: jax.Array = jnp.zeros(2)
    terminated: jax.Array = jnp.bool_(False)
    truncated: jax.Array = jnp.bool_(False)
    legal_action_mask: jax.Array = jnp.ones(3, bool)
    _step_count: jax.Array = jnp.int32(0)
    matches: jax.Array = jnp.int32(7)

    @property
    def env_id(self):
        return "nim"


class Nim(pgx.Env):
    id, version, num_players = "nim", "1", 2

    def _init(self, key):
        return State()

    def _step(self, state, action, key):
        matches = state.matches - action - 1
        rewards = jnp.where(matches == 0, jnp.full(2, -1.0).at[state.current_player].set(1.0), 0.0)
        return state.replace(
            current_player=1 - state.current_player,
            matches=matches,
            rewards=rewards,
            terminated=matches == 0,
            legal_action_mask=jnp.arange(3) < matches,
        )

    def _observe(self, state, player_id):
        return (jnp.arange(7) < state.matches).astype(jnp.float32)


def evaluate(params, observation):
    return jnp.zeros((len(observation), 3)), jnp.zeros(len(observation))


state = position(Nim(), [])
print(search(Nim(), evaluate, None, jax.random.key(0), state, 200).action)
