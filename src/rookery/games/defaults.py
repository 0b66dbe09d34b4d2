"""What a rules module need not define: tables with an obvious value, and a plain notation."""

from types import ModuleType

import numpy as np

from rookery.base import IllegalPosition
from rookery.games.game import ONGOING, Action, State


def fill_defaults(module: ModuleType) -> None:
    """Add the names that a rules module may omit, as far as the others tell them."""
    names = vars(module)
    names.setdefault("VERSION", 1)
    if "NUM_ACTIONS" in names:
        names.setdefault("MAX_LEGAL", names["NUM_ACTIONS"])
        if "PLANES" in names and "SYMMETRIES" not in names:
            cells = np.arange(np.prod(names["PLANES"][1:]))
            names["SYMMETRIES"] = ((cells, np.arange(names["NUM_ACTIONS"])),)
        if "write_move" not in names:
            _number_moves(module)
    names.setdefault("show", _show_fields)
    if "write_move" in names and "read_move" not in names:
        _read_what_is_written(module)


def _show_fields(state: State) -> str:
    """Return one line per field of a state."""
    return "\n".join(f"{name} {state[name]}" for name in state.dtype.names)


def _number_moves(module: ModuleType) -> None:
    """Write an action as its number, with as many digits as the largest has."""
    digits = len(str(module.NUM_ACTIONS - 1))

    def write_move(state: State, action: Action) -> str:
        return f"{action:0{digits}}"

    def read_position(state: State, text: str) -> None:
        module.start(state)
        for at in range(0, len(text), digits):
            module.play(state, module.read_move(state, text[at : at + digits]))

    vars(module).setdefault("read_position", read_position)
    vars(module)["write_move"] = write_move


def _read_what_is_written(module: ModuleType) -> None:
    """Read a move as the legal action that `write_move` writes in this way."""

    def read_move(state: State, text: str) -> Action:
        out = np.zeros(module.MAX_LEGAL, np.int32)
        count = module.legal(state, out) if module.outcome(state) == ONGOING else 0
        moves: dict[str, Action] = {
            module.write_move(state, action): action for action in out[:count].tolist()
        }
        if text not in moves:
            known = ", ".join(sorted(moves)) or "none, the game is over"
            raise IllegalPosition(f"{text!r} is not a legal move; expected one of {known}")
        return moves[text]

    vars(module)["read_move"] = read_move
