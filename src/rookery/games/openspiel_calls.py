"""Calls from compiled rules to OpenSpiel.

OpenSpiel is a Python module. Compiled code calls it through C functions of ctypes, which take the
interpreter lock and may run on any thread. They are symbols of LLVM and not addresses, so that
Numba can cache what calls them. A position comes as its game and moves; the states of OpenSpiel
for recent positions are kept, and others are replayed.

The symbols outlive this module's functions: it is imported once and never again.
"""

import array
import ctypes
import hashlib
import logging
import threading
from collections.abc import Callable
from typing import Any

import llvmlite.binding
import numba
import numpy as np

from rookery.base import namespace
from rookery.games.openspiel_games import MAX_LEGAL

KEPT_STATES = 16_384
"""States per game that are kept; then all are dropped."""
MOVE = np.dtype(np.uint16)
OVER = 4
"""The status of a position is its player, 0 or 1, or at the end OVER + the result for player 0."""
RETRY_SECONDS = 0.01
_Integer = ctypes.c_int64
_log = logging.getLogger(__name__)


class SpielStates:
    """The states of one game, by the moves that lead to them."""

    def __init__(self, game: Any) -> None:
        self.game = game
        self.first = game.new_initial_state()
        self._states: dict[bytes, Any] = {}
        self._has_warned = False

    def after(self, moves: bytes) -> Any:
        """Return the state after `moves`; the caller must not change it."""
        found = self._states.get(moves)
        if found is None:
            found = self._replay(moves)
            if len(self._states) >= KEPT_STATES:
                self._states.clear()
            self._states[moves] = found
        return found

    def _replay(self, moves: bytes) -> Any:
        """Return a new state after `moves`, up to the first illegal one: files may be damaged."""
        before = self._states.get(moves[: -MOVE.itemsize])
        state = (self.first if before is None else before).clone()
        rest = moves if before is None else moves[-MOVE.itemsize :]
        for action in np.frombuffer(rest, MOVE).tolist():
            if action not in state.legal_actions():
                break
            state.apply_action(action)
        return state

    def legal(self, moves: bytes) -> list[int]:
        """Return the legal actions after `moves`, MAX_LEGAL at most."""
        actions: list[int] = self.after(moves).legal_actions()
        if len(actions) > MAX_LEGAL and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "note: openspiel:%s has a position with %d legal moves; only the first %d are used",
                self.game,
                len(actions),
                MAX_LEGAL,
            )
        return actions[:MAX_LEGAL]


_games: dict[int, SpielStates] = {}


def register(game: Any) -> tuple[int, SpielStates]:
    """Return the number by which compiled code knows `game`, and its states."""
    digest = hashlib.sha256(str(game).encode()).digest()
    number = int.from_bytes(digest[:7], "little")
    return number, _games.setdefault(number, SpielStates(game))


def play(game: int, address: int, length: int, action: int) -> int:
    """Return the status after the moves at `address` and `action`."""
    state = _games[game].after(_moves(address, length) + MOVE.type(action).tobytes())
    if not state.is_terminal():
        return int(state.current_player())
    return OVER + int(np.sign(state.returns()[0]))


def legal(game: int, address: int, length: int, out: int) -> int:
    """Write the legal actions to the int32 numbers at `out`; return how many there are."""
    actions = array.array("i", _games[game].legal(_moves(address, length)))
    ctypes.memmove(out, actions.buffer_info()[0], len(actions) * actions.itemsize)
    return len(actions)


def planes(game: int, address: int, length: int, player: int, out: int) -> int:
    """Write what `player` observes to the float32 numbers at `out`; return how many they are."""
    state = _games[game].after(_moves(address, length))
    numbers = array.array("f", state.observation_tensor(player))
    ctypes.memmove(out, numbers.buffer_info()[0], len(numbers) * numbers.itemsize)
    return len(numbers)


def _moves(address: int, length: int) -> bytes:
    return ctypes.string_at(address, length * MOVE.itemsize)


def _guarded(function: Callable[..., int]) -> Callable[..., int]:
    """Return `function` for ctypes, which drops exceptions.

    Signal handlers raise in any Python code of the main thread, such as KeyboardInterrupt. The
    function is called again, and the exception is raised a moment later, outside if possible.
    An exception that arrives in the few instructions around the call is lost: the next Ctrl-C ends
    the run.
    """

    def call(*arguments: int) -> int:
        try:
            return function(*arguments)
        except BaseException as error:
            threading.Timer(RETRY_SECONDS, _interrupt, [type(error)]).start()
        return function(*arguments)

    return call


def _interrupt(kind: type[BaseException]) -> None:
    """Raise an exception in the main thread."""
    main = ctypes.c_ulong(threading.main_thread().ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(kind))


def _symbol(function: Callable[..., int], num_arguments: int) -> Any:
    """Return `function` for compiled code: all of its arguments are 64-bit integers."""
    callback = ctypes.CFUNCTYPE(_Integer, *[_Integer] * num_arguments)(_guarded(function))
    _callbacks.append(callback)
    name = f"rookery_openspiel_{function.__name__}"
    llvmlite.binding.add_symbol(name, ctypes.cast(callback, ctypes.c_void_p).value)
    integer = numba.types.int64
    return numba.types.ExternalFunction(name, integer(*[integer] * num_arguments))


_callbacks: list[Any] = []
"""ctypes frees functions that nothing refers to."""
COMPILED = namespace(
    "openspiel.calls",
    {"play": _symbol(play, 4), "legal": _symbol(legal, 4), "planes": _symbol(planes, 5)},
)
"""`play`, `legal` and `planes` for compiled code."""
