"""Matches: pairs, colours, openings, counting."""

import numpy as np
import pytest
from numpy.typing import NDArray

from rookery.arena import MatchReport, MinimaxPlayer, Player, RandomPlayer, play_match
from rookery.arena.match import draw_openings
from rookery.base import ConfigError, IllegalPosition
from rookery.games import DRAW, LOSS, ONGOING, WIN, Game, States, load_game

TICTACTOE = load_game("tictactoe")
CONNECT4 = load_game("connect4")


class Lowest:
    """Plays the lowest legal action: the same game every time."""

    name = "lowest"

    def __init__(self, rules_game: Game) -> None:
        self.game = rules_game

    def choose(self, states: States, past: object = None) -> NDArray[np.int32]:
        return np.array([self.game.legal_actions(state)[0] for state in states], np.int32)


class Highest(Lowest):
    """Plays the highest legal action."""

    name = "highest"

    def choose(self, states: States, past: object = None) -> NDArray[np.int32]:
        return np.array([self.game.legal_actions(state)[-1] for state in states], np.int32)


class Stubborn:
    """Plays action 0, legal or not."""

    name = "stubborn"

    def choose(self, states: States, past: object = None) -> NDArray[np.int32]:
        return np.zeros(len(states), np.int32)


def match(a: Player, b: Player, *, games: int = 40, plies: int = 2) -> MatchReport:
    return play_match(CONNECT4, a, b, games=games, seed=3, opening_plies=plies)


def test_a_player_against_itself_is_exactly_even() -> None:
    report = match(Lowest(CONNECT4), Lowest(CONNECT4))
    assert report.difference.elo == pytest.approx(0)
    assert report.total.wins == report.total.losses
    assert (report.first.wins, report.first.losses) == (report.second.losses, report.second.wins)
    assert report.distinct_games == 20  # both games of a pair are the same


def test_pairs_share_their_opening_and_swap_colours() -> None:
    report = match(RandomPlayer(CONNECT4, 1), RandomPlayer(CONNECT4, 2), plies=3)
    for one, other in zip(report.games[::2], report.games[1::2], strict=True):
        assert one.opening == other.opening
        assert (one.a_first, other.a_first) == (True, False)
    assert len({one.opening for one in report.games}) == 20


@pytest.mark.parametrize("plies", [0, 1, 2])
def test_games_replay_to_the_result_they_claim(plies: int) -> None:
    report = match(MinimaxPlayer(CONNECT4, 2, seed=1), RandomPlayer(CONNECT4, 2), plies=plies)
    for played in report.games:
        line = played.opening + played.moves
        end = CONNECT4.rules.outcome(CONNECT4.replay(line))
        assert end in (LOSS, DRAW)
        a_made_the_last_move = (len(line) % 2 == 1) == played.a_first
        assert played.result == (DRAW if end == DRAW else WIN if a_made_the_last_move else LOSS)


def test_results_are_counted_by_colour() -> None:
    report = match(MinimaxPlayer(CONNECT4, 3, seed=1), RandomPlayer(CONNECT4, 2))
    assert (report.a, report.b) == ("minimax:3", "random")
    assert report.total.games == 40 == len(report.games)
    assert report.first.games == report.second.games == 20
    assert report.first.wins + report.second.wins == report.total.wins
    assert report.total.wins > 35
    assert report.difference.low > 200
    assert report.difference.score == (report.total.wins + report.total.draws / 2) / 40


def test_swapping_the_players_turns_the_score() -> None:
    forth = match(Lowest(CONNECT4), Highest(CONNECT4))
    back = match(Highest(CONNECT4), Lowest(CONNECT4))
    assert forth.first.wins == back.second.losses
    assert forth.difference.elo == pytest.approx(-back.difference.elo)


def test_repeated_games_are_not_counted_twice() -> None:
    report = match(Lowest(CONNECT4), Lowest(CONNECT4), plies=0)
    assert report.distinct_games == 1
    assert len(report.games) == 40


def test_one_seed_gives_one_match() -> None:
    def play() -> MatchReport:
        return match(MinimaxPlayer(CONNECT4, 1, seed=4), RandomPlayer(CONNECT4, 5))

    assert play() == play()


def test_openings_repeat_in_turn_only_when_there_are_no_more() -> None:
    openings = draw_openings(TICTACTOE, 20, plies=1, seed=0)
    assert sorted(openings[:9]) == [(cell,) for cell in range(9)]
    assert openings[9:18] == openings[:9]


def test_openings_never_end_the_game() -> None:
    for opening in draw_openings(TICTACTOE, 50, plies=7, seed=0):
        assert TICTACTOE.rules.outcome(TICTACTOE.replay(opening)) == ONGOING


def test_openings_longer_than_the_game_are_an_error() -> None:
    with pytest.raises(ConfigError, match="use shorter ones"):
        draw_openings(TICTACTOE, 1, plies=9, seed=0)


@pytest.mark.parametrize("games", [0, 1, 7, -2])
def test_games_come_in_pairs(games: int) -> None:
    with pytest.raises(ConfigError, match="in pairs"):
        match(Stubborn(), Stubborn(), games=games)


def test_an_illegal_choice_names_the_player() -> None:
    with pytest.raises(IllegalPosition, match="stubborn chose action 0 in connect4"):
        match(Stubborn(), Lowest(CONNECT4))


def test_an_answer_of_the_wrong_length_names_the_player() -> None:
    class Short(Stubborn):
        def choose(self, states: States, past: object = None) -> NDArray[np.int32]:
            return np.zeros(1, np.int32)

    with pytest.raises(IllegalPosition, match="stubborn answered"):
        match(Short(), Lowest(CONNECT4))
