"""One simulation of one game: down to a leaf, and back up with its value. Scalar, for any device.

`descend` runs simulations until one needs the net (terminal and proved leaves do not) and leaves
its path in the tree; `ascend` takes the net's answer from there.
"""

import math
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, Number, compiled, namespace
from rookery.games import LOSS, ONGOING, WIN, count_repetitions
from rookery.search import gumbel, puct
from rookery.search.config import Settings
from rookery.search.decide import write_decision
from rookery.search.tree import (
    NEVER,
    ROOT,
    UNVISITED,
    Tree,
    add_edges,
    add_node,
    edges_of,
    repetitions_of,
    reset_tree,
)

METHOD_MODULES = {"gumbel": gumbel, "puct": puct}
"""A way is a module: `draw_noise`, `select` and `score_root`."""


@compiled
def prove(tree: Tree, g: Index, node: Index) -> Index:
    """The result of `node` if its children's proofs settle it: one win, or all of them known."""
    best: Index = -WIN
    is_settled = True
    first, count = edges_of(tree, g, node)
    for edge in range(first, first + count):
        proof = tree.edges[g, edge].proof
        if proof == WIN:
            return WIN
        if proof == ONGOING:
            is_settled = False
        else:
            best = max(best, proof)
    return best if is_settled else ONGOING


@compiled
def back_up(tree: Tree, settings: Settings, g: Index, value: Number, draw: Number) -> None:
    """Add the leaf's value to every edge of the path, proving nodes on the way where it can."""
    proof: Index = np.int64(tree.nodes[g, tree.searches[g].leaf].proof)
    for i in range(tree.searches[g].path_length - 1, -1, -1):
        node, edge = np.int64(tree.path[g, i].node), tree.edges[g, tree.path[g, i].edge]
        value = -value
        edge.visits += 1
        edge.value_sum += value
        edge.draw_sum += draw
        if settings.prove and proof != ONGOING:
            edge.proof = -proof
            proof = prove(tree, g, node)
            if proof != ONGOING:
                tree.nodes[g, node].proof = proof
                value, draw = np.float32(proof), np.float32(proof == 0)
    tree.searches[g].simulations_left -= 1
    if settings.prove and tree.nodes[g, 0].proof != ONGOING:
        tree.searches[g].simulations_left = 0


@compiled
def write_priors(
    tree: Tree, g: Index, first: Index, count: Index, logits: NDArray[np.float32]
) -> None:
    """Edges for the `count` legal moves in `tree.legal`, with the log softmax of their logits."""
    highest = NEVER
    for i in range(count):
        edge = tree.edges[g, first + i]
        edge.action = tree.legal[g, i]
        edge.log_prior = logits[tree.cells[edge.action]]
        highest = max(highest, edge.log_prior)
    total = np.float32(0.0)
    for i in range(count):
        total += math.exp(tree.edges[g, first + i].log_prior - highest)
    normaliser = highest + math.log(total)
    for i in range(count):
        edge = tree.edges[g, first + i]
        edge.log_prior -= normaliser
        edge.prior = math.exp(edge.log_prior)


def bind_method(method_module: ModuleType) -> ModuleType:
    """`walk` and `decide` by one way to search: the module `gumbel` or `puct`."""

    @compiled
    def walk(tree, settings, table, g):  # type: ignore[no-untyped-def]
        """Follow the tree from the root; the node where it ends, UNVISITED past its last edge."""
        node, length = np.int64(0), 0
        while (
            node != UNVISITED
            and tree.nodes[g, node].num_edges > 0
            and tree.nodes[g, node].proof == ONGOING
        ):
            edge = method_module.select(tree, settings, table, g, node)
            tree.path[g, length].node = node
            tree.path[g, length].edge = edge
            length += 1
            node = np.int64(tree.edges[g, edge].child)
        tree.searches[g].path_length = length
        return node

    @compiled
    def decide(tree, settings, g, actions, policy, values):  # type: ignore[no-untyped-def]
        """Write row g of the decisions, the policy edge by edge."""
        best = method_module.score_root(tree, settings, g)
        write_decision(tree, g, best, actions, policy, values)

    functions = {"walk": walk, "decide": decide}
    return namespace(f"{method_module.__name__}.way", functions)


COMES_BACK = 2
"""Who comes back to a position within a search can come back again: it counts twice."""


def bind_repetition_checks(rules: ModuleType) -> ModuleType:
    """`root(tree, g)` and `leaf(tree, g, node)`: positions recognised, where the rules ask."""

    @compiled
    def pass_root(tree, g):  # type: ignore[no-untyped-def]
        """Rules whose positions never repeat have no keys."""

    @compiled
    def pass_leaf(tree, g, node):  # type: ignore[no-untyped-def]
        """Rules whose positions never repeat have no keys."""

    @compiled
    def root(tree, g):  # type: ignore[no-untyped-def]
        """Note the key of the root."""
        tree.keys[g, 0] = rules.key(tree.states[g, 0])

    @compiled
    def leaf(tree, g, node):  # type: ignore[no-untyped-def]
        """Note the key of a new leaf, and tell its state how often it stood before."""
        key, reversible_plies = (
            rules.key(tree.states[g, node]),
            rules.reversible_plies(tree.states[g, node]),
        )
        tree.keys[g, node] = key
        length = np.int64(tree.searches[g].path_length)
        times = count_repetitions(repetitions_of(tree), g, key, reversible_plies - length)
        for back in range(1, min(length, reversible_plies) + 1):
            if tree.keys[g, tree.path[g, length - back].node] == key:
                times += COMES_BACK
        rules.set_repetitions(tree.states[g, node], times)

    has_keys = hasattr(rules, "key")
    functions = {"root": root, "leaf": leaf} if has_keys else {"root": pass_root, "leaf": pass_leaf}
    return namespace(f"{rules.__name__}.recognition", functions)


def bind_position(rules: ModuleType) -> ModuleType:
    """`enter(tree, g, node)`: play the last move of the path."""
    recognition = bind_repetition_checks(rules)

    @compiled
    def enter(tree, g, node):  # type: ignore[no-untyped-def]
        """Set `node` to the position behind the last edge of the path, with its outcome."""
        step = tree.path[g, tree.searches[g].path_length - 1]
        tree.states[g, node] = tree.states[g, step.node]
        rules.play(tree.states[g, node], tree.edges[g, step.edge].action)
        recognition.leaf(tree, g, node)
        tree.nodes[g, node].proof = rules.outcome(tree.states[g, node])

    return namespace(f"{rules.__name__}.position", {"enter": enter})


def bind_leaf(rules: ModuleType, method_module: ModuleType) -> ModuleType:
    """`grow`, `expand`, `find_ends` and `write_planes`: what the rules have to do with a leaf."""
    position = bind_position(rules)

    @compiled
    def grow(tree, g):  # type: ignore[no-untyped-def]
        """The position behind the last edge of the path, as a new leaf."""
        last = tree.searches[g].path_length - 1
        node = add_node(tree, g, np.int64(tree.path[g, last].edge))
        position.enter(tree, g, node)
        return node

    @compiled
    def expand(tree, settings, g, logits):  # type: ignore[no-untyped-def]
        """Give the leaf its edges, the root's with noise.

        The scratch node gets none, nor does a node behind which a path would not fit: rules that
        let a game last longer than they promise do no harm to memory.
        """
        node = np.int64(tree.searches[g].leaf)
        is_too_deep = tree.searches[g].path_length == tree.path.shape[1]
        if node == tree.nodes.shape[1] - 1 or is_too_deep:
            return
        count = np.int64(rules.legal(tree.states[g, node], tree.legal[g]))
        first = add_edges(tree, g, node, count)
        write_priors(tree, g, first, count, logits)
        if node == 0:
            method_module.draw_noise(tree, settings, g)

    @compiled
    def find_ends(tree, g):  # type: ignore[no-untyped-def]
        """Play every move of the expanded root once; what those that end the game give is proved.

        A root with a move that wins at once is proved won, and its search ends.
        """
        search, scratch = tree.searches[g], np.int64(tree.nodes.shape[1] - 1)
        first, count = edges_of(tree, g, ROOT)
        search.path_length = 1
        tree.path[g, 0].node = ROOT
        for edge in range(first, first + count):
            tree.path[g, 0].edge = edge
            position.enter(tree, g, scratch)
            outcome = tree.nodes[g, scratch].proof
            if outcome != ONGOING:
                tree.edges[g, edge].proof = -outcome
            if outcome == LOSS:
                tree.nodes[g, ROOT].proof = WIN
                search.simulations_left = 0
        search.path_length = 0

    @compiled
    def write_planes(tree, g, out):  # type: ignore[no-untyped-def]
        """Write what the net sees of the leaf."""
        rules.planes(tree.states[g, tree.searches[g].leaf], out)

    functions = {
        "grow": grow,
        "expand": expand,
        "find_ends": find_ends,
        "write_planes": write_planes,
    }
    return namespace(f"{rules.__name__}.{method_module.__name__}.leaf", functions)


def bind(rules: ModuleType, method: str) -> ModuleType:
    """Bind the steps of a search to a game and a way to search it.

    They are `begin`, `descend`, `write_planes`, `ascend`, `find_ends` and `decide`.
    """
    steps, leaf = bind_method(METHOD_MODULES[method]), bind_leaf(rules, METHOD_MODULES[method])
    recognition = bind_repetition_checks(rules)

    @compiled
    def begin(tree, simulations, g):  # type: ignore[no-untyped-def]
        """Empty tree g, and owe it `simulations`."""
        reset_tree(tree, g)
        tree.searches[g].simulations_left = simulations
        recognition.root(tree, g)

    @compiled
    def descend(tree, settings, table, limit, g):  # type: ignore[no-untyped-def]
        """Run simulations, at most `limit`, up to one that needs the net; whether there is one."""
        while tree.searches[g].simulations_left > 0 and limit > 0:
            limit -= 1
            node = steps.walk(tree, settings, table, g)
            if node == UNVISITED:
                node = leaf.grow(tree, g)
            tree.searches[g].leaf = node
            proof = tree.nodes[g, node].proof
            if proof == ONGOING:
                return True
            back_up(tree, settings, g, np.float32(proof), np.float32(proof == 0))
        return False

    @compiled
    def ascend(tree, settings, g, logits, wdl):  # type: ignore[no-untyped-def]
        """Expand the leaf with the net's answer and carry its value up."""
        node = np.int64(tree.searches[g].leaf)
        value, draw = wdl[0] - wdl[2], wdl[1]
        tree.nodes[g, node].value = value
        tree.nodes[g, node].draw = draw
        leaf.expand(tree, settings, g, logits)
        if tree.searches[g].path_length > 0:
            back_up(tree, settings, g, value, draw)

    functions = {
        "begin": begin,
        "descend": descend,
        "write_planes": leaf.write_planes,
        "ascend": ascend,
        "find_ends": leaf.find_ends,
        "decide": steps.decide,
    }
    return namespace(f"{rules.__name__}.{method}", functions)
