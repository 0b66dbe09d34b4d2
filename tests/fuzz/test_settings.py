"""Settings with hostile values are accepted as they are written, or refused in one line."""

import json

from hypothesis import given
from hypothesis import strategies as st

from fuzzing import JSON, cases, changed_json, hostile, only_clear_errors
from rookery.training import apply, from_json, recipe_for, to_json
from rookery.training.config import setting_names

BASE = recipe_for("tictactoe")
NAMES = st.sampled_from(setting_names()) | st.text(max_size=10)


@cases(0.2)
@given(st.lists(st.tuples(NAMES, hostile), min_size=1, max_size=3))
def test_a_setting_is_accepted_or_refused(pairs: list[tuple[str, str]]) -> None:
    with only_clear_errors():
        config = apply(BASE, [f"{name}={text}" for name, text in pairs])
        assert from_json(to_json(config)) == config


@cases(0.2)
@given(changed_json(json.loads(to_json(BASE))) | JSON)
def test_an_edited_file_is_accepted_or_refused(content: object) -> None:
    with only_clear_errors():
        config = from_json(json.dumps(content))
        assert from_json(to_json(config)) == config
