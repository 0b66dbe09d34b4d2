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
from rookery.games import ONGOING, Game, States

UNVISITED = -1
ROOT = np.int64(0)  # typed: a literal would have its callees compiled once more

NODE = np.dtype(
    [
        ("first_edge", np.int32),
        ("num_edges", np.int32),  # 0 until the node is expanded
        ("value", np.float32),  # the net's, for the player to move
        ("draw", np.float32),  # the net's probability of a draw
        ("proof", np.int32),  # ONGOING, or the proved WIN, DRAW or LOSS for the player to move
    ]
)
EDGE = np.dtype(
    [
        ("action", np.int32),
        ("child", np.int32),  # the node it leads to, or UNVISITED
        ("visits", np.int32),
        ("log_prior", np.float32),
        ("value_sum", np.float32),  # for the player who moves
        ("draw_sum", np.float32),
    ]
)
SEARCH = np.dtype(
    [
        ("nodes_used", np.int32),
        ("edges_used", np.int32),
        ("simulations_left", np.int32),
        ("path_length", np.int32),
        ("leaf", np.int32),  # the node at the end of the path
    ]
)
STEP = np.dtype([("node", np.int32), ("edge", np.int32)])


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


def new_tree(game: Game, num_games: int, *, num_nodes: int, num_edges: int) -> Tree:
    """Arrays for `num_games` searches; one more node than asked for is the scratch node."""
    depth = min(game.max_plies, num_nodes) + 1

    def records(dtype: np.dtype[Any], *shape: int) -> NDArray[Any]:
        return np.zeros((num_games, *shape), np.dtype((np.record, dtype)))

    return Tree(
        states=game.blank_states(num_games, num_nodes + 1),
        nodes=records(NODE, num_nodes + 1),
        edges=records(EDGE, num_edges),
        searches=records(SEARCH),
        path=records(STEP, depth),
        noise=np.zeros((num_games, game.max_legal), np.float32),
        scores=np.zeros((num_games, game.max_legal), np.float32),
        legal=np.zeros((num_games, game.max_legal), np.int32),
        streams=np.zeros(num_games, np.uint64),
    )


@compiled
def plant(tree: Tree, g: Index) -> None:
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
        edge.value_sum = 0.0
        edge.draw_sum = 0.0
    return first


@compiled
def edges_of(tree: Tree, g: Index, node: Index) -> tuple[Index, Index]:
    """The first edge of `node` and how many it has (int64, so that callers compile once)."""
    record = tree.nodes[g, node]
    return np.int64(record.first_edge), np.int64(record.num_edges)


@compiled
def edge_proof(tree: Tree, g: Index, edge: Index) -> Index:
    """The proved result of `edge` for the player who moves, or ONGOING."""
    child = tree.edges[g, edge].child
    if child == UNVISITED or tree.nodes[g, child].proof == ONGOING:
        return ONGOING
    return -tree.nodes[g, child].proof


@compiled
def edge_value(tree: Tree, g: Index, edge: Index) -> Number:
    """The value of a visited edge: proved, else the mean of its simulations."""
    proof = edge_proof(tree, g, edge)
    if proof != ONGOING:
        return np.float32(proof)
    return tree.edges[g, edge].value_sum / np.float32(tree.edges[g, edge].visits)


@compiled
def edge_draw(tree: Tree, g: Index, edge: Index) -> Number:
    """The draw probability of a visited edge."""
    proof = edge_proof(tree, g, edge)
    if proof != ONGOING:
        return np.float32(proof == 0)
    return tree.edges[g, edge].draw_sum / np.float32(tree.edges[g, edge].visits)
