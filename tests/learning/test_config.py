"""Settings are checked once, with their dotted path."""

from typing import Any

import pytest

from rookery.base import ConfigError, UnknownName
from rookery.learning import LearningConfig, learning_rate


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("batch_size", 0),
        ("accumulate", 5),
        ("reuse", -1.0),
        ("learning_rate", float("nan")),
        ("clip_norm", float("inf")),
        ("result_mix", 1.5),
        ("ema", -0.1),
        ("weight_decay", -1e-4),
    ],
)
def test_a_setting_out_of_range_is_named(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"learning\.{name} is {value}"):
        LearningConfig(**{name: value})


def test_an_unknown_precision_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean bfloat16"):
        LearningConfig(precision="bfloat")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("compress", "fp16"),
        ("synchronise", "parameter_server"),
        ("scaling", "linear"),
        ("balance_every", 5),
        ("max_batch_ratio", 2.0),
        ("sync_every", 2),
        ("outer_momentum", 0.3),
        ("compiled", True),
    ],
)
def test_settings_without_meaning_in_a_pipeline_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"learning\.{name} is {value}, .*method=pipeline"):
        LearningConfig(method="pipeline", **{name: value})
    LearningConfig(method="pipeline", balance_every=0)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"learning\.method"):
        LearningConfig(method="ddp")


@pytest.mark.parametrize(
    ("scaling", "workers", "rows", "rate"),
    [
        ("none", 4, 512, 0.001),
        ("linear", 1, 512, 0.001),
        ("linear", 4, 2048, 0.004),
        ("sqrt", 4, 2048, 0.002),
        ("sqrt", 2, 1024, 0.001 * 2**0.5),
    ],
)
def test_batch_and_rate_are_scaled_by_the_number_of_trainers(
    scaling: str, workers: int, rows: int, rate: float
) -> None:
    config = LearningConfig(method="distributed", scaling=scaling, learning_rate=0.001)
    scaled = config.scaled(workers)
    assert scaled.batch_size == rows and scaled.learning_rate == pytest.approx(rate)
    assert learning_rate(0.0, 10**6, config=scaled) == pytest.approx(rate)
    assert scaled.scaled(workers) == scaled, "only once"


def test_scaling_is_announced_from_the_old_value_to_the_new_one() -> None:
    config = LearningConfig(method="distributed", scaling="sqrt", learning_rate=0.001)
    assert config.terms(4) == (
        "4 trainers sharing every batch (DDP): from 512 to 2048 rows per update, "
        "peak learning rate from 0.001 to 0.002 (learning.scaling=sqrt)"
    )
    assert config.terms(1) == "1 trainer: 512 rows per update, peak learning rate 0.001"
