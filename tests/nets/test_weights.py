"""Weights as files: round trips, damage, and files for another game."""

import json
from pathlib import Path

import pytest
import safetensors
import safetensors.torch
import torch

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
