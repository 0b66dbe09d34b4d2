"""A plain search: rules, evaluator and tree on Python lists, in double precision.

It shares no code with Rookery, nor with the half of make_mctx_truth.py that asks mctx, and also
measures how narrowly each simulation was decided.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Record = dict[str, Any]
"""An evaluator or a case, as the JSON file holds it."""


@dataclass(frozen=True)
class Board:
    """A position by its moves; rows hold 1 for the mover's stones and -1 for the waiter's."""

    name: str
    moves: tuple[int, ...] = ()

    @classmethod
    def read(cls, name: str, text: str) -> "Board":
        return cls(name, tuple(int(character) - 1 for character in text))

    @functools.cached_property
    def rows(self) -> list[list[int]]:
        rows = [[0] * 7 for _ in range(6)] if self.name == "connect4" else [[0] * 3 for _ in "abc"]
        for ply, move in enumerate(self.moves):
            stone = 1 if (len(self.moves) - ply) % 2 == 0 else -1
            if self.name == "connect4":
                row = max(row for row in range(6) if not rows[row][move])
                rows[row][move] = stone
            else:
                rows[move // 3][move % 3] = stone
        return rows

    @functools.cached_property
    def result(self) -> int | None:
        """-1 if the player to move has lost, 0 for a draw, None while the game goes on."""
        length = 4 if self.name == "connect4" else 3
        text = "/".join("".join(".+-"[cell] for cell in row) for row in self.rows)
        width = len(self.rows[0]) + 1
        for step in (1, width - 1, width, width + 1):
            for start in range(len(text)):
                if text[start::step][:length] == "-" * length:
                    return -1
        return None if "." in text else 0

    def legal(self) -> list[int]:
        cells = self.rows[0] if self.name == "connect4" else [c for row in self.rows for c in row]
        return [action for action, cell in enumerate(cells) if not cell]

    def after(self, action: int) -> "Board":
        return Board(self.name, (*self.moves, action))


@dataclass
class Node:
    """Mean value for the player to move (own evaluation included) and logits of legal actions."""

    board: Board
    raw: float
    logits: dict[int, float]
    total: float = 0.0
    visits: int = 0
    children: dict[int, "Node"] = field(default_factory=dict)

    def q(self, action: int) -> float:
        child = self.children[action]
        return -child.total / child.visits

    def child_visits(self) -> dict[int, int]:
        return {a: self.children[a].visits if a in self.children else 0 for a in self.logits}


def new_node(board: Board, evaluator: Record) -> Node:
    if board.result is not None:
        return Node(board, float(board.result), {})
    cells = [cell for row in board.rows for cell in row]
    inputs = [i for i, cell in enumerate(cells) if cell == 1]
    inputs += [len(cells) + i for i, cell in enumerate(cells) if cell == -1]
    weights, bias = evaluator["policy_weights"], evaluator["policy_bias"]
    logits = {a: bias[a] + sum(weights[i][a] for i in inputs) for a in board.legal()}
    return Node(board, math.tanh(sum(evaluator["value_weights"][i] for i in inputs)), logits)


def softmax(logits: dict[int, float]) -> dict[int, float]:
    top = max(logits.values())
    total = sum(math.exp(logit - top) for logit in logits.values())
    return {action: math.exp(logit - top) / total for action, logit in logits.items()}


def sigma(node: Node) -> dict[int, float]:
    """Transformed q of every legal action, unvisited ones completed by the mixed value."""
    visits, priors = node.child_visits(), softmax(node.logits)
    mass = sum(priors[a] for a in node.children)
    mixed = node.raw
    if node.children:
        weighted = sum(priors[a] * node.q(a) for a in node.children) / mass
        mixed = (node.raw + sum(visits.values()) * weighted) / (1 + sum(visits.values()))
    scale = 50 + max(visits.values())
    return {a: scale * ((node.q(a) if visits[a] else mixed) + 1) / 2 for a in node.logits}


def improved(node: Node) -> dict[int, float]:
    """softmax(logits + sigma): the target of training, and what inner visits follow."""
    transformed = sigma(node)
    return softmax({a: node.logits[a] + transformed[a] for a in node.logits})


def inner_scores(node: Node) -> dict[int, float]:
    visits, policy = node.child_visits(), improved(node)
    return {a: policy[a] - visits[a] / (1 + sum(visits.values())) for a in node.logits}


def puct_scores(node: Node) -> dict[int, float]:
    priors, visits = softmax(node.logits), node.child_visits()
    rate = 1.25 + math.log((node.visits + 19652 + 1) / 19652)
    unvisited = node.total / node.visits - 0.2
    return {
        a: (node.q(a) if visits[a] else unvisited)
        + rate * priors[a] * math.sqrt(node.visits) / (1 + visits[a])
        for a in node.logits
    }


def halving_visits(considered: int, simulations: int) -> list[int]:
    """For each simulation, how often the root action it takes must have been visited before."""
    if considered == 1:
        return list(range(simulations))
    schedule: list[int] = []
    rounds, left, seen = math.ceil(math.log2(considered)), considered, 0
    while len(schedule) < simulations:
        for _ in range(max(1, simulations // (rounds * left))):
            schedule += [seen] * left
            seen += 1
        left = max(2, left // 2)
    return schedule[:simulations]


def root_scores(node: Node, noise: Sequence[float], seen: int) -> dict[int, float]:
    """Scores of the root actions visited exactly `seen` times."""
    visits, transformed = node.child_visits(), sigma(node)
    return {a: noise[a] + node.logits[a] + transformed[a] for a in node.logits if visits[a] == seen}


@dataclass
class PlainSearch:
    """A search of one position; margin is the least lead of a chosen score over the next one."""

    evaluator: Record
    inner: Callable[[Node], dict[int, float]]
    margin: float = math.inf

    def best(self, scores: dict[int, float]) -> int:
        first, *others = sorted(scores, key=scores.__getitem__, reverse=True)
        if others:
            self.margin = min(self.margin, scores[first] - scores[others[0]])
        return first

    def simulate(self, node: Node, choose: Callable[[Node], dict[int, float]]) -> float:
        """One simulation through a node; the value found, for the node's player to move."""
        if not node.visits or not node.logits:
            value = node.raw
        else:
            action = self.best(choose(node))
            if action not in node.children:
                node.children[action] = new_node(node.board.after(action), self.evaluator)
            value = -self.simulate(node.children[action], self.inner)
        node.visits += 1
        node.total += value
        return value


@dataclass(frozen=True)
class PlainResult:
    root: Node
    actions: set[int]
    weights: dict[int, float]
    margin: float


def search_again(case: Record, evaluator: Record) -> PlainResult:
    """The case's search, done by the plain half."""
    root = new_node(Board.read(case["game"], case["position"]), evaluator)
    if case["policy"] == "puct":
        search = PlainSearch(evaluator, puct_scores)
        for _ in range(1 + case["simulations"]):
            search.simulate(root, puct_scores)
        visits = root.child_visits()
        most = {a for a in visits if visits[a] == max(visits.values())}
        weights = {a: visits[a] / case["simulations"] for a in visits}
        return PlainResult(root, most, weights, search.margin)
    search = PlainSearch(evaluator, inner_scores)
    noise = case["gumbel"] or [0.0] * len(case["visits"])
    search.simulate(root, inner_scores)
    considered = min(case["considered"], len(root.logits))
    for seen in halving_visits(considered, case["simulations"]):
        search.simulate(root, functools.partial(root_scores, noise=noise, seen=seen))
    most_visits = max(root.child_visits().values())
    action = search.best(root_scores(root, noise, most_visits))
    return PlainResult(root, {action}, improved(root), search.margin)


def largest_difference(case: Record, result: PlainResult) -> float:
    """Between the case's numbers and the plain half's; infinite if visits or action differ."""
    root, visits = result.root, result.root.child_visits()
    if [visits.get(a, 0) for a in range(len(case["visits"]))] != case["visits"]:
        return math.inf
    if case["action"] not in result.actions:
        return math.inf
    differences: list[float] = [abs(root.total / root.visits - case["value"])]
    for action, (weight, q) in enumerate(zip(case["weights"], case["q"], strict=True)):
        differences.append(abs(weight - result.weights.get(action, 0.0)))
        if q is not None:
            differences.append(abs(q - root.q(action)))
    return max(differences)
