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
    MALFORMED,
    ConfigError,
    RookeryError,
    UnknownName,
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
        net = _build(self.header, _policy_cells(self.state))
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
    version = entry.get("format")
    if isinstance(version, int) and version > FORMAT:
        raise RookeryError(
            f"{source} has format {version}, expected {FORMAT} or older; upgrade Rookery"
        )
    header = _read_header(entry, source)
    if game is not None:
        _check_game(header.game, game)
    try:
        state = safetensors.torch.load(payload)
    except (SafetensorError, *MALFORMED) as error:
        raise damaged(source) from error
    _check_state(header, state, source)
    return Weights(header, state, str(entry.get("fingerprint")))


def save(path: Path, state: Mapping[str, Tensor], *, header: WeightsHeader) -> None:
    """Write `pack(state, header)` to `path`, whole or not at all."""
    write_atomic(path, pack(state, header))


def load(path: Path, game: GameSpec | None = None) -> Weights:
    """The weights in the file at `path`; see `unpack`."""
    return unpack(read_file(path), game, source=str(path))


def _read_header(entry: dict[str, Any], source: str) -> WeightsHeader:
    try:
        game = dict(entry["game"], planes_shape=tuple(entry["game"]["planes_shape"]))
        header = WeightsHeader(GameSpec(**game), NetConfig(**entry["config"]), entry["step"])
    except ConfigError as error:
        if isinstance(error, UnknownName) and isinstance(entry["config"]["kind"], str):
            raise ConfigError(f"{source}: {error}") from error  # the user's own, not imported
        raise damaged(source, str(error)) from error
    except MALFORMED as error:
        raise damaged(source) from error
    spec = header.game
    sizes = (*spec.planes_shape, spec.num_actions)
    counts = (*sizes, spec.version, header.step)
    if len(sizes) != 4 or not all(type(each) is int for each in counts):
        raise damaged(source, "its header has no sizes, version or step")
    if min(sizes) < 1 or not 0 <= header.step < 2**63 or not isinstance(spec.name, str):
        raise damaged(source, "its header has a name, size or step out of range")
    return header


def _check_state(header: WeightsHeader, state: Mapping[str, Tensor], source: str) -> None:
    """Raise FileDamaged unless these are the tensors of the network in the header."""
    if header.config.depth > len(state):
        raise damaged(source, f"it has no tensors for {header.config.depth} blocks")
    cells = _policy_cells(state)
    if cells is not None and (cells.dtype != torch.int64 or not cells.ge(0).all()):
        raise damaged(source, f"{POLICY_CELLS} has entries that are no cells")
    try:
        with torch.device("meta"):  # which allocates nothing, however large the network
            net = _build(header, cells)
    except (RuntimeError, *MALFORMED) as error:
        raise damaged(source, "no network has the sizes in its header") from error
    expected = net.state_dict()
    for name in sorted(expected.keys() | state.keys()):
        found, wanted = _kind(state.get(name)), _kind(expected.get(name))
        if found not in (wanted, wanted.replace("float32", "float16")):
            raise damaged(source, f"{name} is {found}, expected {wanted}")
        if not state[name].isfinite().all():
            raise damaged(source, f"{name} has numbers that are not finite")
        if cells is not None and name.endswith(POLICY_CELLS) and not state[name].equal(cells):
            raise damaged(source, f"{name} has other cells than the first network")


def _policy_cells(state: Mapping[str, Tensor]) -> Tensor | None:
    """Return where the policy is drawn; all networks of an ensemble draw it there."""
    return state.get(POLICY_CELLS, state.get(f"members.0.{POLICY_CELLS}"))


def _kind(tensor: Tensor | None) -> str:
    return "missing" if tensor is None else f"{tensor.dtype} {list(tensor.shape)}"


def _build(header: WeightsHeader, policy_cells: Tensor | None) -> nn.Module:
    game = header.game
    return build_net(header.config, game.planes_shape, game.num_actions, policy_cells=policy_cells)


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
