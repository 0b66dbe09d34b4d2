"""Self-play of Connect Four or chess by mctx and pgx: Gumbel search, auto-reset, one scan.

The net is Rookery's: a residual tower with the same heads, batch norm folded, untrained (every
move is equally good to it); where pgx numbers moves by square and kind, as in chess, the policy is
drawn on the board. Samples are brought to the host. Compiling is not timed.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

POLICY_CHANNELS, VALUE_CHANNELS, VALUE_WIDTH = 4, 2, 32
DTYPES = ("float32", "bfloat16")


@dataclass(frozen=True)
class Setting:
    """What is played with."""

    width: int
    depth: int
    simulations: int
    batch: int
    plies: int = 8
    """Plies that are played between two visits of the host."""


@dataclass(frozen=True)
class Rate:
    """What was done in a stretch, a second."""

    positions: float
    """Positions searched and kept as training samples."""
    evaluations: float
    """Positions the net was asked about for that."""
    forwards: float
    """Evaluations of the bare net at the same batch, in the same process."""
    setting: str
    """Batch and precision."""


def calls_per_second(call: Callable[[], object], seconds: float) -> float:
    """How often `call` can be made, after one call that is not timed."""
    call()
    start, count = time.perf_counter(), 0
    while (elapsed := time.perf_counter() - start) < seconds:
        call()
        count += 1
    return count / elapsed


def jax_net(setting: Setting, env: Any, seed: int = 0) -> dict[str, Any]:
    """Weights of the net as jax arrays, channels last, batch norm already folded into biases."""
    import jax
    import jax.numpy as jnp

    keys = iter(jax.random.split(jax.random.key(seed), 2 * setting.depth + 5))

    def layer(*shape: int) -> tuple[Any, Any]:
        scale = math.sqrt(2 / math.prod(shape[:-1]))
        return scale * jax.random.normal(next(keys), shape), jnp.zeros(shape[-1])

    def zeros(*shape: int) -> tuple[Any, Any]:
        return jnp.zeros(shape), jnp.zeros(shape[-1])

    width, (rows, columns, planes) = setting.width, env.observation_shape
    cells, actions = rows * columns, env.num_actions
    blocks = [(layer(3, 3, width, width), layer(3, 3, width, width)) for _ in range(setting.depth)]
    flat = (layer(1, 1, width, POLICY_CHANNELS), zeros(POLICY_CHANNELS * cells, actions))
    drawn = (zeros(1, 1, width, actions // cells),)
    return {
        "stem": layer(3, 3, planes, width),
        "blocks": blocks,
        "policy": flat if actions % cells else drawn,
        "value": (
            layer(1, 1, width, VALUE_CHANNELS),
            layer(VALUE_CHANNELS * cells, VALUE_WIDTH),
            zeros(VALUE_WIDTH, 3),
        ),
    }


def jax_forward(net: dict[str, Any], planes: Any) -> tuple[Any, Any]:
    """Logits [B, A] and value [B] of planes [B, H, W, P], in the precision of the weights."""
    import jax
    import jax.numpy as jnp

    def conv(x: Any, layer: tuple[Any, Any]) -> Any:
        names = ("NHWC", "HWIO", "NHWC")
        y = jax.lax.conv_general_dilated(x, layer[0], (1, 1), "SAME", dimension_numbers=names)
        return y + layer[1]

    def dense(x: Any, layer: tuple[Any, Any]) -> Any:
        return x.reshape(len(x), -1) @ layer[0] + layer[1]

    relu = jax.nn.relu
    x = relu(conv(planes.astype(net["stem"][0].dtype), net["stem"]))
    for first, second in net["blocks"]:
        x = relu(conv(relu(conv(x, first)), second) + x)
    policy, value = net["policy"], net["value"]
    drawn = conv(x, policy[0])
    logits = dense(relu(drawn), policy[1]) if len(policy) > 1 else drawn.reshape(len(x), -1)
    hidden = relu(dense(relu(conv(x, value[0])), value[1]))
    wdl = jax.nn.softmax(dense(hidden, value[2]).astype(jnp.float32))
    return logits.astype(jnp.float32), wdl[:, 0] - wdl[:, 2]


def masked(logits: Any, legal: Any) -> Any:
    import jax.numpy as jnp

    return jnp.where(legal, logits, jnp.finfo(jnp.float32).min)


def mctx_recurrent(env: Any) -> Callable[..., tuple[Any, Any]]:
    """mctx's model of the game: pgx's step, then the net."""
    import jax
    import jax.numpy as jnp
    import mctx

    def recurrent(net: dict[str, Any], key: Any, actions: Any, states: Any) -> tuple[Any, Any]:
        movers = states.current_player
        states = jax.vmap(env.step)(states, actions)
        logits, values = jax_forward(net, states.observation)
        rewards = states.rewards[jnp.arange(len(movers)), movers]
        output = mctx.RecurrentFnOutput(
            reward=rewards,
            discount=jnp.where(states.terminated, 0.0, -1.0),
            prior_logits=masked(logits, states.legal_action_mask),
            value=jnp.where(states.terminated, 0.0, values),
        )
        return output, states

    return recurrent


def mctx_play(env: Any, setting: Setting) -> Any:
    """Compiled, plays `setting.plies` plies: (net, states, key) -> (states, samples)."""
    import jax
    import mctx
    from pgx.experimental import auto_reset

    recurrent = mctx_recurrent(env)
    step = jax.vmap(auto_reset(env.step, env.init))

    def ply(net: dict[str, Any], states: Any, key: Any) -> tuple[Any, Any]:
        search_key, reset_key = jax.random.split(key)
        logits, values = jax_forward(net, states.observation)
        root = mctx.RootFnOutput(prior_logits=logits, value=values, embedding=states)
        illegal = ~states.legal_action_mask
        found = mctx.gumbel_muzero_policy(
            net, search_key, root, recurrent, setting.simulations, invalid_actions=illegal
        )
        after = step(states, found.action, jax.random.split(reset_key, len(illegal)))
        samples = states.observation, found.action_weights, after.rewards, after.terminated
        return after, samples

    def play(net: dict[str, Any], states: Any, key: Any) -> Any:
        keys = jax.random.split(key, setting.plies)
        return jax.lax.scan(lambda state, key: ply(net, state, key), states, keys)

    return jax.jit(play)


def fastest_net(
    setting: Setting, env: Any, states: Any, *, seconds: float, dtypes: tuple[str, ...]
) -> Any:
    """The precision of the faster bare forward, its net, and its evaluations per second."""
    import jax

    forward, rates = jax.jit(jax_forward), {}
    nets = {
        name: jax.tree.map(lambda array, name=name: array.astype(name), jax_net(setting, env))
        for name in dtypes
    }
    for name, net in nets.items():

        def ask(net: dict[str, Any] = net) -> None:
            jax.block_until_ready([forward(net, states.observation) for _ in range(10)])

        rates[name] = 10 * setting.batch * calls_per_second(ask, seconds)
    best = max(rates, key=rates.__getitem__)
    return best, nets[best], rates[best]


def new_states(env: Any, batch: int) -> Any:
    """Games that begin."""
    import jax

    return jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), batch))


def mctx_rates(
    setting: Setting,
    seconds: float,
    *,
    rounds: int,
    dtypes: tuple[str, ...] = DTYPES,
    game: str = "connect_four",
) -> list[Rate]:
    """`rounds` stretches of self-play in one process, in the precision that is faster."""
    import jax
    import pgx

    env = pgx.make(game)
    states = new_states(env, setting.batch)
    dtype, net, forwards = fastest_net(setting, env, states, seconds=seconds / 4, dtypes=dtypes)
    play, key = mctx_play(env, setting), jax.random.key(1)

    def more() -> None:
        nonlocal states, key
        key, call_key = jax.random.split(key)
        states, samples = play(net, states, call_key)
        jax.device_get(samples)

    rates = []
    for _ in range(rounds):
        positions = setting.batch * setting.plies * calls_per_second(more, seconds)
        asked = positions * (setting.simulations + 1)
        rates.append(Rate(positions, asked, forwards, f"batch {setting.batch} {dtype}"))
    return rates


def mctx_compile(setting: Setting, *, dtype: str, game: str) -> None:
    """Compile what `mctx_rates` runs, for jax's cache on disk."""
    import jax
    import pgx

    env = pgx.make(game)
    net = jax.tree.map(lambda array: array.astype(dtype), jax_net(setting, env))
    arguments = net, new_states(env, setting.batch), jax.random.key(1)
    mctx_play(env, setting).lower(*arguments).compile()
