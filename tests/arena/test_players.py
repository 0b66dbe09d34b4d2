"""Players in positions with known best moves, and minimax compared with recursion."""

import numpy as np
import pytest

from matches import play_match
from rookery.arena import (
    ExhaustiveSolver,
    MinimaxPlayer,
    Player,
    RandomPlayer,
    SolverPlayer,
    named_player,
)
from rookery.arena.strength.solved import play_every_reply
from rookery.base import ConfigError, generator
from rookery.games import ONGOING, Game, State, States, load_game

TICTACTOE = load_game("tictactoe")
CONNECT4 = load_game("connect4")
WIN_VALUE = 1000


def chosen(player: Player, state: State) -> set[int]:
    """Return all moves that the player makes in 60 copies of `state`."""
    return set(player.choose(np.repeat(np.atleast_1d(state), 60)).tolist())


def minimax_value(game: Game, state: State, *, depth: int) -> int:
    """Return the value of depth-limited minimax, by recursion."""
    outcome = game.rules.outcome(state)
    if outcome != ONGOING or depth == 0:
        return outcome * (WIN_VALUE + depth) if outcome != ONGOING else 0
    return max(action_values(game, state, depth=depth).values())


def action_values(game: Game, state: State, *, depth: int) -> dict[int, int]:
    """Return the value of every legal move."""
    values = {}
    for action in game.legal_actions(state):
        after = state.copy()
        game.rules.play(after, action)
        values[action] = -minimax_value(game, after, depth=depth - 1)
    return values


def random_positions(game: Game, count: int, *, plies: int) -> list[State]:
    """Return positions after random play that are not terminal."""
    stream = generator(5, "positions", plies)
    found: list[State] = []
    while len(found) < count:
        state = game.new_states(1)[0]
        for _ in range(plies):
            if game.rules.outcome(state) == ONGOING:
                game.rules.play(state, stream.choice(game.legal_actions(state)))
        if game.rules.outcome(state) == ONGOING:
            found.append(state)
    return found


@pytest.mark.parametrize(("plies", "depth"), [(3, 3), (5, 4), (5, 1), (6, 3)])
def test_minimax_draws_from_all_best_moves_of_a_recursive_search(plies: int, depth: int) -> None:
    player = MinimaxPlayer(TICTACTOE, depth, seed=1)
    for state in random_positions(TICTACTOE, 8, plies=plies):
        values = action_values(TICTACTOE, state, depth=depth)
        best = {action for action, value in values.items() if value == max(values.values())}
        assert chosen(player, state) == best


def test_minimax_agrees_with_a_recursive_search_in_connect_four() -> None:
    player = MinimaxPlayer(CONNECT4, 3, seed=1)
    for state in random_positions(CONNECT4, 4, plies=14):
        values = action_values(CONNECT4, state, depth=3)
        best = {action for action, value in values.items() if value == max(values.values())}
        assert chosen(player, state) == best


def test_minimax_prefers_the_immediate_win() -> None:
    state = CONNECT4.position("414141")
    assert chosen(MinimaxPlayer(CONNECT4, 5, seed=0), state) == {3}


def test_minimax_blocks_an_immediate_threat() -> None:
    state = CONNECT4.position("41424")
    assert chosen(MinimaxPlayer(CONNECT4, 2, seed=0), state) == {3}


def test_minimax_finds_the_open_three_at_depth_3_only() -> None:
    state = CONNECT4.position("3747")  # stones on columns 3 and 4, both sides open
    assert chosen(MinimaxPlayer(CONNECT4, 3, seed=0), state) == {1, 4}
    assert chosen(MinimaxPlayer(CONNECT4, 1, seed=0), state) == set(range(7))


def test_minimax_never_loses_tic_tac_toe_at_full_depth() -> None:
    assert play_every_reply(MinimaxPlayer(TICTACTOE, 9, seed=0), TICTACTOE).losses == 0
    assert play_every_reply(MinimaxPlayer(TICTACTOE, 1, seed=0), TICTACTOE).losses > 0


def test_minimax_needs_a_depth_of_at_least_1() -> None:
    with pytest.raises(ConfigError, match="at least 1 ply"):
        MinimaxPlayer(TICTACTOE, 0, seed=0)


def test_the_solver_beats_shallow_minimax_without_a_loss() -> None:
    solver = SolverPlayer(TICTACTOE, ExhaustiveSolver(TICTACTOE), seed=0)
    shallow = MinimaxPlayer(TICTACTOE, 1, seed=0)
    report = play_match(TICTACTOE, solver, shallow, games=40, seed=0, opening_plies=0)
    assert report.total.losses == 0
    assert report.total.wins > 10


def test_the_solver_player_draws_from_all_moves_of_the_highest_score() -> None:
    class Fixed:
        def scores(self, state: State) -> list[int | None]:
            return [-1, 5, None, 5, 0, 2, -3]

    assert chosen(SolverPlayer(CONNECT4, Fixed(), seed=0), CONNECT4.position("3")) == {1, 3}


@pytest.mark.parametrize("name", ["random", "minimax", "noisy", "solver"])
def test_the_same_seed_and_calls_give_the_same_moves(name: str) -> None:
    def player(seed: int) -> Player:
        if name == "random":
            return RandomPlayer(TICTACTOE, seed)
        if name == "minimax":
            return MinimaxPlayer(TICTACTOE, 2, seed=seed)
        if name == "noisy":
            return named_player("minimax:1~50", TICTACTOE, seed=seed)
        return SolverPlayer(TICTACTOE, ExhaustiveSolver(TICTACTOE), seed=seed)

    states: States = TICTACTOE.new_states(50)
    one, two, other = player(1), player(1), player(2)
    for _ in range(2):
        moves = one.choose(states)
        assert (moves == two.choose(states)).all()
        assert (moves != other.choose(states)).any()
    assert moves.dtype == np.int32


def test_a_noisy_player_plays_the_given_percentage_at_random() -> None:
    states: States = CONNECT4.blank_states(1000)
    states[:] = CONNECT4.position("414141")  # column 4 wins
    player = named_player("minimax:1~40", CONNECT4, seed=1)
    assert player.name == "minimax:1~40"
    assert (player.choose(states) == 3).mean() == pytest.approx(0.6 + 0.4 / 7, abs=0.05)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("minimax:x", "the depth of minimax:x is 'x'"),
        ("random:3", "unknown player 'random:3'"),
        ("random~0", "random moves in .* expected a whole number from 1 to 99"),
        ("random~100", "random moves in .* expected a whole number from 1 to 99"),
        ("minimax:1~x", "random moves in .* expected a whole number from 1 to 99"),
    ],
)
def test_a_malformed_name_is_an_error(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        named_player(text, CONNECT4, seed=1)
