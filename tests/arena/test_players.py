"""The players against positions with known answers and against plain recursion."""

import numpy as np
import pytest

from rookery.arena import (
    ExhaustiveSolver,
    MinimaxPlayer,
    Player,
    RandomPlayer,
    SolverPlayer,
    never_loses,
    play_match,
)
from rookery.base import ConfigError, generator
from rookery.games import ONGOING, Game, State, States, load_game

TICTACTOE = load_game("tictactoe")
CONNECT4 = load_game("connect4")
FAR = 1000


def answers(player: Player, state: State, *, asked: int = 60) -> set[int]:
    """Every move the player makes in `state`."""
    return set(player.choose(np.repeat(np.atleast_1d(state), asked)).tolist())


def plain_value(rules_game: Game, state: State, *, depth: int) -> int:
    """Depth-limited minimax as the textbook writes it."""
    outcome = rules_game.rules.outcome(state)
    if outcome != ONGOING or depth == 0:
        return outcome * (FAR + depth) if outcome != ONGOING else 0
    return max(plain_values(rules_game, state, depth=depth).values())


def plain_values(rules_game: Game, state: State, *, depth: int) -> dict[int, int]:
    """What every legal move is worth."""
    values = {}
    for action in rules_game.legal_actions(state):
        after = state.copy()
        rules_game.rules.play(after, action)
        values[action] = -plain_value(rules_game, after, depth=depth - 1)
    return values


def random_positions(rules_game: Game, count: int, *, plies: int) -> list[State]:
    """Positions that are not over, after random play."""
    stream = generator(5, "positions", plies)
    found: list[State] = []
    while len(found) < count:
        state = rules_game.new_states(1)[0]
        for _ in range(plies):
            if rules_game.rules.outcome(state) == ONGOING:
                rules_game.rules.play(state, stream.choice(rules_game.legal_actions(state)))
        if rules_game.rules.outcome(state) == ONGOING:
            found.append(state)
    return found


@pytest.mark.parametrize(("plies", "depth"), [(3, 3), (5, 4), (5, 1), (6, 3)])
def test_minimax_chooses_among_the_moves_plain_recursion_likes_best(plies: int, depth: int) -> None:
    player = MinimaxPlayer(TICTACTOE, depth, seed=1)
    for state in random_positions(TICTACTOE, 8, plies=plies):
        values = plain_values(TICTACTOE, state, depth=depth)
        best = {action for action, value in values.items() if value == max(values.values())}
        assert answers(player, state) == best


def test_minimax_agrees_with_plain_recursion_in_connect_four() -> None:
    player = MinimaxPlayer(CONNECT4, 3, seed=1)
    for state in random_positions(CONNECT4, 4, plies=14):
        values = plain_values(CONNECT4, state, depth=3)
        best = {action for action, value in values.items() if value == max(values.values())}
        assert answers(player, state) == best


def test_minimax_takes_the_win_at_once_though_it_could_wait() -> None:
    state = CONNECT4.position("414141")
    assert answers(MinimaxPlayer(CONNECT4, 5, seed=0), state) == {3}


def test_minimax_blocks() -> None:
    state = CONNECT4.position("41424")
    assert answers(MinimaxPlayer(CONNECT4, 2, seed=0), state) == {3}


def test_minimax_finds_the_open_three_that_wins_in_two() -> None:
    state = CONNECT4.position("3747")  # stones on columns 3 and 4, both sides open
    assert answers(MinimaxPlayer(CONNECT4, 3, seed=0), state) <= {1, 4}
    assert answers(MinimaxPlayer(CONNECT4, 1, seed=0), state) == set(range(7))


def test_minimax_to_the_end_never_loses_tic_tac_toe() -> None:
    assert never_loses(MinimaxPlayer(TICTACTOE, 9, seed=0), TICTACTOE)
    assert not never_loses(MinimaxPlayer(TICTACTOE, 1, seed=0), TICTACTOE)


def test_minimax_needs_a_depth() -> None:
    with pytest.raises(ConfigError, match="at least 1 ply"):
        MinimaxPlayer(TICTACTOE, 0, seed=0)


def test_solver_never_loses_to_minimax_and_beats_it() -> None:
    solver = SolverPlayer(TICTACTOE, ExhaustiveSolver(TICTACTOE), seed=0)
    shallow = MinimaxPlayer(TICTACTOE, 1, seed=0)
    report = play_match(TICTACTOE, solver, shallow, games=40, seed=0, opening_plies=0)
    assert report.total.losses == 0
    assert report.total.wins > 10


def test_solver_player_draws_from_all_moves_of_the_highest_score() -> None:
    class Fixed:
        def scores(self, state: State) -> list[int | None]:
            return [-1, 5, None, 5, 0, 2, -3]

    assert answers(SolverPlayer(CONNECT4, Fixed(), seed=0), CONNECT4.position("3")) == {1, 3}


@pytest.mark.parametrize("name", ["random", "minimax", "solver"])
def test_same_seed_and_calls_give_the_same_moves(name: str) -> None:
    def player(seed: int) -> Player:
        if name == "random":
            return RandomPlayer(TICTACTOE, seed)
        if name == "minimax":
            return MinimaxPlayer(TICTACTOE, 2, seed=seed)
        return SolverPlayer(TICTACTOE, ExhaustiveSolver(TICTACTOE), seed=seed)

    states: States = TICTACTOE.new_states(50)
    one, two, other = player(1), player(1), player(2)
    for _ in range(2):
        moves = one.choose(states)
        assert (moves == two.choose(states)).all()
        assert (moves != other.choose(states)).any()
    assert moves.dtype == np.int32
