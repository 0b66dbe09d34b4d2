"""Self-play of chess without a network: positions repeat, and games may never end."""

from typing import Any

import numpy as np

import toy
from chess_boards import CHESS
from rookery.games import DRAW, ONGOING
from rookery.search import SearchConfig
from rookery.selfplay import CpuSelfPlay, Played, SelfPlayConfig
from selfplay_games import check_end, check_game, check_report, keys_of, split_games
from slow_replay import same

SHUFFLE = {"g1f3": "", "f3g1": "startpos moves g1f3 g8f6"}
"""Two moves, and a position where each can be made."""


def shuffling(planes: Any) -> tuple[Any, Any]:
    """Prefer to move the king's knight out and home again, for either side."""
    logits = np.zeros((len(planes), CHESS.num_actions), np.float32)
    for move, position in SHUFFLE.items():
        logits[:, CHESS.read_move(CHESS.position(position), move)] = 50
    return logits, np.full((len(planes), 3), 1 / 3, np.float32)


def gloomy(planes: Any) -> tuple[Any, Any]:
    """Expect to lose most positions, so that players resign now and then."""
    logits, wdl = toy.hashed(CHESS.num_actions)(planes)
    return logits, wdl[:, ::-1]


def new_selfplay(evaluator: Any, seed: int = 1, **settings: Any) -> CpuSelfPlay:
    defaults: dict[str, Any] = {
        "games": 3,
        "simulations": "2",
        "opening_share": 0.0,
        "temperature_plies": 0,
    }
    config = SelfPlayConfig(**(defaults | settings))
    search = SearchConfig(considered=2)
    return CpuSelfPlay(CHESS, evaluator, config=config, search=search, seed=seed)


def play(selfplay: CpuSelfPlay, moves: int) -> Played:
    return selfplay.play(moves, progress=0.0, iteration=0)


def test_the_third_repetition_ends_a_game_as_a_draw() -> None:
    played = play(new_selfplay(shuffling), 17)
    games = split_games(played.rows)
    assert [len(game.moves) for game in games] == [8] * 6
    assert played.report.draws == 1.0
    for game in games:
        assert check_game(CHESS, game) == DRAW == game.results[0]
        assert game.states["repeats"].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_game_that_lasts_too_long_is_a_draw() -> None:
    selfplay = new_selfplay(toy.hashed(CHESS.num_actions), max_plies=12, temperature_plies=12)
    games = split_games(play(selfplay, 25).rows)
    assert [len(game.moves) for game in games] == [12] * 6
    assert all((game.results == DRAW).all() for game in games)
    assert all(check_game(CHESS, game) == ONGOING for game in games)


def test_moves_lead_from_row_to_row_and_to_the_result() -> None:
    settings: Any = {"max_plies": 24, "temperature_plies": 24, "opening_share": 0.7}
    selfplay = new_selfplay(gloomy, **settings, resign=0.15, resign_check=0.0)
    played = play(selfplay, 60)
    games = split_games(played.rows)
    assert len(games) > 6 and len({int(game.openings[0]) for game in games}) > 2
    assert {0, 1} <= {abs(int(game.results[0])) for game in games}
    for game in games:
        check_end(CHESS, game, max_plies=24, resign=0.15)
    check_report(played.report, played.rows)


def test_a_restored_state_remembers_earlier_positions() -> None:
    whole = new_selfplay(shuffling)
    play(whole, 6)
    kept = {name: np.array(array) for name, array in whole.state().items()}
    resumed, forgetful = new_selfplay(shuffling, seed=9), new_selfplay(shuffling, seed=9)
    resumed.restore(kept)
    fresh = {name: array for name, array in forgetful.state().items() if "repetitions" in name}
    assert len(fresh) == 2
    forgetful.restore(kept | fresh)
    expected, found = play(whole, 2).rows, play(resumed, 2).rows
    assert len(keys_of(expected)) == 3
    assert same(found, expected)
    assert not len(play(forgetful, 2).rows.moves)


def test_a_restored_state_plays_on_bit_for_bit() -> None:
    settings: Any = {"max_plies": 20, "temperature_plies": 20, "opening_share": 1.0}
    whole = new_selfplay(toy.hashed(CHESS.num_actions), **settings)
    play(whole, 15)
    kept = {name: np.array(array) for name, array in whole.state().items()}
    other = new_selfplay(toy.hashed(CHESS.num_actions), seed=7, **settings)
    other.restore(kept)
    expected, found = (play(each, 20).rows for each in (whole, other))
    assert len(keys_of(expected)) > 3
    assert same(found, expected)
    for name, array in whole.state().items():
        assert np.array_equal(array, other.state()[name]), name
