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
from functools import cache
from types import ModuleType
from typing import Any

import llvmlite.binding
import numba
import numpy as np

from rookery.base import Index, compiled, namespace
from rookery.games.openspiel_games import MAX_LEGAL

KEPT_STATES = 16_384
"""States per game that are kept; then all are dropped."""
MOVE = np.dtype(np.uint16)
OVER = 4
"""The status of a position is its player, 0 or 1, or at the end OVER + the result for player 0."""
PLAY, LEGAL, PLANES = range(3)
"""The questions of compiled code."""
UNANSWERED = -1
"""No answer has come; less by 1 for every call in vain."""
MAX_ATTEMPTS = 100
"""Calls in vain after which the answer is 0."""
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


def answer(
    question: Index, game: Index, address: Index, length: Index, number: Index, out: Index
) -> int:
    """Answer `question` about the position after the moves at `address`.

    PLAY: the status after the action `number` is played. LEGAL: how many actions are legal; they
    are written to the int32 numbers at `out`. PLANES: how many numbers the player `number`
    observes; they are written to the float32 numbers at `out`.
    """
    states, moves = _games[int(game)], ctypes.string_at(int(address), int(length) * MOVE.itemsize)
    if question == PLAY:
        return _status(states.after(moves + MOVE.type(number).tobytes()))
    if question == LEGAL:
        return _write(array.array("i", states.legal(moves)), int(out))
    return _write(array.array("f", states.after(moves).observation_tensor(int(number))), int(out))


def _status(state: Any) -> int:
    if not state.is_terminal():
        return int(state.current_player())
    return OVER + int(np.sign(state.returns()[0]))


def _write(numbers: "array.array[Any]", out: int) -> int:
    ctypes.memmove(out, numbers.buffer_info()[0], len(numbers) * numbers.itemsize)
    return len(numbers)


def _answer_into(*arguments: int) -> None:
    """Write the answer to the memory at the last argument; called by compiled code.

    ctypes drops exceptions and then returns any number, so compiled code calls again until there
    is an answer. Signal handlers raise in any Python code of the main thread, even before the
    first line here: such an exception is raised again a moment later, outside if possible.
    """
    found = _Integer.from_address(arguments[-1])
    num_lost = UNANSWERED - found.value
    try:
        if num_lost > 0:
            _raise_later(KeyboardInterrupt)
        found.value = answer(*arguments[:-1]) if num_lost < MAX_ATTEMPTS else 0
    except BaseException as error:
        _raise_later(type(error))


def _raise_later(kind: type[BaseException]) -> None:
    threading.Timer(RETRY_SECONDS, _interrupt, [kind]).start()


def _interrupt(kind: type[BaseException]) -> None:
    """Raise an exception in the main thread."""
    main = ctypes.c_ulong(threading.main_thread().ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(kind))


_callback = ctypes.CFUNCTYPE(None, *[_Integer] * 7)(_answer_into)
_SYMBOL = "rookery_openspiel_answer"
llvmlite.binding.add_symbol(_SYMBOL, ctypes.cast(_callback, ctypes.c_void_p).value)
_call: Any = numba.types.ExternalFunction(_SYMBOL, numba.void(*[numba.int64] * 7))


@cache
def compiled_calls() -> ModuleType:
    """Return a module whose `answer` compiled code can call."""

    @compiled
    def answer_surely(
        question: Index, game: Index, address: Index, length: Index, number: Index, out: Index
    ) -> Index:
        found = np.full(1, UNANSWERED, np.int64)
        while True:
            _call(question, game, address, length, number, out, found.ctypes.data)
            if found[0] > UNANSWERED:
                answered: Index = found[0]
                return answered
            found[0] -= 1

    return namespace("openspiel.calls", {"answer": answer_surely})
