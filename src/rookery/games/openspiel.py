"""Games of OpenSpiel: `openspiel:breakthrough(rows=6,columns=6)`.

A position is stored as the moves that led to it, as OpenSpiel itself stores states. The compiled
functions ask OpenSpiel for the rest (`openspiel_calls`), on the CPU only.

In Rookery the players alternate. Where OpenSpiel lets a player move again, the opponent passes:
the last action, legal only there. Planes are OpenSpiel's observation of the player to move, a
plane of ones if that is the second player, and one if that player must pass.
"""

import re
from collections import Counter
from functools import lru_cache
from types import ModuleType
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from rookery.base import IllegalPosition, Index, compiled
from rookery.games import openspiel_calls as calls
from rookery.games.game import DRAW, ONGOING, State
from rookery.games.openspiel_games import MAX_LEGAL, find_game

OVER, PLAY, LEGAL, PLANES = calls.OVER, calls.PLAY, calls.LEGAL, calls.PLANES
EXTRA_PLANES = 2
PASS = "pass"
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def variant(option: str) -> ModuleType:
    """Return the rules of the game of OpenSpiel that `option` names, with its parameters."""
    game = find_game(option)
    number, states = calls.register(game)
    name = str(game).removesuffix("()")
    num_actions, shape = game.num_distinct_actions() + 1, _planes_shape(game)
    module = ModuleType(f"{__name__}.{name}", __doc__)
    vars(module).update(
        _functions(number, states, shape),
        **_texts(states, module),
        __file__=__file__,
        NAME=f"openspiel:{name}",
        VERSION=1,
        STATE=_record(game.max_game_length()),
        NUM_ACTIONS=num_actions,
        MAX_LEGAL=min(num_actions, MAX_LEGAL),
        MAX_PLIES=2 * game.max_game_length(),
        PLANES=shape,
        SYMMETRIES=((range(shape[1] * shape[2]), range(num_actions)),),
    )
    return module


def _record(longest: int) -> np.dtype[np.void]:
    """Return the record of a position; `status` is explained at `calls.OVER`."""
    return np.dtype(
        [
            ("actions", calls.MOVE, (longest,)),  # unused ones are 0
            ("length", np.uint16),
            ("mover", np.uint8),  # the player to move: OpenSpiel's 0 or 1
            ("status", np.uint8),
        ]
    )


def _planes_shape(game: Any) -> tuple[int, int, int]:
    """Return (planes, height, width); a list of numbers is as many planes of one cell."""
    shape = game.observation_tensor_shape()
    if len(shape) == 1:
        return shape[0] + EXTRA_PLANES, 1, 1
    height = shape[-2] if len(shape) > 2 else 1
    return int(np.prod(shape)) // (height * shape[-1]) + EXTRA_PLANES, height, shape[-1]


def _functions(
    number: int, states: calls.SpielStates, shape: tuple[int, int, int]
) -> dict[str, object]:
    """Return the compiled functions of the rules."""
    spiel = calls if numba.config.DISABLE_JIT else calls.compiled_calls()
    first = states.first.current_player()
    longest, passing = states.game.max_game_length(), states.game.num_distinct_actions()
    num_planes, height, width = shape

    @compiled
    def start(state: State) -> None:
        state.actions[:] = 0
        state.length = 0
        state.mover = first
        state.status = first

    @compiled
    def legal(state: State, out: NDArray[Any]) -> Index:
        if state.status != state.mover:
            out[0] = passing
            return 1
        actions = np.zeros(MAX_LEGAL, np.int32)
        length = min(state.length, longest)
        moves, out_actions = state.actions.ctypes.data, actions.ctypes.data
        count: int = spiel.answer(LEGAL, number, moves, length, 0, out_actions)
        for i in range(count):
            out[i] = actions[i]
        return count

    @compiled
    def play(state: State, action: Index) -> None:
        state.mover = 1 - state.mover
        if action == passing:
            return
        if state.length >= longest:
            state.status = OVER + DRAW
            return
        moves = state.actions.ctypes.data
        state.status = spiel.answer(PLAY, number, moves, state.length, action, 0)
        state.actions[state.length] = action
        state.length += 1

    @compiled
    def outcome(state: State) -> Index:
        if state.status < 2:
            return ONGOING
        result = np.int64(state.status) - OVER
        return result if state.mover == 0 else -result

    @compiled
    def planes(state: State, out: NDArray[np.float32]) -> None:
        seen = np.zeros((num_planes, height, width), np.float32)
        length, player = min(state.length, longest), state.mover
        moves = state.actions.ctypes.data
        spiel.answer(PLANES, number, moves, length, player, seen.ctypes.data)
        seen[num_planes - 2] = state.mover != first
        seen[num_planes - 1] = state.status == 1 - state.mover
        out[:] = seen

    return {
        "start": start,
        "legal": legal,
        "play": play,
        "outcome": outcome,
        "planes": planes,
    }


def _texts(states: calls.SpielStates, rules: ModuleType) -> dict[str, object]:
    """Return the functions that read and write text."""
    passing: int = states.game.num_distinct_actions()

    def moves_of(state: State) -> bytes:
        played: bytes = state.actions[: int(state.length)].tobytes()
        return played

    @lru_cache(maxsize=1)
    def names(moves: bytes) -> dict[int, str]:
        """Return the legal moves as OpenSpiel writes them, without spaces."""
        found = states.after(moves)
        texts = {
            action: "_".join(found.action_to_string(found.current_player(), action).split())
            for action in states.legal(moves)
        }
        times = Counter(texts.values())
        return {
            action: text if times[text] == 1 else f"{text}#{action}"
            for action, text in texts.items()
        }

    def must_pass(state: State) -> bool:
        return bool(state.status == 1 - state.mover)

    def show(state: State) -> str:
        return _ANSI.sub("", str(states.after(moves_of(state)))).rstrip("\n")

    def read_move(state: State, text: str) -> int:
        if state.status > 1:
            raise IllegalPosition(f"{text!r} cannot be played: the game is over")
        if must_pass(state):
            if text != PASS:
                raise IllegalPosition(f"the opponent moves again: expected {PASS}, got {text!r}")
            return passing
        known = names(moves_of(state))
        for action, name in known.items():
            if name == text:
                return action
        if text.isdecimal() and int(text[:9]) in known:
            return int(text[:9])
        example = next(iter(known.values()))
        raise IllegalPosition(f"{text!r} is not a legal move; expected one such as {example}")

    def write_move(state: State, action: int) -> str:
        if action == passing:
            return PASS
        return names(moves_of(state)).get(action, str(action))

    def read_position(state: State, text: str) -> None:
        """Read moves with spaces in between; passes in between may be left out."""
        for word in text.split():
            if must_pass(state) and word != PASS:
                rules.play(state, passing)
            rules.play(state, read_move(state, word))

    def write_position(state: State) -> str:
        replayed, words = np.zeros(1, np.dtype((np.record, rules.STATE)))[0], []
        rules.start(replayed)
        for action in state.actions[: int(state.length)].tolist():
            if must_pass(replayed):
                rules.play(replayed, passing)
            words.append(write_move(replayed, action))
            rules.play(replayed, action)
        has_passed = replayed.mover != state.mover
        return " ".join([*words, PASS] if has_passed else words)

    def turn(state: State) -> int:
        return int(state.mover != states.first.current_player())

    functions = (show, read_move, write_move, read_position, write_position, turn)
    return {function.__name__: function for function in functions}
