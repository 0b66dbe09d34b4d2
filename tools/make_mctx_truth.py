"""Make tests/search/data/mctx.json: what mctx finds with a toy evaluator, for our search to match.

A developer's tool, not run by the tests. Making the file needs jax and mctx (pgx is not used: the
rules below are our own, on jnp arrays); checking it needs nothing but Python:

    python tools/make_mctx_truth.py             # with jax and mctx: writes the file
    python tools/make_mctx_truth.py --verify    # searches again in plain Python and compares

The plain search (plain_search.py) shares no code with what is here. Cases in which rounding could
decide are left out of the file.
"""

import argparse
import functools
import json
import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from plain_search import Board, Record, largest_difference, search_again

OUTPUT = Path(__file__).parents[1] / "tests" / "search" / "data" / "mctx.json"
SIMULATIONS = (16, 32, 50)
CONSIDERED = {"connect4": (4, 7), "tictactoe": (4, 9)}
MARGIN = 1e-4  # a choice between scores nearer than this could be decided by rounding
ABOUT = """\
Root statistics of mctx searches, for a search of ours to reproduce with proving of terminal nodes
switched off. Made by tools/make_mctx_truth.py, which explains how and can check them.
'evaluators': per game, x = planes [2, H, W] (the mover's stones, the waiter's; top row first,
left column first) flattened in that order, logits = x @ policy_weights + policy_bias, value =
tanh(x @ value_weights) for the player to move, draw probability 0. 'cases', one search each:
'position' is the moves so far (connect4: columns 1-7, tictactoe: cells 1-9); 'policy' is 'gumbel'
(Gumbel root, considering at most 'considered' actions, sigma(q) = (50 + max visits) * (q + 1) /
2, completed by the mixed value) or 'puct' (c = 1.25 + log((n + 19653) / 19652) times prior *
sqrt(n) / (1 + child visits), where n counts the node's own evaluation: 1 + sum of child visits;
an unvisited child has q = mean value of its parent, own evaluation included, less 0.2; no root
noise). 'gumbel' is the noise added to the root logits, null for none. Results, by action (illegal
ones too): 'visits'; 'weights', the improved policy (gumbel) or the visit shares (puct); 'q', mean
value of the action for the root's player, null where unvisited. 'action' is the choice (puct: one
of the most visited, mctx breaks ties by chance); 'value' is the mean of the root's own evaluation
and its simulations, for the player to move; 'margin' is the least difference between the best and
second best score at any choice of a child."""

Jax = Callable[..., Any]


# The toy evaluators and the positions.


def toy_evaluator(rng: random.Random, cells: int, num_actions: int, *, scale: float) -> Record:
    """Random weights, rounded, of a linear policy and value on 2 * cells inputs."""

    def vector(size: int, deviation: float) -> list[float]:
        return [round(rng.gauss(0.0, deviation), 4) for _ in range(size)]

    return {
        "policy_weights": [vector(num_actions, 0.4 * scale) for _ in range(2 * cells)],
        "policy_bias": vector(num_actions, 0.7),
        "value_weights": vector(2 * cells, 0.15 * scale),
    }


def random_positions(name: str, plies: Sequence[int], rng: random.Random) -> list[str]:
    """One unfinished position of random play per number of plies, as moves, all different."""
    positions: list[str] = []
    for length in plies:
        while True:
            board = Board(name)
            while len(board.moves) < length and board.result is None:
                board = board.after(rng.choice(board.legal()))
            text = "".join(str(move + 1) for move in board.moves)
            if board.result is None and text not in positions:
                positions.append(text)
                break
    return positions


# The jax half: rules on a batch of boards [B, H * W], 1 the mover's stones and -1 the waiter's.


def lines_of(height: int, width: int, length: int) -> list[list[int]]:
    """The cells of every winning line."""
    lines = []
    for row in range(height):
        for column in range(width):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                ends = row + down * (length - 1), column + right * (length - 1)
                if 0 <= ends[0] < height and 0 <= ends[1] < width:
                    step = down * width + right
                    lines.append([row * width + column + step * k for k in range(length)])
    return lines


def jax_game(name: str, evaluator: Record) -> tuple[Jax, Jax]:
    """`evaluate(boards)` and mctx's `recurrent_fn` of a game."""
    import jax.numpy as jnp
    import mctx

    connect4 = name == "connect4"
    lines = jnp.array(lines_of(6, 7, 4) if connect4 else lines_of(3, 3, 3))
    weights = {key: jnp.array(value, jnp.float32) for key, value in evaluator.items()}

    def evaluate(boards: Any) -> tuple[Any, Any, Any]:
        x = jnp.concatenate([boards == 1, boards == -1], axis=1).astype(jnp.float32)
        logits = x @ weights["policy_weights"] + weights["policy_bias"]
        invalid = boards[:, :7] != 0 if connect4 else boards != 0
        masked = jnp.where(invalid, jnp.finfo(jnp.float32).min, logits)
        return masked, jnp.tanh(x @ weights["value_weights"]), invalid

    def landing(boards: Any, actions: Any) -> Any:
        if not connect4:
            return actions
        empty = (boards.reshape(-1, 6, 7) == 0).sum(axis=1)
        row = jnp.take_along_axis(empty, actions[:, None], axis=1)[:, 0] - 1
        return jnp.maximum(row, 0) * 7 + actions

    def recurrent(params: Any, key: Any, actions: Any, embedding: Any) -> tuple[Any, Any]:
        boards, was_over = embedding
        rows = jnp.arange(len(boards))
        boards = boards.at[rows, landing(boards, actions)].set(1)
        won = (boards[:, lines] == 1).all(axis=2).any(axis=1) & ~was_over
        over = was_over | won | (boards != 0).all(axis=1)
        logits, values, _ = evaluate(-boards)
        output = mctx.RecurrentFnOutput(
            reward=won.astype(jnp.float32),
            discount=jnp.where(over, 0.0, -1.0),
            prior_logits=logits,
            value=jnp.where(over, 0.0, values),
        )
        return output, (-boards, over)

    return evaluate, recurrent


def first_play_urgency(tree: Any, node: Any) -> Any:
    """Our PUCT's q: the mean value as it is, unvisited children 0.2 below their parent.

    mctx masks illegal actions at the root only, hence the mask by logits.
    """
    import jax.numpy as jnp

    unvisited = tree.node_values[node] - 0.2
    q = jnp.where(tree.children_visits[node] > 0, tree.qvalues(node), unvisited)
    illegal = tree.children_prior_logits[node] == jnp.finfo(jnp.float32).min
    return jnp.where(illegal, -jnp.inf, q)


def jax_policy(recurrent: Jax, config: Record) -> Jax:
    """The compiled mctx policy of a configuration: (key, root, invalid) -> PolicyOutput."""
    import jax
    import mctx

    if config["policy"] == "puct":
        policy = functools.partial(
            mctx.muzero_policy,
            qtransform=first_play_urgency,
            dirichlet_fraction=0.0,
            temperature=0.0,
            pb_c_init=1.25,
            pb_c_base=19652,
        )
    else:
        transform = functools.partial(
            mctx.qtransform_completed_by_mix_value,
            value_scale=0.5,
            maxvisit_init=50,
            rescale_values=False,
            use_mixed_value=True,
        )
        policy = functools.partial(
            mctx.gumbel_muzero_policy,
            qtransform=transform,
            max_num_considered_actions=config["considered"],
            gumbel_scale=float(config["noisy"]),
        )

    def run(key: Any, root: Any, invalid: Any) -> Any:
        return policy((), key, root, recurrent, config["simulations"], invalid)

    compiled: Jax = jax.jit(run)
    return compiled


def boards_of(name: str, positions: Sequence[str]) -> list[list[int]]:
    return [[cell for row in Board.read(name, text).rows for cell in row] for text in positions]


def mctx_cases(
    name: str, evaluator: Record, positions: Sequence[str], config: Record
) -> list[Record]:
    """Search all positions in one batch, a case per position."""
    import jax
    import jax.numpy as jnp
    import mctx

    evaluate, recurrent = jax_game(name, evaluator)
    boards = jnp.array(boards_of(name, positions), jnp.int8)
    logits, values, invalid = evaluate(boards)
    embedding = boards, jnp.zeros(len(boards), bool)
    root = mctx.RootFnOutput(prior_logits=logits, value=values, embedding=embedding)
    key = jax.random.key(1000 * config["simulations"] + (config["considered"] or 0))
    output = jax_policy(recurrent, config)(key, root, invalid)
    summary = output.search_tree.summary()
    noise = None
    if config["noisy"]:
        noise = jax.random.gumbel(jax.random.split(key)[1], logits.shape, logits.dtype)
        if not (noise == output.search_tree.extra_data.root_gumbel).all():
            raise SystemExit("mctx drew other noise than its source says: look at its key splits")
    shared = {key: config[key] for key in ("policy", "simulations", "considered")}
    return [
        {"game": name, "position": position, **shared}
        | {"gumbel": None if noise is None else rounded(noise[i])}
        | case_results(summary, output, i)
        for i, position in enumerate(positions)
    ]


def case_results(summary: Any, output: Any, i: int) -> Record:
    visits = [int(count) for count in summary.visit_counts[i]]
    q = rounded(summary.qvalues[i])
    return {
        "visits": visits,
        "weights": rounded(output.action_weights[i]),
        "q": [value if count else None for value, count in zip(q, visits, strict=True)],
        "action": int(output.action[i]),
        "value": round(float(summary.value[i]), 6),
    }


def rounded(values: Any) -> list[float]:
    return [round(float(value), 6) for value in values]


def configurations(name: str) -> list[Record]:
    configs = []
    for simulations in SIMULATIONS:
        for considered in CONSIDERED[name]:
            for noisy in (False, True):
                config = {"policy": "gumbel", "considered": considered, "noisy": noisy}
                configs.append(config | {"simulations": simulations})
        puct = {"policy": "puct", "considered": None, "noisy": False}
        configs.append(puct | {"simulations": simulations})
    return configs


def make() -> Record:
    """Everything the file holds; narrowly decided cases are left out."""
    rng = random.Random(20)
    evaluators = {
        "connect4": toy_evaluator(rng, 42, 7, scale=1.0),
        "tictactoe": toy_evaluator(rng, 9, 9, scale=1.5),
    }
    plies = {
        "connect4": [round(30 * i / 23) for i in range(24)],
        "tictactoe": [0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8],
    }
    cases = []
    for name, evaluator in evaluators.items():
        positions = random_positions(name, plies[name], rng)
        for config in configurations(name):
            cases += mctx_cases(name, evaluator, positions, config)
    for case in cases:
        margin = search_again(case, evaluators[case["game"]]).margin
        case["margin"] = None if math.isinf(margin) else float(f"{margin:.2g}")
    clear = [case for case in cases if case["margin"] is None or case["margin"] >= MARGIN]
    print(f"{len(clear)} cases of {len(cases)}; the others were decided by less than {MARGIN}")
    return {"about": ABOUT.replace("\n", " "), "evaluators": evaluators, "cases": clear}


def write(truth: Record) -> None:
    """One case a line, so that a change reads well."""

    def compact(value: object) -> str:
        return json.dumps(value, separators=(",", ":"))

    cases = ",\n".join(compact(case) for case in truth["cases"])
    head = f'"about":{compact(truth["about"])},\n"evaluators":{compact(truth["evaluators"])}'
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(f'{{{head},\n"cases":[\n{cases}\n]}}\n')
    print(f"wrote {OUTPUT.stat().st_size} bytes to {OUTPUT}")


def verify(truth: Record) -> None:
    """Print how the plain half agrees with the file; exit with an error if it does not."""
    worst: dict[str, list[float]] = {}
    for case in truth["cases"]:
        result = search_again(case, truth["evaluators"][case["game"]])
        difference = largest_difference(case, result)
        worst.setdefault(f"{case['game']} {case['policy']}", []).append(difference)
        if difference > 1e-4:
            print("differs:", json.dumps(case))
    for kind, differences in worst.items():
        agreeing = sum(difference <= 1e-4 for difference in differences)
        largest = max(differences)
        print(f"{kind}: {agreeing} of {len(differences)} agree, largest difference {largest:.1e}")
    if any(difference > 1e-4 for differences in worst.values() for difference in differences):
        raise SystemExit(1)


def main() -> None:
    parser = argparse.ArgumentParser(description="Make or check the truth data from mctx.")
    parser.add_argument("--verify", action="store_true", help="check the file, without jax")
    if parser.parse_args().verify:
        verify(json.loads(OUTPUT.read_text()))
    else:
        write(make())


if __name__ == "__main__":
    main()
