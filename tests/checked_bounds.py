"""Run the rules, searches and self-play of a game with every index checked.

`checked_bounds.py GAME [overflow]`, under NUMBA_BOUNDSCHECK=1 or NUMBA_DISABLE_JIT=1. Numba drops
errors raised inside parallel loops, so that the loops run on one thread here. `overflow` leaves
the arena too few edges, as a proof that a write out of bounds ends in an IndexError.
"""

import sys
from typing import Any

import rookery.base

rookery.base.parallel = rookery.base.compiled  # before any kernel is defined

import toy  # noqa: E402
from rookery.arena.lockstep import outcomes, successors  # noqa: E402
from rookery.games import ONGOING, Board, Game, load_game  # noqa: E402
from rookery.search import AnalysisSearch, CpuSearch, SearchConfig  # noqa: E402
from rookery.selfplay import CpuSelfPlay, SelfPlayConfig  # noqa: E402
from sample_positions import sample_positions  # noqa: E402

METHODS = ("gumbel", "puct")


def search_all(rules: Game, roots: Any, *, simulations: int, is_short: bool = False) -> None:
    """Search `roots` together by both methods, with and without noise."""
    for method in METHODS:
        for explore in (False, True):
            search = CpuSearch(
                rules,
                toy.hashed(rules.num_actions),
                config=SearchConfig(method=method, proof_nodes=40),
                num_games=len(roots),
                max_simulations=simulations,
                explore=explore,
                seed=1,
            )
            if is_short:
                short = search.tree.edges[:, : rules.max_legal - 1].copy()
                search.tree = search.tree._replace(edges=short)
            search.roots[:] = roots
            search.run(simulations)


def search_alone(rules: Game, root: Any) -> None:
    """Grow one tree of one node, then one that is filled up, and let its root move on."""
    for max_nodes in (1, 30):
        search = AnalysisSearch(
            rules,
            toy.hashed(rules.num_actions),
            config=SearchConfig(),
            max_nodes=max_nodes,
            leaves=4,
        )
        board = Board(rules, root)
        search.set_position(board.state, board.repetitions)
        search.grow(60)
        action = search.variations(3)[0].actions[0]
        board.play(action)
        if rules.rules.outcome(board.state) == ONGOING:
            search.set_position(board.state, board.repetitions, moves=[action])
            search.grow(60)


def play_games(rules: Game, *, moves: int, max_plies: int, simulations: int = 1) -> None:
    """Self-play of one game, with openings."""
    config = SelfPlayConfig(
        games=1,
        simulations=str(simulations),
        opening_share=1.0,
        opening_plies=3,
        misjudged_share=0.5,
        max_plies=max_plies,
        temperature_plies=2,
    )
    evaluator = toy.hashed(rules.num_actions)
    play = CpuSelfPlay(rules, evaluator, config=config, search=SearchConfig(), seed=1)
    for iteration in range(2):  # the second one starts from positions of the first
        play.play(moves, progress=0.0, iteration=iteration)


def main(name: str, *flags: str) -> None:
    rules = load_game(name)
    roots = sample_positions(rules)
    if "overflow" in flags:
        search_all(rules, roots[:1], simulations=1, is_short=True)
        return
    outcomes(rules, successors(rules, roots))
    search_all(rules, roots, simulations=1)
    search_all(rules, roots[:2], simulations=3)
    for root in (roots[0], roots[-1]):
        search_alone(rules, root)
    is_short = rules.max_plies <= 42
    play_games(rules, moves=rules.max_plies + 1 if is_short else 6, max_plies=0 if is_short else 5)
    play_games(rules, moves=2, max_plies=1)
    play_games(rules, moves=6, max_plies=0, simulations=5)


if __name__ == "__main__":
    main(*sys.argv[1:])
