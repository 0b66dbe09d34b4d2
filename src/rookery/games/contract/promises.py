"""The promises of a rules module, one function each: a line of praise, or Broken, or Doubt."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.base import IllegalPosition
from rookery.games.contract.interpreted import check_compiled
from rookery.games.contract.repetition import check_repetitions
from rookery.games.contract.trial import (
    Broken,
    Doubt,
    Trial,
    legal_moves,
    planes_of,
    require,
    where,
)
from rookery.games.game import DRAW, LOSS, ONGOING, WIN, Action, Game, State

MOST_ACTIONS = np.iinfo(np.int16).max  # game records keep actions as int16
NONSENSE = ("", "?!", "9999999999")


def check_tables(game: Game) -> str:
    """A state is a flat record, and sizes make sense."""
    dtype = game.state_dtype
    fields = dtype.fields
    require(fields, "STATE has no fields: write np.dtype([('name', np.uint64), ...])")
    assert fields is not None
    require(not dtype.hasobject, "STATE holds Python objects: use numbers and fixed arrays only")
    used = sum(field[0].itemsize for field in fields.values())
    require(
        used == dtype.itemsize,
        f"STATE is {dtype.itemsize} bytes for {used} of fields: padding makes equal states differ"
        " byte by byte; leave out align=True",
    )
    for name in fields:
        require(
            not hasattr(np.record, name) and not name.startswith("_"),
            f"STATE's field {name!r} hides an attribute of numpy's records: rename it",
        )
    require(
        1 <= game.max_legal <= game.num_actions <= MOST_ACTIONS,
        f"MAX_LEGAL is {game.max_legal} and NUM_ACTIONS {game.num_actions}: expected"
        f" 1 <= MAX_LEGAL <= NUM_ACTIONS <= {MOST_ACTIONS}",
    )
    require(game.max_plies >= 1, f"MAX_PLIES is {game.max_plies}: expected at least 1")
    require(
        len(game.planes_shape) == 3 and min(game.planes_shape) >= 1,
        f"PLANES is {game.planes_shape}: expected (planes, height, width)",
    )
    _check_policy_cells(game)
    return f"a state is {dtype.itemsize} bytes, {game.num_actions} actions"


def _check_policy_cells(game: Game) -> None:
    """Where a net draws its policy, every action has a cell of its own."""
    cells = game.policy_cells
    if cells is None:
        return
    require(
        cells.shape == (game.num_actions,) and np.issubdtype(cells.dtype, np.integer),
        f"POLICY_CELLS is {cells.dtype} {list(cells.shape)}: expected a whole number for each of"
        f" the {game.num_actions} actions",
    )
    most = game.num_actions * int(np.prod(game.planes_shape[1:]))
    require(cells.max() < most, f"POLICY_CELLS goes up to {cells.max()}: expected less than {most}")
    require(
        cells.min() >= 0 and len(np.unique(cells)) == len(cells),
        "POLICY_CELLS gives two actions one cell, or one below 0: expected"
        " plane * height * width + cell, another one for every action",
    )


def check_start(trial: Trial) -> str:
    """Whatever the record held, start makes it the first position."""
    fresh = trial.game.new_states(1)[0]
    for _ in range(10):
        states = trial.game.blank_states(1)
        states.view(np.uint8)[:] = trial.stream.integers(0, 256, states.nbytes, dtype=np.uint8)
        trial.game.rules.start(states[0])
        require(
            states[0].tobytes() == fresh.tobytes(),
            "start leaves something of the state it is given: set every field, every cell",
        )
    outcome = trial.game.rules.outcome(fresh)
    require(outcome == ONGOING, f"the first position has outcome {outcome}, expected ONGOING")
    return "start sets every field"


def check_legality(trial: Trial) -> str:
    """While the game goes on there are moves: distinct, in range, not too many."""
    most = 0
    for state, line in trial.positions():
        if trial.game.rules.outcome(state) != ONGOING:
            continue
        actions = legal_moves(trial.game, trial.game.rules, state)
        most = max(most, len(actions))
        require(
            actions, f"no legal move {where(line)}, yet outcome says ONGOING: end the game there"
        )
        require(
            min(actions) >= 0 and max(actions) < trial.game.num_actions,
            f"legal gives {actions} {where(line)}: actions go from 0 to NUM_ACTIONS - 1,"
            f" {trial.game.num_actions - 1}",
        )
        require(
            len(actions) == len(set(actions)),
            f"legal gives {actions} {where(line)}: write each action once",
        )
    return f"at most {most} legal moves seen, MAX_LEGAL is {trial.game.max_legal}"


def check_ends(trial: Trial) -> str:
    """Every game ends within MAX_PLIES."""
    for state, line in trial.positions():
        outcome = trial.game.rules.outcome(state)
        require(
            outcome in (WIN, DRAW, LOSS, ONGOING),
            f"outcome is {outcome} {where(line)}: expected WIN, DRAW, LOSS or ONGOING",
        )
        require(
            outcome != ONGOING or len(line) < trial.game.max_plies,
            f"a game still goes on {where(line)}; MAX_PLIES is {trial.game.max_plies}: raise it,"
            " or end the game as its rules say",
        )
    longest = max(map(len, trial.lines))
    return f"the longest game had {longest} plies, MAX_PLIES is {trial.game.max_plies}"


def check_perspective(trial: Trial) -> str:
    """Planes belong to the player to move: a ply swaps them, two plies hardly change them."""
    wins = losses = 0
    one_ply = two_plies = 0.0
    history: list[NDArray[Any]] = []
    for state, line in trial.positions():
        history = history[-2:] if line else []
        history.append(planes_of(trial.game, trial.game.rules, state))
        if len(history) == 3:
            one_ply += float(np.abs(history[2] - history[1]).sum())
            two_plies += float(np.abs(history[2] - history[0]).sum())
        outcome = trial.game.rules.outcome(state)
        wins, losses = wins + (outcome == WIN), losses + (outcome == LOSS)
    if one_ply < 0.6 * two_plies:
        raise Doubt(
            "planes look as if they were drawn for one fixed player: put the stones of the player"
            " to move first, whoever that is (a game without sides, as Nim, may ignore this)"
        )
    if wins > losses:
        raise Doubt(
            f"{wins} games ended in WIN and {losses} in LOSS for the player to move after the last"
            " move: in most games whoever moves last wins, so that outcome is LOSS"
        )
    return f"{losses} games lost and {wins} won for the player to move at the end"


def check_planes(trial: Trial) -> str:
    """Every cell is written, with numbers, and the state is only read."""
    for state, line in trial.positions():
        before = state.tobytes()
        first = planes_of(trial.game, trial.game.rules, state, garbage=77.5)
        second = planes_of(trial.game, trial.game.rules, state, garbage=-3.25)
        require(
            np.isfinite(first).all(),
            f"planes writes infinity or no number {where(line)}: keep values near 0 to 1",
        )
        require(
            np.array_equal(first, second),
            f"planes leaves cells unwritten {where(line)}: write every cell, zeros too",
        )
        require(state.tobytes() == before, f"planes changes the state {where(line)}: only read it")
    return f"all of {trial.game.planes_shape} written in every position"


def check_symmetries(trial: Trial) -> str:
    """Tables are permutations, and a game played through one is the same game."""
    game = trial.game
    _check_permutations("cells", game.cell_symmetries, game.planes_shape[1] * game.planes_shape[2])
    _check_permutations("actions", game.action_symmetries, game.num_actions)
    for index in range(1, len(game.action_symmetries)):
        for line in trial.lines:
            _check_image(game, line, index)
    return f"{len(game.action_symmetries)} symmetries, the identity included"


def _check_permutations(kind: str, table: NDArray[np.int32], size: int) -> None:
    require(
        table.ndim == 2 and table.shape[1] == size,
        f"SYMMETRIES: a table of {kind} has shape {table.shape[1:]}, expected ({size},)",
    )
    for index, row in enumerate(table):
        require(
            sorted(row.tolist()) == list(range(size)),
            f"SYMMETRIES[{index}]: its {kind} are no permutation of 0 to {size - 1}",
        )
    require(
        table[0].tolist() == list(range(size)),
        f"SYMMETRIES[0] must be the identity; its {kind} are {table[0].tolist()}",
    )


def _check_image(game: Game, line: list[Action], index: int) -> None:
    """`line` and its image under one symmetry give positions that are images too."""
    cells, to_image = game.cell_symmetries[index], np.argsort(game.action_symmetries[index])
    state, image = game.new_states(2)
    for ply in range(len(line) + 1):
        place = f"SYMMETRIES[{index}] {where(line[:ply])}"
        require(
            _image_moves(game, state, to_image)
            == _image_moves(game, image, np.arange(len(to_image))),
            f"{place}: outcome or legal moves of the image differ; new[a] = old[table[a]]",
        )
        old, new = (planes_of(game, game.rules, each) for each in (state, image))
        require(
            np.array_equal(old.reshape(len(old), -1)[:, cells], new.reshape(len(new), -1)),
            f"{place}: the image's planes are not the permuted planes; new[c] = old[table[c]]",
        )
        if ply < len(line):
            game.rules.play(state, line[ply])
            game.rules.play(image, int(to_image[line[ply]]))


def _image_moves(game: Game, state: State, to_image: NDArray[np.intp]) -> list[Action] | int:
    """The legal actions of `state`, mapped; the outcome where the game is over."""
    outcome = int(game.rules.outcome(state))
    if outcome != ONGOING:
        return outcome
    return sorted(to_image[legal_moves(game, game.rules, state)].tolist())


def check_copies(trial: Trial) -> str:
    """A state is all there is: a copy goes its own way, and looking changes nothing."""
    rules = trial.game.rules
    for state, line in trial.positions():
        before = state.tobytes()
        if rules.outcome(state) == ONGOING:
            for action in legal_moves(trial.game, rules, state):
                copies = trial.game.blank_states(2)
                copies[:] = state
                rules.play(copies[0], action)
                rules.play(copies[1], action)
                require(
                    copies[0].tobytes() == copies[1].tobytes(),
                    f"play({action}) {where(line)} gives two results: keep everything in STATE",
                )
        require(
            state.tobytes() == before,
            f"legal, outcome or play on a copy changes the state {where(line)}: only read it",
        )
    return "playing on a copy leaves the original alone"


def check_text(trial: Trial) -> str:
    """What is written can be read back, and nonsense is refused politely."""
    module = trial.game.module
    for state, line in trial.positions():
        require(
            isinstance(module.show(state), str) and module.show(state),
            f"show gives {module.show(state)!r} {where(line)}: expected a text",
        )
        if trial.game.rules.outcome(state) == ONGOING:
            for action in legal_moves(trial.game, trial.game.rules, state):
                _check_move(module, state, action, line)
    for text in NONSENSE:
        _check_refusal(module, trial.game.new_states(1)[0], text)
    if hasattr(module, "write_position"):
        _check_positions(trial)
    else:
        _check_reading(trial)
    return "moves and positions are read as they are written"


def _check_move(module: ModuleType, state: State, action: Action, line: list[Action]) -> None:
    text = module.write_move(state, action)
    try:
        back = module.read_move(state, text)
    except IllegalPosition as error:
        raise Broken(
            f"legal offers action {action} {where(line)}, but read_move refuses it as {text!r}"
            f" ({error}): is it legal?"
        ) from error
    require(back == action, f"action {action} {where(line)} is written {text!r} but read as {back}")


def _check_refusal(module: ModuleType, state: State, text: str) -> None:
    try:
        action = module.read_move(state, text)
    except IllegalPosition:
        return
    except Exception as error:
        raise Broken(
            f"read_move raises {type(error).__name__} for {text!r}: raise IllegalPosition"
        ) from error
    raise Broken(f"read_move takes {text!r} for action {action}: raise IllegalPosition")


def _check_positions(trial: Trial) -> None:
    """Positions are read as they are written; a notation may leave out what a key leaves out."""
    game, recognise = trial.game, getattr(trial.game.rules, "key", bytes)
    for state, line in trial.positions():
        text = game.module.write_position(state)
        require(
            recognise(game.position(text)) == recognise(state),
            f"the position {where(line)} is written {text!r} but read as another one",
        )


def _check_reading(trial: Trial) -> None:
    """Without write_position, a position is its moves in one word; others are left unchecked."""
    module = trial.game.module
    for line in trial.lines:
        state, words = trial.game.new_states(1)[0], list[str]()
        for action in line:
            words.append(module.write_move(state, action))
            trial.game.rules.play(state, action)
        try:
            back = trial.game.position("".join(words))
        except IllegalPosition as error:
            raise Doubt(
                f"read_position does not read {''.join(words)!r}, the moves in one word, so it was"
                " not checked (a game with a notation of its own may ignore this)"
            ) from error
        require(
            back.tobytes() == state.tobytes(),
            f"read_position({''.join(words)!r}) differs from the position after these moves",
        )


PROMISES: dict[str, Callable[[Trial], str]] = {
    "start": check_start,
    "legality": check_legality,
    "ends": check_ends,
    "perspective": check_perspective,
    "planes": check_planes,
    "symmetries": check_symmetries,
    "copies": check_copies,
    "compiled": check_compiled,
    "memory": check_repetitions,
    "text": check_text,
}
