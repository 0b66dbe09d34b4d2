"""Settings are checked once, with their dotted path."""

from typing import Any

import pytest

from rookery.base import ConfigError, UnknownName
from rookery.learning import LearningConfig


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
