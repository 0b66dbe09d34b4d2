"""The schedule of sequential halving, and the settings of the search."""

from typing import Any

import pytest

from rookery.base import ConfigError
from rookery.search import SearchConfig
from rookery.search.gumbel import considered_visits, visit_table


def test_halving_keeps_the_better_half_each_round() -> None:
    # 4 moves, 8 simulations: one visit each, then two visits each for the better two.
    assert considered_visits(4, 8) == [0, 0, 0, 0, 1, 1, 2, 2]


def test_a_single_move_takes_all_simulations() -> None:
    assert considered_visits(1, 5) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("considered", [2, 3, 7, 16])
@pytest.mark.parametrize("simulations", [1, 2, 16, 50, 100])
def test_the_schedule_only_asks_for_existing_visit_counts(
    considered: int, simulations: int
) -> None:
    visits = [0] * considered
    for wanted in considered_visits(considered, simulations):
        assert wanted in visits
        visits[visits.index(wanted)] += 1


def test_the_table_has_a_row_for_every_number_of_moves() -> None:
    table = visit_table(7, 20)
    assert table.shape == (8, 20)
    assert table[3].tolist() == considered_visits(3, 20)


@pytest.mark.parametrize(
    "wrong", [{"considered": 0}, {"c_scale": -1.0}, {"noise_fraction": 1.5}, {"method": "gumble"}]
)
def test_wrong_settings_are_refused_by_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"search.{next(iter(wrong))}"):
        SearchConfig(**wrong)
