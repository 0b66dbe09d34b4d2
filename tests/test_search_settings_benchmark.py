"""`benchmarks/search_settings.py`: its variants, and a match of two of them."""

import importlib
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import toy
from rookery.games import load_game
from rookery.search import SearchConfig

CONNECT4 = load_game("connect4")
PUCT = SearchConfig(method="puct")


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "benchmarks"))
    return importlib.import_module("search_settings")


def test_a_variant_replaces_settings_of_the_search_and_of_its_waves(settings: ModuleType) -> None:
    variant = settings.Variant.read("few: c_init=0.5 leaves=8 growth=4", PUCT)
    assert (variant.name, variant.search, variant.leaves) == ("few", replace(PUCT, c_init=0.5), 8)
    assert [variant.wave(nodes) for nodes in (0, 4, 9, 100)] == [1, 1, 2, 8]
    assert settings.Variant.read("all: leaves=8", PUCT).wave(0) == 8


def test_waves_need_the_search_of_one_position(settings: ModuleType) -> None:
    with pytest.raises(SystemExit, match="few: leaves need method=puct"):
        settings.Variant.read("few: leaves=8", SearchConfig())


def test_the_network_of_both_players_is_asked_once_per_position(settings: ModuleType) -> None:
    evaluator = settings.Remembering(toy.hashed(7), bytes_per_position=1)
    planes = CONNECT4.planes(CONNECT4.new_states(3))
    logits, wdl = evaluator(planes)
    assert (logits.shape, wdl.shape, evaluator.misses) == ((3, 7), (3, 3), 1)
    assert (evaluator(planes)[0] == logits).all() and evaluator.misses == 1


def test_mirrored_evaluations_belong_to_the_moves_of_the_position(settings: ModuleType) -> None:
    def first_column(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Prefer the columns with more of the mover's stones, in every view."""
        return planes[:, 0].sum(1), np.zeros((len(planes), 3), np.float32)

    planes = CONNECT4.planes(CONNECT4.random_states(50, seed=0)).astype(np.float32)
    logits, _ = settings.Mirroring(CONNECT4, first_column)(planes)
    assert (logits == first_column(planes)[0]).all()


def test_a_match_between_waves_of_different_size(settings: ModuleType) -> None:
    net = SimpleNamespace(game=CONNECT4)
    one, many = (settings.Variant.read(f"{leaves}: leaves={leaves}", PUCT) for leaves in (2, 8))
    report = settings.match(net, toy.hashed(7), (one, 12), (many, 12), games=4, seed=1)
    assert report.total.games == 4 and not report.faults
