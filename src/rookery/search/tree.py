"""The memory of G searches: flat arrays of nodes and edges, allocated once and never outgrown.

Node 0 is the root. Edges of one node lie side by side, one a legal move. When a tree's nodes or
edges run out, new positions are still evaluated, in a scratch node that nobody points to: the
search goes on with what it has and never writes past its end.

Records are read and written as `tree.edges[g, edge].visits`: few arrays, so that kernels compile
quickly, and all that is known of an edge in one place of memory.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, Number, compiled
from rookery.games import LOSS, ONGOING, Game, Repetitions, States
from rookery.search.config import Settings

UNVISITED = -1
NEVER = np.float32(-1e30)  # the score of what must not be chosen
EDGES_PER_NODE = 64
"""Edges per node, on average, that fit beside the root's; a position may have more moves."""
ROOT = np.int64(0)  # typed: a literal would have its callees compiled once more

NODE = np.dtype(
    [
        ("first_edge", np.int32),
        ("num_edges", np.int32),  # 0 until the node is expanded
        ("value", np.float32),  # the net's, for the player to move
        ("draw", np.float32),  # the net's probability of a draw
        ("proof", np.int32),  # ONGOING, or the proved WIN, DRAW or LOSS for the player to move
    ],
    align=True,  # so that a GPU reads whole words
)
EDGE = np.dtype(
    [
        ("action", np.int32),
        ("child", np.int32),  # the node it leads to, or UNVISITED
        ("visits", np.int32),
        ("proof", np.int32),  # ONGOING, or the proved result for the player who moves
        ("prior", np.float32),
        ("log_prior", np.float32),
        ("value_sum", np.float32),  # for the player who moves
        ("draw_sum", np.float32),
    ],
    align=True,
)
SEARCH = np.dtype(
    [
        ("nodes_used", np.int32),
        ("edges_used", np.int32),
        ("simulations_left", np.int32),
        ("path_length", np.int32),
        ("leaf", np.int32),  # the node at the end of the path
    ],
    align=True,
)
STEP = np.dtype([("node", np.int32), ("edge", np.int32)], align=True)


class Tree(NamedTuple):
    """Statistics of G searches of at most N nodes and E edges.

    states: [G, N] positions.
    nodes: [G, N] NODE records.
    edges: [G, E] EDGE records.
    searches: [G] SEARCH records.
    path: [G, D] STEP records, the way of the current simulation.
    noise: [G, L] random numbers of the root's edges: Gumbel or Dirichlet, as the method asks.
    scores: [G, L] scratch, one number an edge.
    legal: [G, L] scratch for the rules.
    streams: [G] states of `base.uniform`.
    keys: [G, N] of the positions, where the rules offer them; [G, 1] where not.
    past: [G, M] keys of what stood before the roots, and
    past_counts: [G] how much; see `memory_of`.
    cells: [A] where in a row of the net's answer an action's logit lies.
    """

    states: States
    nodes: NDArray[Any]
    edges: NDArray[Any]
    searches: NDArray[Any]
    path: NDArray[Any]
    noise: NDArray[np.float32]
    scores: NDArray[np.float32]
    legal: NDArray[np.int32]
    streams: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    past: NDArray[np.uint64]
    past_counts: NDArray[np.int64]
    cells: NDArray[np.int32]


Edge = Any  # one EDGE record
Layout = tuple[tuple[Any, tuple[int, ...]], ...]
"""The dtype and shape of each array of a `Tree`."""


def layout(game: Game, num_games: int, max_simulations: int) -> Layout:
    """Return the arrays of `num_games` searches; the last node is the scratch node.

    The edges of any root fit, whatever `max_simulations` is: roots are expanded unconditionally.
    """
    nodes, legal = max_simulations + 1, game.max_legal
    edges = legal + max_simulations * min(legal, EDGES_PER_NODE)
    has_keys = hasattr(game.rules, "key")
    return (
        (game.state_dtype, (num_games, nodes + 1)),
        (NODE, (num_games, nodes + 1)),
        (EDGE, (num_games, edges)),
        (SEARCH, (num_games,)),
        (STEP, (num_games, min(game.max_plies, nodes) + 1)),
        (np.float32, (num_games, legal)),
        (np.float32, (num_games, legal)),
        (np.int32, (num_games, legal)),
        (np.uint64, (num_games,)),
        (np.uint64, (num_games, nodes + 1 if has_keys else 1)),
        (np.uint64, (num_games, game.repetition_window)),
        (np.int64, (num_games,)),
        (np.int32, (game.num_actions,)),
    )


def new_tree(game: Game, num_games: int, max_simulations: int) -> Tree:
    """Empty trees in the host's memory."""
    arrays = layout(game, num_games, max_simulations)
    tree = Tree(*(_zeros(np.dtype(dtype), shape) for dtype, shape in arrays))
    tree.cells[:] = np.arange(game.num_actions)
    return tree


def _zeros(dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    return np.zeros(shape, np.dtype((np.record, dtype)) if dtype.names else dtype)


@compiled
def repetitions_of(tree: Tree) -> Repetitions:
    """What stood before the roots."""
    return Repetitions(tree.past, tree.past_counts)


@compiled
def reset_tree(tree: Tree, g: Index) -> None:
    """Empty tree g but for its root, whose state the caller has set."""
    search = tree.searches[g]
    search.nodes_used = 1
    search.edges_used = 0
    search.path_length = 0
    search.leaf = 0
    tree.nodes[g, 0].num_edges = 0
    tree.nodes[g, 0].proof = ONGOING


@compiled
def add_node(tree: Tree, g: Index, edge: Index) -> Index:
    """A node for the position behind `edge`; the scratch node where the arena is full."""
    search = tree.searches[g]
    scratch = tree.nodes.shape[1] - 1
    is_full = search.edges_used + tree.legal.shape[1] > tree.edges.shape[1]
    node = np.int64(scratch)
    if search.nodes_used < scratch and not is_full:
        node = np.int64(search.nodes_used)
        search.nodes_used += 1
        tree.edges[g, edge].child = node
    tree.nodes[g, node].num_edges = 0
    return node


@compiled
def add_edges(tree: Tree, g: Index, node: Index, count: Index) -> Index:
    """Room for `count` edges of `node`, unvisited; the index of the first one."""
    search = tree.searches[g]
    first = np.int64(search.edges_used)
    search.edges_used += count
    tree.nodes[g, node].first_edge = first
    tree.nodes[g, node].num_edges = count
    for index in range(first, first + count):
        edge = tree.edges[g, index]
        edge.child = UNVISITED
        edge.visits = 0
        edge.proof = ONGOING
        edge.value_sum = 0.0
        edge.draw_sum = 0.0
    return first


@compiled
def edges_of(tree: Tree, g: Index, node: Index) -> tuple[Index, Index]:
    """The first edge of `node` and how many it has (int64, so that callers compile once)."""
    record = tree.nodes[g, node]
    return np.int64(record.first_edge), np.int64(record.num_edges)


@compiled
def edge_value(edge: Edge) -> Number:
    """The value of a visited edge: proved, else the mean of its simulations."""
    if edge.proof != ONGOING:
        return np.float32(edge.proof)
    return edge.value_sum / np.float32(edge.visits)


@compiled
def edge_draw(edge: Edge) -> Number:
    """The draw probability of a visited edge."""
    if edge.proof != ONGOING:
        return np.float32(edge.proof == 0)
    return edge.draw_sum / np.float32(edge.visits)


@compiled
def may_choose(tree: Tree, settings: Settings, g: Index, edge: Index) -> bool:
    """Whether the root may choose `edge`: not if it is proved to give something away."""
    proof, root = tree.edges[g, edge].proof, tree.nodes[g, 0].proof
    if not settings.prove:
        return True
    return proof != LOSS if root == ONGOING else proof == root
