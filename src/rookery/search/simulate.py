"""One simulation of one game: down to a leaf, and back up with its value. Scalar, for any device.

`descend` runs simulations until one needs the network (terminal and proved leaves do not) and
stores its path in the tree; `ascend` continues there with the network's output.
"""

import math
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, Number, compiled, namespace
from rookery.games import LOSS, ONGOING, WIN, count_repetitions
from rookery.search import gumbel, proofs, puct
from rookery.search.config import Settings
from rookery.search.decisions import write_decision
from rookery.search.tree import (
    LOWEST_SCORE,
    ROOT,
    UNVISITED,
    Tree,
    add_edges,
    add_node,
    capacity,
    edges_of,
    repetitions_of,
    reset_tree,
)

METHOD_MODULES = {"gumbel": gumbel, "puct": puct}
"""Each has `draw_noise`, `select` and `score_root`."""
PATH_REPETITIONS = 2
"""A position repeated within a search counts as two repetitions: it could be repeated again."""


@compiled
def prove(tree: Tree, g: Index, node: Index) -> Index:
    """Return the result of `node` if a winning edge or all edges prove it, else ONGOING."""
    best: Index = -WIN
    is_proved = True
    first, count = edges_of(tree, g, node)
    for edge in range(first, first + count):
        proof = tree.edges[g, edge].proof
        if proof == WIN:
            return WIN
        if proof == ONGOING:
            is_proved = False
        else:
            best = max(best, proof)
    return best if is_proved else ONGOING


@compiled
def back_up(tree: Tree, settings: Settings, g: Index, value: Number, draw: Number) -> None:
    """Add the leaf's value to every edge of the path, and prove nodes where possible."""
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
def back_up_leaf(tree: Tree, settings: Settings, g: Index) -> None:
    """Add the value of the expanded leaf to every edge of the path; a root has none."""
    node = tree.nodes[g, tree.searches[g].leaf]
    if tree.searches[g].path_length > 0:
        back_up(tree, settings, g, node.value, node.draw)


@compiled
def write_priors(
    tree: Tree,
    settings: Settings,
    g: Index,
    first: Index,
    count: Index,
    logits: NDArray[np.float32],
) -> None:
    """Write the edges of the moves in `tree.legal[g, 0]`, with the log softmax of their logits."""
    highest = LOWEST_SCORE
    for i in range(count):
        edge = tree.edges[g, first + i]
        edge.action = tree.legal[g, 0, i]
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
    if settings.policy_temperature != 1:
        soften_priors(tree, g, first, count, settings.policy_temperature)


@compiled
def soften_priors(tree: Tree, g: Index, first: Index, count: Index, temperature: Number) -> None:
    """Set the priors of edges to those in `log_prior`, raised to 1 / temperature."""
    highest = LOWEST_SCORE
    for index in range(first, first + count):
        highest = max(highest, tree.edges[g, index].log_prior)
    total = np.float32(0.0)
    for index in range(first, first + count):
        edge = tree.edges[g, index]
        edge.prior = math.exp((edge.log_prior - highest) / temperature)
        total += edge.prior
    for index in range(first, first + count):
        tree.edges[g, index].prior /= total


def bind_method(method_module: ModuleType) -> ModuleType:
    """Bind `select_leaf` and `decide` to a method: the module `gumbel` or `puct`."""

    @compiled
    def select_leaf(tree, settings, table, g):  # type: ignore[no-untyped-def]
        """Write the path from the root; return the leaf, or UNVISITED if it has no node yet.

        An edge without visits leads to a leaf, also if a search before has expanded its node.
        """
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
            if tree.edges[g, edge].visits == 0:
                break
        tree.searches[g].path_length = length
        return node

    @compiled
    def decide(tree, settings, g, out):  # type: ignore[no-untyped-def]
        """Write row g of the decisions; see `write_decision`."""
        write_decision(tree, g, method_module.score_root(tree, settings, g), out)

    return namespace(f"search.{method_module.__name__}", [select_leaf, decide])


def bind_repetition_checks(rules: ModuleType) -> ModuleType:
    """Bind `root(tree, g)` and `leaf(tree, g, node)`: store keys and count repetitions."""

    @compiled
    def pass_root(tree, g):  # type: ignore[no-untyped-def]
        """Do nothing: the positions of this game never repeat."""

    @compiled
    def pass_leaf(tree, g, node):  # type: ignore[no-untyped-def]
        """Do nothing: the positions of this game never repeat."""

    @compiled
    def root(tree, g):  # type: ignore[no-untyped-def]
        """Store the key of the root."""
        tree.keys[g, 0] = rules.key(tree.states[g, 0])

    @compiled
    def leaf(tree, g, node):  # type: ignore[no-untyped-def]
        """Store the key of a new leaf, and set how often its position occurred before."""
        state = tree.states[g, node]
        key, reversible_plies = rules.key(state), rules.reversible_plies(state)
        tree.keys[g, node] = key
        length = np.int64(tree.searches[g].path_length)
        times = count_repetitions(repetitions_of(tree), g, key, reversible_plies - length)
        for back in range(1, min(length, reversible_plies) + 1):
            if tree.keys[g, tree.path[g, length - back].node] == key:
                times += PATH_REPETITIONS
        rules.set_repetitions(state, times)

    has_keys = hasattr(rules, "key")
    functions = {"root": root, "leaf": leaf} if has_keys else {"root": pass_root, "leaf": pass_leaf}
    return namespace(f"{rules.__name__}.search.repetitions", functions)


def bind_play(rules: ModuleType) -> ModuleType:
    """Bind `play_move(tree, g, node, action, child)`."""
    repetitions = bind_repetition_checks(rules)

    @compiled
    def play_move(tree, g, node, action, child):  # type: ignore[no-untyped-def]
        """Set `child` to the position after a move in `node`, where the path ends.

        Return its outcome.
        """
        tree.states[g, child] = tree.states[g, node]
        rules.play(tree.states[g, child], action)
        repetitions.leaf(tree, g, child)
        outcome = np.int64(rules.outcome(tree.states[g, child]))
        tree.nodes[g, child].proof = outcome
        return outcome

    return namespace(f"{rules.__name__}.search.play", [play_move])


def bind_leaf(rules: ModuleType, method_module: ModuleType, *, proves_leaves: bool) -> ModuleType:
    """Bind `add_leaf`, `expand`, `prove_terminal_moves` and `write_planes`."""
    play = bind_play(rules)
    proving = proofs.bind(rules, play, proves_leaves=proves_leaves)

    @compiled
    def add_leaf(tree, settings, g):  # type: ignore[no-untyped-def]
        """Return a new leaf with the position after the last move of the path."""
        step = tree.path[g, tree.searches[g].path_length - 1]
        parent, edge = np.int64(step.node), np.int64(step.edge)
        node = add_node(tree, g, parent, edge)
        play.play_move(tree, g, parent, np.int64(tree.edges[g, edge].action), node)
        proving.prove_leaf(tree, settings, g, node)
        return node

    @compiled
    def expand(tree, settings, g, logits, wdl):  # type: ignore[no-untyped-def]
        """Store the network's output for the leaf and add its edges, at the root with noise.

        The scratch node gets none, and neither does a node at the maximum length of a path: rules
        whose games exceed their own `max_plies` cannot cause a write out of bounds.
        """
        node = np.int64(tree.searches[g].leaf)
        tree.nodes[g, node].value = wdl[0] - wdl[2]
        tree.nodes[g, node].draw = wdl[1]
        is_too_deep = tree.searches[g].path_length == tree.path.shape[1]
        if node == capacity(tree) or is_too_deep:
            return
        count = np.int64(rules.legal(tree.states[g, node], tree.legal[g, 0]))
        first = add_edges(tree, g, node, count)
        write_priors(tree, settings, g, first, count, logits)
        if node == 0:
            method_module.draw_noise(tree, settings, g)

    @compiled
    def prove_terminal_moves(tree, g):  # type: ignore[no-untyped-def]
        """Play every root move once, and prove those that end the game; a win ends the search."""
        search = tree.searches[g]
        first, count = edges_of(tree, g, ROOT)
        search.path_length = 1
        tree.path[g, 0].node = ROOT
        for edge in range(first, first + count):
            action = np.int64(tree.edges[g, edge].action)
            outcome = play.play_move(tree, g, ROOT, action, capacity(tree))
            if outcome != ONGOING:
                tree.edges[g, edge].proof = -outcome
            if outcome == LOSS:
                tree.nodes[g, ROOT].proof = WIN
                search.simulations_left = 0
        search.path_length = 0

    @compiled
    def write_planes(tree, g, out):  # type: ignore[no-untyped-def]
        """Write the input planes of the leaf."""
        rules.planes(tree.states[g, tree.searches[g].leaf], out)

    functions = [add_leaf, expand, prove_terminal_moves, write_planes]
    name = f"{rules.__name__}.search.{method_module.__name__}.leaf.{proves_leaves}"
    return namespace(name, functions)


def bind(rules: ModuleType, method: str, *, proves_leaves: bool) -> ModuleType:
    """Bind `begin`, `descend`, `write_planes`, `ascend` and `decide`.

    Also `prove_terminal_moves`, for searches that play.
    """
    method_module = METHOD_MODULES[method]
    steps = bind_method(method_module)
    leaf = bind_leaf(rules, method_module, proves_leaves=proves_leaves)
    repetitions = bind_repetition_checks(rules)

    @compiled
    def begin(tree, settings, simulations, g):  # type: ignore[no-untyped-def]
        """Schedule `simulations`; empty tree g, unless it was followed."""
        search = tree.searches[g]
        if search.is_followed:
            search.path_length = 0
            method_module.draw_noise(tree, settings, g)
        else:
            reset_tree(tree, g)
        search.is_followed = 0
        search.simulations_left = simulations
        repetitions.root(tree, g)

    @compiled
    def descend(tree, settings, table, limit, g):  # type: ignore[no-untyped-def]
        """Run at most `limit` simulations; return True at the first that needs the network."""
        while tree.searches[g].simulations_left > 0 and limit > 0:
            limit -= 1
            node = steps.select_leaf(tree, settings, table, g)
            if node == UNVISITED:
                node = leaf.add_leaf(tree, settings, g)
            tree.searches[g].leaf = node
            proof = tree.nodes[g, node].proof
            if proof != ONGOING:
                back_up(tree, settings, g, np.float32(proof), np.float32(proof == 0))
            elif tree.nodes[g, node].num_edges > 0:
                back_up_leaf(tree, settings, g)
            else:
                return True
        return False

    @compiled
    def ascend(tree, settings, g, logits, wdl):  # type: ignore[no-untyped-def]
        """Expand the leaf with the network's output and back up its value."""
        leaf.expand(tree, settings, g, logits, wdl)
        back_up_leaf(tree, settings, g)

    functions = [begin, descend, leaf.write_planes, ascend, leaf.prove_terminal_moves, steps.decide]
    return namespace(f"{rules.__name__}.search.{method}.{proves_leaves}", functions)
