"""The trees of G searches: flat arrays of nodes and edges, allocated once.

Node 0 is the root. The edges of one node are contiguous, one per legal move. When a tree has no
free nodes or edges left, new positions are evaluated in a scratch node without a parent: the
search continues on the existing tree and never writes out of bounds. Behind it are the positions
that `prove_leaf` looks ahead to, one per ply.

Fields are read and written as `tree.edges[g, edge].visits`. Records keep the number of arrays
small, so that kernels compile quickly, and keep the data of one edge together in memory.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rookery.base import Index, Number, compiled
from rookery.games import LOSS, ONGOING, Game, Repetitions, States
from rookery.search.config import Settings

UNVISITED = -1
LOWEST_SCORE = np.float32(-1e30)  # the score of a move that must not be chosen
EDGES_PER_NODE = 64
"""Average number of edges per node, besides the root's; one position may have more moves."""
MAX_PROOF_PLIES = 16
ROOT = np.int64(0)  # typed, because a literal would compile its callees again

NODE = np.dtype(
    [
        ("first_edge", np.int32),
        ("num_edges", np.int32),  # 0 until the node is expanded
        ("parent", np.int32),
        ("edge", np.int32),  # the one that leads here
        ("value", np.float32),  # of the network, for the player to move
        ("draw", np.float32),  # draw probability of the network
        ("proof", np.int32),  # ONGOING, or the proved WIN, DRAW or LOSS for the player to move
        ("proof_plies", np.int32),  # to the end of the game, if `prove_leaf` proved a win or loss
    ],
    align=True,  # a GPU reads whole words
)
EDGE = np.dtype(
    [
        ("action", np.int32),
        ("child", np.int32),  # index of the child node, or UNVISITED; see `follow_move`
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
        ("is_followed", np.int32),  # whether the tree contains evaluations for the next search
    ],
    align=True,
)
STEP = np.dtype([("node", np.int32), ("edge", np.int32)], align=True)
LINE = np.dtype(
    [
        ("count", np.int32),  # of its moves
        ("index", np.int32),  # of the move that is tried
        ("settled_by", np.int32),  # the move that settled the last position at this ply
    ],
    align=True,
)


class Tree(NamedTuple):
    """Statistics of G searches of N nodes and E edges, with at most L edges per node.

    states: [G, N] positions.
    nodes: [G, N] NODE records.
    edges: [G, E] EDGE records.
    searches: [G] SEARCH records.
    path: [G, depth] STEP records, the path of the current simulation.
    noise: [G, L] Gumbel or Dirichlet noise of the root's edges.
    scores: [G, L] scratch, one number per edge of a node.
    legal: [G, 1 + D, L] scratch for the legal actions of a position and of those played ahead.
    line: [G, D] LINE records, the moves that are played ahead of a leaf; D is 0 without proofs.
    streams: [G] states of the random generator `base.uniform`.
    keys: [G, N] position keys; [G, 1] if the positions of the game never repeat.
    past: [G, window] keys of the positions played before the roots.
    past_counts: [G] number of those keys.
    cells: [A] column of each action's logit in a row of logits.
    """

    states: States
    nodes: NDArray[Any]
    edges: NDArray[Any]
    searches: NDArray[Any]
    path: NDArray[Any]
    noise: NDArray[np.float32]
    scores: NDArray[np.float32]
    legal: NDArray[np.int32]
    line: NDArray[Any]
    streams: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    past: NDArray[np.uint64]
    past_counts: NDArray[np.int64]
    cells: NDArray[np.int32]


Edge = Any  # one EDGE record
Layout = tuple[tuple[Any, tuple[int, ...]], ...]
"""The dtype and shape of each array of a `Tree`."""


def layout(
    game: Game,
    num_games: int,
    max_simulations: int,
    *,
    proves_leaves: bool,
    is_followed: bool = False,
) -> Layout:
    """Return the arrays of `num_games` searches; the last nodes are scratch nodes.

    The edges of any root fit for any `max_simulations`, because roots are always expanded. With
    `is_followed` there is space for the nodes of the search before, too.
    """
    expanded = max_simulations * (2 if is_followed else 1)
    line = MAX_PROOF_PLIES if proves_leaves else 0
    scratch, legal = 1 + line, game.max_legal
    nodes = 1 + expanded + scratch
    edges = legal + expanded * min(legal, EDGES_PER_NODE)
    has_keys = hasattr(game.rules, "key")
    return (
        (game.state_dtype, (num_games, nodes)),
        (NODE, (num_games, nodes)),
        (EDGE, (num_games, edges)),
        (SEARCH, (num_games,)),
        (STEP, (num_games, min(game.max_plies, max_simulations + 1) + scratch)),
        (np.float32, (num_games, legal)),
        (np.float32, (num_games, legal)),
        (np.int32, (num_games, scratch, legal)),
        (LINE, (num_games, line)),
        (np.uint64, (num_games,)),
        (np.uint64, (num_games, nodes if has_keys else 1)),
        (np.uint64, (num_games, game.repetition_window)),
        (np.int64, (num_games,)),
        (np.int32, (game.num_actions,)),
    )


def new_tree(
    game: Game,
    num_games: int,
    max_simulations: int,
    *,
    proves_leaves: bool,
    is_followed: bool = False,
) -> Tree:
    """Return empty trees in host memory; see `layout`."""
    arrays = layout(
        game, num_games, max_simulations, proves_leaves=proves_leaves, is_followed=is_followed
    )
    tree = Tree(*(_zeros(np.dtype(dtype), shape) for dtype, shape in arrays))
    tree.cells[:] = np.arange(game.num_actions)
    return tree


def _zeros(dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    return np.zeros(shape, np.dtype((np.record, dtype)) if dtype.names else dtype)


@compiled
def repetitions_of(tree: Tree) -> Repetitions:
    """Return the positions played before the roots."""
    return Repetitions(tree.past, tree.past_counts)


@compiled
def reset_tree(tree: Tree, g: Index) -> None:
    """Remove all nodes of tree g except the root, whose state the caller has set."""
    search = tree.searches[g]
    search.nodes_used = 1
    search.edges_used = 0
    search.path_length = 0
    search.leaf = 0
    tree.nodes[g, 0].num_edges = 0
    tree.nodes[g, 0].proof = ONGOING
    tree.nodes[g, 0].proof_plies = 0


@compiled
def capacity(tree: Tree) -> Index:
    """Return the number of nodes of a tree, which is also the index of its scratch node."""
    return np.int64(tree.nodes.shape[1] - 1 - tree.line.shape[1])


@compiled
def add_node(tree: Tree, g: Index, parent: Index, edge: Index) -> Index:
    """Return a new node for the child of `edge`, or the scratch node if the tree is full."""
    search = tree.searches[g]
    node = capacity(tree)
    is_full = search.edges_used + tree.legal.shape[2] > tree.edges.shape[1]
    if search.nodes_used < node and not is_full:
        node = np.int64(search.nodes_used)
        search.nodes_used += 1
        tree.edges[g, edge].child = node
        tree.nodes[g, node].parent = parent
        tree.nodes[g, node].edge = edge
    tree.nodes[g, node].num_edges = 0
    tree.nodes[g, node].proof_plies = 0
    return node


@compiled
def add_edges(tree: Tree, g: Index, node: Index, count: Index) -> Index:
    """Add `count` unvisited edges to `node` and return the index of the first."""
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
    """Return the first edge and the number of edges of `node`, both int64."""
    record = tree.nodes[g, node]
    return np.int64(record.first_edge), np.int64(record.num_edges)


@compiled
def edge_value(edge: Edge) -> Number:
    """Return the value of a visited edge: proved, or the mean of its simulations."""
    if edge.proof != ONGOING:
        return np.float32(edge.proof)
    return edge.value_sum / np.float32(edge.visits)


@compiled
def edge_draw(edge: Edge) -> Number:
    """Return the draw probability of a visited edge."""
    if edge.proof != ONGOING:
        return np.float32(edge.proof == 0)
    return edge.draw_sum / np.float32(edge.visits)


@compiled
def can_choose(tree: Tree, settings: Settings, g: Index, edge: Index) -> bool:
    """Return whether the root may choose `edge`: it is not proved worse than the root."""
    proof, root = tree.edges[g, edge].proof, tree.nodes[g, 0].proof
    if not settings.prove:
        return True
    return proof != LOSS if root == ONGOING else proof == root
