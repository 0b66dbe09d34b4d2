"""Settings: changed by name, written as JSON, validated when they are read."""

import json
from dataclasses import asdict

import pytest

from rookery.base import ConfigError, UnknownName
from rookery.training import RECIPES, Config, RunConfig, apply, from_json, setting_names, to_json

PLAIN = Config(game="tictactoe", recipe="tictactoe-demo")


def test_a_setting_is_changed_by_its_dotted_path() -> None:
    changed = apply(PLAIN, ["search.considered=8", "run.minutes = 1.5", "search.prove=false"])
    assert changed.search.considered == 8
    assert changed.run.minutes == 1.5
    assert changed.search.prove is False


def test_other_settings_stay_and_the_last_assignment_wins() -> None:
    changed = apply(PLAIN, ["net.width=8", "net.width=16"])
    tree = asdict(PLAIN)
    tree["net"]["width"] = 16
    assert asdict(changed) == tree
    assert PLAIN.net.width != 16


def test_a_text_may_contain_commas_and_equal_signs() -> None:
    changed = apply(PLAIN, ["selfplay.simulations=16, 32@0.5"])
    assert changed.selfplay.schedule() == ((0.0, 16), (0.5, 32))
    with pytest.raises(ConfigError, match="simulations is 'a=b'"):
        apply(PLAIN, ["selfplay.simulations=a=b"])


def test_every_named_setting_can_be_set_to_what_it_is() -> None:
    for name in setting_names():
        section, _, field = name.partition(".")
        value = getattr(getattr(PLAIN, section), field)
        assert apply(PLAIN, [f"{name}={value}"]) == PLAIN


def test_the_names_are_those_of_the_written_config() -> None:
    tree = json.loads(to_json(PLAIN))
    names = [
        f"{section}.{n}" for section, part in tree.items() if isinstance(part, dict) for n in part
    ]
    assert setting_names() == names
    assert "game" in tree and "game" not in names


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("search.consider", "search.considered"),
        ("serch.considered", "search.considered"),
        ("run.minute", "run.minutes"),
        ("considered", "search.considered"),
        ("learning.learning-rate", "learning.learning_rate"),
    ],
)
def test_the_error_for_an_unknown_name_suggests_the_nearest(path: str, nearest: str) -> None:
    with pytest.raises(UnknownName, match=f"did you mean {nearest}[?]"):
        apply(PLAIN, [f"{path}=8"])


@pytest.mark.parametrize("path", ["game", "recipe", "run", "run.", "", ".", "run.progress", "x"])
def test_only_settings_can_be_set(path: str) -> None:
    with pytest.raises(UnknownName, match="unknown setting"):
        apply(PLAIN, [f"{path}=connect4"])


def test_an_assignment_needs_an_equal_sign() -> None:
    with pytest.raises(
        ConfigError, match=r"expected a setting like search.considered=8, got 'run.seed'"
    ):
        apply(PLAIN, ["run.seed"])


OUT_OF_RANGE = [
    ("run.moves", "0"),
    ("run.minutes", "-1"),
    ("run.minutes", "nan"),
    ("run.seed", "-1"),
    ("run.seed", "99999999999999999999"),
    ("run.checkpoint_every", "0"),
    ("run.inference", "fast"),
    ("search.considered", "0"),
    ("selfplay.opening_share", "1.5"),
    ("selfplay.simulations", "16@x"),
    ("replay.window_growth", "-1"),
    ("replay.window_growth", "inf"),
    ("run.max_lag", "inf"),
    ("learning.batch_size", "0"),
    ("net.width", "0"),
]


@pytest.mark.parametrize(("path", "text"), OUT_OF_RANGE)
def test_the_error_for_a_value_out_of_range_names_the_setting(path: str, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        apply(PLAIN, [f"{path}={text}"])
    assert path in str(caught.value) and text in str(caught.value)


@pytest.mark.parametrize(("path", "text"), [p for p in OUT_OF_RANGE if p[1] not in ("nan", "inf")])
def test_a_value_out_of_range_in_a_file_gives_the_same_error(path: str, text: str) -> None:
    section, _, name = path.partition(".")
    tree = asdict(PLAIN)
    is_text = isinstance(tree[section][name], str)
    tree[section][name] = text if is_text else json.loads(text)
    with pytest.raises(ConfigError) as from_file:
        from_json(json.dumps(tree))
    with pytest.raises(ConfigError) as from_command:
        apply(PLAIN, [f"{path}={text}"])
    assert str(from_file.value) == str(from_command.value)


@pytest.mark.parametrize("text", ["many", "", "1.5", "[1]"])
def test_the_error_for_a_value_of_another_type_names_the_setting(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^run\.moves is .*, expected a whole number from 1 to "):
        apply(PLAIN, [f"run.moves={text}"])


@pytest.mark.parametrize("recipe", RECIPES)
def test_settings_read_from_a_file_equal_those_written(recipe: str) -> None:
    config = apply(RECIPES[recipe](), ["run.seed=7", "learning.learning_rate=0.1"])
    assert from_json(to_json(config)) == config


def test_settings_missing_in_a_file_have_their_defaults() -> None:
    assert from_json('{"game": "x", "recipe": "y", "run": {"moves": 3}}') == Config(
        game="x", recipe="y", run=RunConfig(moves=3)
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "expected settings by name, got []"),
        ("7", "expected settings by name, got 7"),
        ("null", "expected settings by name, got None"),
        ("{}", "game is missing"),
        ('{"game": "x"}', "recipe is missing"),
        ('{"game": 5, "recipe": "y"}', "game: "),
        ('{"game": "x", "recipe": "y", "run": 5}', "config run: expected settings by name, got 5"),
        ('{"game": "x", "recipe": "y", "run": {"moves": [1]}}', "run.moves: "),
        ('{"game": "x", "recipe": "y", "run": {"moves": null}}', "run.moves: "),
        ('{"game": "x", "recipe": "y", "rum": {}}', "did you mean run?"),
        ('{"game": "x", "recipe": "y", "run": {"move": 1}}', "did you mean run.moves?"),
    ],
)
def test_a_file_of_another_shape_is_refused_in_one_short_line(text: str, found: str) -> None:
    with pytest.raises(ConfigError) as caught:
        from_json(text)
    message = str(caught.value)
    assert found in message
    assert len(message) < 150 and "\n" not in message


@pytest.mark.parametrize(
    ("minutes", "iterations", "progress"),
    [(0, 0, 0.0), (1, 0, 0.5), (0, 40, 0.25), (1, 40, 0.5), (1, 12, 10 / 12), (0.25, 0, 1.0)],
)
def test_progress_follows_the_limit_that_is_reached_first(
    minutes: float, iterations: int, progress: float
) -> None:
    run = RunConfig(minutes=minutes, iterations=iterations)
    assert run.progress(seconds=30, iteration=10) == progress


@pytest.mark.parametrize("order", [1, -1])
def test_settings_that_depend_on_each_other_may_come_in_any_order(order: int) -> None:
    pair = ["replay.window_min=100000", "replay.window_max=200000"]
    replay = apply(PLAIN, pair[::order]).replay
    assert (replay.window_min, replay.window_max) == (100000, 200000)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (["run.silence_seconds=0.9"], r"run\.silence_seconds is 0\.9, expected at least 2 \* "),
        (["run.heartbeat_seconds=11"], r"run\.silence_seconds is 20, .* which is 22"),
        (["learning.silence_seconds=0.5"], r"learning\.silence_seconds is 0\.5, expected at least"),
        (["run.heartbeat_seconds=0"], r"run\.heartbeat_seconds is 0"),
        (["run.restarts=-1"], r"run\.restarts is -1"),
        (["run.restart_minutes=0"], r"run\.restart_minutes is 0"),
        (["learning.prefetch=-1"], r"learning\.prefetch is -1"),
        (["learning.pin_memory=2"], r"learning\.pin_memory: .* valid boolean"),
        (["learning.overlap=maybe"], r"learning\.overlap: .* valid boolean"),
    ],
)
def test_limits_of_workers_and_batches_are_checked(settings: list[str], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        apply(RECIPES["tictactoe-demo"](), settings)


def test_a_slow_heartbeat_needs_longer_silences() -> None:
    settings = ["run.heartbeat_seconds=20", "run.silence_seconds=40", "learning.silence_seconds=40"]
    assert apply(RECIPES["tictactoe-demo"](), settings).run.restart_policy().silence_seconds == 40


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("learning.method=pipeline", "every trainer needs every row"),
        ("learning.compiled=true", "shares of a batch vary"),
    ],
)
def test_a_split_window_needs_trainers_that_can_use_it(setting: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=rf"replay\.sharding is split, .*{reason}"):
        apply(RECIPES["tictactoe-demo"](), ["replay.sharding=split", setting])
