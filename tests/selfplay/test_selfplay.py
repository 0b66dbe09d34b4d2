"""Self-play: every game is legal, its rows follow from its moves, and no two seeds collide."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import toy
from rookery.base import ConfigError, read_arrays, write_arrays
from rookery.games import LOSS, ONGOING, load_game
from rookery.replay import Rows, concatenate, count
from rookery.search import SearchConfig
from rookery.selfplay import CpuSelfPlay, Played, SelfPlayConfig, merge_reports
from rookery.selfplay.report import BatchCounts, Counts, report_rows
from selfplay_games import check_end, check_game, check_report, key_of, keys_of, split_games
from slow_replay import same

CONNECT4 = load_game("connect4")


def new_selfplay(seed: int = 1, method: str = "gumbel", **settings: Any) -> CpuSelfPlay:
    defaults: dict[str, Any] = {"games": 24, "simulations": "8"}
    config = SelfPlayConfig(**(defaults | settings))
    search = SearchConfig(method=method, considered=4)
    return CpuSelfPlay(CONNECT4, toy.hashed(7), config=config, search=search, seed=seed)


def play(moves: int = 60, seed: int = 1, **settings: Any) -> Played:
    return new_selfplay(seed, **settings).play(moves, progress=0.0, iteration=5)


def games_of(played: Played) -> list[Rows]:
    return split_games(played.rows)


def test_moves_lead_from_row_to_row_and_to_the_result() -> None:
    played = play()
    games = games_of(played)
    assert len(games) > 24
    for game in games:
        assert check_game(CONNECT4, game) != ONGOING
        check_end(CONNECT4, game)
    assert (played.rows.iterations == 5).all()


def test_the_report_is_a_recount_of_the_games() -> None:
    played = play(opening_share=0.7, opening_plies=5)
    check_report(played.report, played.rows)
    assert played.report.positions == 60 * 24
    assert played.report.simulations == 60 * 24 * 8
    assert 0 < played.report.evaluations <= 60 * 24 * (8 + 1)


def test_equal_games_are_counted_as_duplicates() -> None:
    games = games_of(play(moves=30))[:4]
    rows = concatenate([games[0], games[1], games[0], games[2], games[0], games[3]])
    nothing = Counts(0, 0, 0, 0)
    report = report_rows(
        rows, nothing, nothing, batches=BatchCounts(0, 0), simulations=0, seconds=1.0
    )
    assert report.duplicate_games == pytest.approx(2 / 6)


def test_merged_reports_count_the_games_of_all() -> None:
    parts = [play(moves=40, seed=seed, opening_share=0.7) for seed in (1, 2)]
    merged = merge_reports([played.report for played in parts])
    rows = concatenate([played.rows for played in parts])
    check_report(merged, rows)
    assert merged.positions == sum(played.report.positions for played in parts)


class CountedEvaluator:
    """Counts the rows of every call."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, planes: Any) -> Any:
        self.sizes.append(len(planes))
        return toy.hashed(7)(planes)


@pytest.mark.parametrize("is_padded", [False, True])
def test_the_report_has_the_batches_of_the_network(is_padded: bool) -> None:
    evaluator = CountedEvaluator()
    selfplay = CpuSelfPlay(
        CONNECT4,
        evaluator,
        config=SelfPlayConfig(games=6, simulations="16"),
        search=SearchConfig(),
        seed=1,
        is_padded=is_padded,
    )
    for _ in range(2):
        evaluator.sizes = sizes = list[int]()
        report = selfplay.play(30, progress=0.0, iteration=0).report
        computed = 6 * len(sizes) if is_padded else sum(sizes)
        assert min(sizes) < 6, "proved games need no network"
        assert (report.batches, report.evaluations) == (len(sizes), sum(sizes))
        assert report.mean_batch == computed / len(sizes)
        assert report.useful_rows == sum(sizes) / computed


def test_merged_batches_are_weighted_by_their_number() -> None:
    report, nothing = play(moves=1).report, merge_reports([])
    small = replace(report, evaluations=30, batches=10, mean_batch=4.0, useful_rows=0.75)
    large = replace(report, evaluations=180, batches=2, mean_batch=100.0, useful_rows=0.9)
    merged = merge_reports([small, large])
    assert (merged.batches, merged.mean_batch) == (12, 20.0)
    assert merged.useful_rows == 210 / 240
    assert merge_reports([small, nothing]).mean_batch == 4.0
    assert (nothing.mean_batch, nothing.useful_rows) == (0.0, 0.0)


def test_no_moves_finish_no_games() -> None:
    played = new_selfplay().play(0, progress=0.0, iteration=0)
    assert count(played.rows) == 0
    assert played.report.games == 0 and played.report.mean_length == 0.0


def test_the_last_position_before_a_win_is_known_to_be_won() -> None:
    won = [game for game in games_of(play()) if game.results[-1] == 1]
    assert np.mean([game.values[-1] == 1.0 for game in won]) > 0.9


def test_openings_have_at_most_the_plies_asked_for_and_differ() -> None:
    games = games_of(play(opening_share=1.0, opening_plies=8))
    assert {int(game.openings[0]) for game in games} == set(range(1, 9))
    long = [game for game in games if game.openings[0] >= 5]
    assert len({game.states[0].tobytes() for game in long}) > 0.9 * len(long) > 10


def test_games_of_one_ply_have_space_for_drawing_their_openings() -> None:
    selfplay = new_selfplay(max_plies=1, opening_share=1.0, opening_plies=3)
    assert selfplay.state()["rows.states"].shape[1] == 2
    games = games_of(selfplay.play(6, progress=0.0, iteration=0))
    assert len(games) == 6 * 24
    for game in games:
        assert count(game) == 1
        check_end(CONNECT4, game, max_plies=1)


def test_an_opening_seldom_leaves_an_immediate_win() -> None:
    games = games_of(play(opening_share=1.0, opening_plies=12))
    openings = [game.states[0] for game in games if game.openings[0] > 6]
    assert np.mean([can_win(state) for state in openings]) < 0.2


def can_win(state: Any) -> bool:
    for action in CONNECT4.legal_actions(state):
        after = state.copy()
        CONNECT4.rules.play(after, action)
        if CONNECT4.rules.outcome(after) == LOSS:
            return True
    return False


def test_without_openings_every_game_begins_at_the_start() -> None:
    rows = play(opening_share=0.0).rows
    first = {game.states[0].tobytes() for game in split_games(rows)}
    assert first == {CONNECT4.new_states(1)[0].tobytes()}
    assert not rows.openings.any()


def test_two_seeds_share_no_game() -> None:
    """Short games may be equal by chance."""
    first, second = (
        {key_of(game) for game in games_of(play(seed=seed)) if count(game) > 10} for seed in (1, 2)
    )
    assert len(first) > 50 and not first & second


def test_the_same_seed_plays_the_same_games() -> None:
    assert same(play(seed=5).rows, play(seed=5).rows)


def preferences(games: list[Rows], plies: slice) -> np.ndarray:
    """Return the probability of each move made, as a share of the likeliest move's."""
    shares = []
    for game in games:
        for i in range(count(game))[plies]:
            policy = game.policy[i, : game.num_legal[i]]
            made = game.legal[i, : game.num_legal[i]].tolist().index(game.moves[i])
            shares.append(policy[made] / policy.max())
    return np.array(shares)


def test_moves_are_drawn_from_the_policy_in_the_first_plies_only() -> None:
    games = games_of(play(method="puct", opening_share=0.0, temperature_plies=4))
    assert (preferences(games, slice(4, None)) == 1).all()
    assert (preferences(games, slice(0, 4)) == 1).mean() < 0.8


def test_a_low_temperature_leaves_only_the_best_moves() -> None:
    games = games_of(play(opening_share=0.0, temperature_plies=42, temperature=0.01))
    assert preferences(games, slice(None)).min() > 0.8  # 0.8 ** 100 is 2e-10


def test_drawn_moves_are_as_frequent_as_the_policy_says() -> None:
    games = games_of(play(opening_share=0.0, temperature_plies=42, moves=80))
    is_best = preferences(games, slice(None)) == 1
    policies = [game.policy[i, : game.num_legal[i]] for game in games for i in range(count(game))]
    best = np.array([policy.max() / 32767 for policy in policies])
    spread = np.sqrt((best * (1 - best)).sum()) / len(best)
    assert abs(is_best.mean() - best.mean()) < 4 * spread < 0.05


def test_players_that_would_have_resigned_wrongly_are_counted() -> None:
    played = play(moves=42, resign=0.01, resign_check=1.0)
    games, report = games_of(played), played.report
    resigned = [resigning_row(game, 0.01) for game in games]
    wrong = [
        row >= 0 and game.results[row] != LOSS for game, row in zip(games, resigned, strict=True)
    ]
    assert all(check_game(CONNECT4, game) != ONGOING for game in games)
    assert report.resign_checks == sum(row >= 0 for row in resigned)
    assert 0 < report.resign_errors == sum(wrong) < report.resign_checks <= report.games


def resigning_row(game: Rows, threshold: float) -> int:
    """Return the first row whose player would have resigned, or -1; the last move ends the game."""
    low = np.flatnonzero(game.values[:-1] < -threshold)
    return int(low[0]) if len(low) else -1


def test_a_player_who_resigns_loses_before_the_game_is_over() -> None:
    games = games_of(play(resign=0.01, resign_check=0.0))
    early = [game for game in games if check_game(CONNECT4, game) == ONGOING]
    assert early
    for game in games:
        check_end(CONNECT4, game, resign=0.01)
        assert resigning_row(game, 0.01) == -1


def test_a_restored_state_plays_on_bit_for_bit(tmp_path: Any) -> None:
    whole = new_selfplay(opening_share=0.7)
    whole.play(20, progress=0.0, iteration=0)
    write_arrays(tmp_path / "file", whole.state())
    expected = whole.play(20, progress=0.0, iteration=1).rows
    other = new_selfplay(seed=99, opening_share=0.7)
    other.restore(read_arrays(tmp_path / "file")[0])
    found = other.play(20, progress=0.0, iteration=1).rows
    assert len(keys_of(expected)) > 10
    assert same(found, expected)


def test_a_check_that_raises_ends_the_play_at_once() -> None:
    class Enough(Exception):
        pass

    def stop() -> None:
        raise Enough

    with pytest.raises(Enough):
        new_selfplay().play(1000, progress=0.0, iteration=0, check=stop)


def test_the_schedule_rises_with_progress() -> None:
    config = SelfPlayConfig(simulations="16, 32@0.3, 64@0.7")
    assert [config.simulations_at(p) for p in (0.0, 0.29, 0.3, 0.69, 0.7, 1.0)] == [
        16,
        16,
        32,
        32,
        64,
        64,
    ]
    assert config.max_simulations() == 64


@pytest.mark.parametrize("text", ["", "a", "0", "16@x", "16, 32@0.7, 64@0.3", "-4"])
def test_a_malformed_schedule_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"selfplay\.simulations"):
        SelfPlayConfig(simulations=text)


@pytest.mark.parametrize(
    "wrong", [{"games": 0}, {"temperature": 0.0}, {"opening_share": 1.5}, {"resign": 2.0}]
)
def test_settings_out_of_range_are_refused_by_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"selfplay.{next(iter(wrong))}"):
        SelfPlayConfig(**wrong)
