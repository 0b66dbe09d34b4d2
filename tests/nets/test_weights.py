"""Weights as files: round trips, damage, and files for another game."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import safetensors
import safetensors.torch
import torch

from crafted import NESTED, Change, at_most_allocated, recrafted, signed
from rookery.base import ConfigError, FileDamaged, RookeryError
from rookery.nets import (
    GameSpec,
    NetConfig,
    WeightsHeader,
    build_net,
    load,
    pack,
    save,
    unpack,
    weights,
)

State = dict[str, torch.Tensor]

TICTACTOE = GameSpec("tictactoe", 1, (2, 3, 3), 9)
CONNECT4 = GameSpec("connect4", 1, (2, 6, 7), 7)
CONFIG = NetConfig(width=4, depth=1)
HEADER = WeightsHeader(TICTACTOE, CONFIG, step=1200)


@pytest.fixture
def state() -> State:
    return build_net(CONFIG, (2, 3, 3), 9, seed=3).state_dict()


def test_weights_come_back_bit_for_bit_with_their_header(state: State) -> None:
    found = unpack(pack(state, HEADER), TICTACTOE)
    assert found.header == HEADER
    assert found.state.keys() == state.keys()
    assert all(torch.equal(found.state[name], state[name]) for name in state)


def test_a_file_rebuilds_its_net(state: State, tmp_path: Path) -> None:
    save(tmp_path / "net.safetensors", state, header=HEADER)
    rebuilt = load(tmp_path / "net.safetensors").build().state_dict()
    assert all(torch.equal(rebuilt[name], state[name]) for name in state)


def test_other_tools_can_open_the_file(state: State, tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    save(path, state, header=HEADER)
    with safetensors.safe_open(path, "pt") as file:
        assert set(file.keys()) == set(state)
        assert torch.equal(file.get_tensor("stem.conv.weight"), state["stem.conv.weight"])
        assert json.loads(file.metadata()["rookery"])["step"] == 1200


def test_equal_weights_give_equal_bytes_even_in_another_memory_order(state: State) -> None:
    payload = pack(state, HEADER)
    name = "stem.conv.weight"
    state[name] = state[name].to(memory_format=torch.channels_last)
    assert pack(state, HEADER) == payload


def test_the_fingerprint_depends_on_the_tensors_and_not_on_the_step(state: State) -> None:
    later = WeightsHeader(TICTACTOE, CONFIG, step=1201)
    first = unpack(pack(state, HEADER)).fingerprint
    assert unpack(pack(state, later)).fingerprint == first
    state["stem.conv.weight"][0, 0, 0, 0] += 1
    assert unpack(pack(state, HEADER)).fingerprint != first


def test_one_flipped_bit_anywhere_is_noticed(state: State) -> None:
    payload = pack(state, HEADER)
    start = 8 + int.from_bytes(payload[:8], "little")
    offsets = [*range(start), *range(start, len(payload), 101), len(payload) - 1]
    for offset in offsets:
        broken = bytearray(payload)
        broken[offset] ^= 1 << offset % 8
        with pytest.raises(FileDamaged):
            unpack(bytes(broken))


def test_a_truncated_file_is_noticed(state: State, tmp_path: Path) -> None:
    payload = pack(state, HEADER)
    for length in (0, 7, 8, 100, len(payload) // 2, len(payload) - 1):
        path = tmp_path / "net.safetensors"
        path.write_bytes(payload[:length])
        with pytest.raises(FileDamaged, match=r"net\.safetensors is truncated"):
            load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileDamaged, match=r"none\.safetensors is missing"):
        load(tmp_path / "none.safetensors")


def test_a_safetensors_file_of_another_tool_is_refused() -> None:
    payload = safetensors.torch.save({"a": torch.zeros(3)})
    with pytest.raises(FileDamaged, match="not a Rookery file"):
        unpack(payload)


def test_a_newer_format_is_refused(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "FORMAT", 2)
    payload = pack(state, HEADER)
    monkeypatch.undo()
    with pytest.raises(RookeryError, match="has format 2, expected 1 or older; upgrade"):
        unpack(payload)


def test_a_net_of_another_game_is_refused(state: State) -> None:
    text = r"connect4 has 7 actions, got 9; was this net trained for tictactoe\?"
    with pytest.raises(ConfigError, match=text):
        unpack(pack(state, HEADER), CONNECT4)


def test_a_net_of_a_game_with_as_many_actions_is_refused(state: State) -> None:
    other = GameSpec("pebbles", 1, (2, 3, 3), 9)
    with pytest.raises(ConfigError, match="choose a net trained for pebbles"):
        unpack(pack(state, HEADER), other)


def test_a_net_for_older_rules_is_refused(state: State) -> None:
    with pytest.raises(ConfigError, match="is at version 2 of its rules, got a net for version 1"):
        unpack(pack(state, HEADER), GameSpec("tictactoe", 2, (2, 3, 3), 9))


def test_halved_weights_build_a_net_that_computes_in_float32(state: State) -> None:
    halved = unpack(pack(unpack(pack(state, HEADER)).halved(), HEADER))
    assert halved.state["stem.conv.weight"].dtype == torch.float16
    assert halved.state["stem.norm.num_batches_tracked"].dtype == torch.int64
    rebuilt = halved.build().state_dict()
    assert rebuilt["stem.conv.weight"].dtype == torch.float32
    assert all(torch.allclose(rebuilt[name], state[name], rtol=1e-3, atol=1e-6) for name in state)


def test_weights_too_large_for_float16_are_named(state: State) -> None:
    state["stem.norm.running_var"][0] = 7e4
    with pytest.raises(ConfigError, match=r"stem\.norm\.running_var has numbers too large"):
        unpack(pack(state, HEADER)).halved()


def with_header(section: str, **changes: object) -> Change:
    """Return a change of one section of the header."""
    return lambda arrays, header: header[section].update(changes)


def with_entry(**changes: object) -> Change:
    """Return a change of entries of the header."""
    return lambda arrays, header: header.update(changes)


def with_tensor(name: str, array: np.ndarray | None) -> Change:
    """Return a change of one tensor, None to leave it out."""
    return lambda arrays, _: arrays.pop(name) if array is None else arrays.update({name: array})


STEM = "stem.conv.weight"
SPIKING = {"kind": "spiking", "steps": 10**9}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (with_header("config", width=20_000), "net.width is 20000, expected a whole number from"),
        (with_header("config", width=4_000), "expected torch.float32 [4000"),
        (with_header("config", width=-4), "net.width is -4"),
        (with_header("config", depth=10**7), "net.depth is 10000000"),
        (with_header("config", depth=900), "no tensors for 900 blocks"),
        (with_header("config", depth=2), "blocks.1.first.conv.weight is missing, expected"),
        (with_header("config", depth=0), "expected missing"),
        (with_header("config", **SPIKING), "net.steps is 1000000000"),
        (with_header("config", decay="half"), "net.decay is 'half', expected a number from 0 to 1"),
        (with_header("config", kind=["resnet"]), "net.kind"),
        (with_header("config", surprise=1), "not a Rookery file"),
        (with_header("game", num_actions=10**6), "[1000000"),
        (with_header("game", num_actions=2**62), "no network has the sizes"),
        (with_header("game", num_actions=-1), "out of range"),
        (with_header("game", num_actions=9.5), "has no sizes"),
        (with_header("game", planes_shape=[2, 3]), "has no sizes"),
        (with_header("game", planes_shape=[2, 2**40, 2**40]), "no network has the sizes"),
        (with_header("game", planes_shape=[10**4000, 3, 3]), "no network has the sizes"),
        (with_header("game", name=5), "out of range"),
        (with_entry(step=-1), "step out of range"),
        (with_entry(step=10**30), "step out of range"),
        (with_entry(step=None), "step"),
        (with_entry(game=None), "not a Rookery file"),
        (with_entry(config=[]), "not a Rookery file"),
        (with_entry(game=[["name", "tictactoe"]]), "not a Rookery file"),
        (with_tensor(STEM, None), f"{STEM} is missing, expected torch.float32 [4, 2, 3, 3]"),
        (with_tensor("extra", np.zeros(3)), "extra is torch.float64 [3], expected missing"),
        (with_tensor(STEM, np.zeros((4, 2, 3), np.float32)), f"{STEM} is torch.float32 [4, 2, 3],"),
        (with_tensor(STEM, np.zeros((4, 2, 3, 3))), f"{STEM} is torch.float64"),
        (with_tensor(STEM, np.zeros((4, 2, 3, 3), np.int64)), f"{STEM} is torch.int64"),
        (with_tensor(STEM, np.full((4, 2, 3, 3), np.nan, np.float32)), "not finite"),
        (with_tensor(STEM, np.full((4, 2, 3, 3), -np.inf, np.float16)), "not finite"),
        (with_tensor("policy.cells", np.zeros(9)), "no cells"),
        (with_tensor("policy.cells", np.arange(9) - 1), "no cells"),
        (with_tensor("policy.cells", np.full(9, 2**62)), "policy.conv.bias is"),
        (with_tensor("policy.cells", np.zeros(0, np.int64)), "no network has"),
    ],
)
def test_wrong_content_with_a_valid_checksum_is_refused(
    state: State, tmp_path: Path, change: Change, found: str
) -> None:
    path = tmp_path / "net.safetensors"
    path.write_bytes(recrafted(pack(state, HEADER), change))
    with pytest.raises(FileDamaged) as caught, at_most_allocated(2_000_000):
        load(path)
    message = str(caught.value)
    assert str(path) in message and found in message and "restore it from a copy" in message
    assert "\n" not in message


@pytest.mark.parametrize("entry", [{"format": "x"}, {"format": None}, {"fingerprint": 5}])
def test_a_header_without_a_format_is_read_as_the_present_one(
    state: State, entry: dict[str, object]
) -> None:
    assert unpack(recrafted(pack(state, HEADER), with_entry(**entry))).header == HEADER


@pytest.mark.parametrize(
    "header", ["[]", "5", "null", NESTED, '{"sha256": "\\ud800"}', '{"a": ' + "9" * 5000 + "}"]
)
def test_a_header_of_another_form_is_refused(header: str) -> None:
    with pytest.raises(FileDamaged, match="not a Rookery file"):
        unpack(signed({"a": np.zeros(3)}, header))


def test_damaged_weights_are_not_told_to_stay_in_float32(state: State) -> None:
    state["stem.norm.running_var"][0] = float("nan")
    with pytest.raises(FileDamaged, match=r"stem\.norm\.running_var has numbers that are not fin"):
        unpack(pack(state, HEADER)).halved()


def test_a_huge_file_is_refused_by_its_header_alone(state: State, tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    for size in (8 + 2**40, 2**40):
        path.write_bytes(pack(state, HEADER) if size == 2**40 else (2**40).to_bytes(8, "little"))
        os.truncate(path, size)
        with pytest.raises(FileDamaged, match="truncated, altered"), at_most_allocated(2_000_000):
            load(path)


def test_an_ensemble_is_one_file_whose_networks_draw_the_policy_alike() -> None:
    cells = torch.arange(18)
    config = NetConfig(width=4, depth=1, members=2)
    net = build_net(config, (2, 3, 3), 18, policy_cells=cells, seed=3)
    header = WeightsHeader(GameSpec("toy", 1, (2, 3, 3), 18), config, 0)
    state = dict(net.state_dict())
    assert not torch.equal(*(state[f"members.{n}.stem.conv.weight"] for n in range(2)))
    built = unpack(pack(state, header)).build()
    boards = torch.rand(3, 2, 3, 3)
    for found, expected in zip(built.eval()(boards), net.eval()(boards), strict=True):
        torch.testing.assert_close(found, expected)
    state["members.1.policy.cells"] = cells.flip(0)
    with pytest.raises(FileDamaged, match="other cells than the first network"):
        unpack(pack(state, header))
