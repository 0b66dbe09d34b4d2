"""Weights as bytes: a signed safetensors file (see `base.files`) that any tool opens.

Its header says: format, game, network settings, step, and fingerprint, a name for the tensors'
content.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from rookery.base import (
    ConfigError,
    RookeryError,
    check_digest,
    damaged,
    fingerprint,
    read_file,
    sign,
    unsigned,
    write_atomic,
)
from rookery.nets.build import NetConfig, PlanesShape, build_net

FORMAT = 1
POLICY_CELLS = "policy.cells"
"""The tensor that says where a net draws its policy on the board, if it does."""
_ENTRY = "rookery"


@dataclass(frozen=True)
class GameSpec:
    """What a net knows of the game it plays."""

    name: str
    version: int
    planes_shape: PlanesShape
    num_actions: int


@dataclass(frozen=True)
class WeightsHeader:
    """What is written beside the tensors."""

    game: GameSpec
    config: NetConfig
    step: int
    """Learning steps made so far."""


@dataclass(frozen=True)
class Weights:
    """A net's tensors, by name, and where they come from."""

    header: WeightsHeader
    state: Mapping[str, Tensor]
    fingerprint: str
    """A short name for the content of `state`."""

    def check(self, game: GameSpec) -> None:
        """ConfigError if they were not trained for `game`."""
        _check_game(self.header.game, game)

    def build(self) -> nn.Module:
        """The net these weights belong to."""
        game = self.header.game
        net = build_net(
            self.header.config,
            game.planes_shape,
            game.num_actions,
            policy_cells=self.state.get(POLICY_CELLS),
        )
        net.load_state_dict(dict(self.state))
        return net

    def halved(self) -> dict[str, Tensor]:
        """`state` with float32 tensors as float16; ConfigError if a number is too large for that.

        Such a state is packed, loaded and built like any other, and the net computes in float32.
        """
        halves = dict(self.state)
        for name, tensor in halves.items():
            halves[name] = tensor.half() if tensor.dtype == torch.float32 else tensor
            if not halves[name].isfinite().all():
                raise ConfigError(f"{name} has numbers too large for float16; keep float32")
        return halves


def pack(state: Mapping[str, Tensor], header: WeightsHeader) -> bytes:
    """The file of a net's `state_dict`; equal weights give equal bytes."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    entry = {
        "format": FORMAT,
        **asdict(header),
        "fingerprint": fingerprint(safetensors.torch.save(tensors)),
    }
    return sign(safetensors.torch.save(tensors, {_ENTRY: json.dumps(unsigned(entry))}))


def unpack(payload: bytes, game: GameSpec | None = None, *, source: str = "weights") -> Weights:
    """The weights in `payload`, refused if damaged, newer, or not trained for `game`.

    `source` is what messages call the payload, such as its path.
    """
    entry = check_digest(payload, source)
    if entry["format"] > FORMAT:
        raise RookeryError(
            f"{source} has format {entry['format']}, expected {FORMAT} or older; upgrade Rookery"
        )
    header = _read_header(entry, source)
    if game is not None:
        _check_game(header.game, game)
    try:
        state = safetensors.torch.load(payload)
    except SafetensorError as error:
        raise damaged(source) from error
    return Weights(header, state, entry["fingerprint"])


def save(path: Path, state: Mapping[str, Tensor], *, header: WeightsHeader) -> None:
    """Write `pack(state, header)` to `path`, whole or not at all."""
    write_atomic(path, pack(state, header))


def load(path: Path, game: GameSpec | None = None) -> Weights:
    """The weights in the file at `path`; see `unpack`."""
    return unpack(read_file(path), game, source=str(path))


def _read_header(entry: dict[str, Any], source: str) -> WeightsHeader:
    try:
        game = dict(entry["game"], planes_shape=tuple(entry["game"]["planes_shape"]))
        return WeightsHeader(GameSpec(**game), NetConfig(**entry["config"]), entry["step"])
    except (LookupError, TypeError, ValueError) as error:
        raise damaged(source) from error


def _check_game(found: GameSpec, expected: GameSpec) -> None:
    if found.num_actions != expected.num_actions:
        raise ConfigError(
            f"{expected.name} has {expected.num_actions} actions, got {found.num_actions}; "
            f"was this net trained for {found.name}?"
        )
    if found.name != expected.name or found.planes_shape != expected.planes_shape:
        raise ConfigError(
            f"{expected.name} has planes {expected.planes_shape}, got a net for {found.name} "
            f"with planes {found.planes_shape}; choose a net trained for {expected.name}"
        )
    if found.version != expected.version:
        raise ConfigError(
            f"{expected.name} is at version {expected.version} of its rules, got a net for "
            f"version {found.version}; train it again, or play with the Rookery that made it"
        )
