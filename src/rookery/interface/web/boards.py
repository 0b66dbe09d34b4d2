"""A position as the page shows it: signs in cells, and the cells of every legal move.

A move of any game is found by comparing the board before and after it: the cell that it empties
is where it comes from, the cell that gets the mover's piece is where it goes. Rules that define
`move_cells(state, action)` say it themselves, and chess moves are written with both squares.
"""

from collections.abc import Sequence
from typing import Any

from rookery.api import Board
from rookery.base import ConfigError
from rookery.games import Action, Game, State
from rookery.interface.web.grid import Cell, Grid, Rows, grid_of, is_chess
from rookery.interface.web.limits import MAX_MOVES

STONES = {"X": (0, "first player's stone"), "O": (1, "second player's stone")}
CHESS_NAMES = dict(
    zip("kqrbnp", ("king", "queen", "rook", "bishop", "knight", "pawn"), strict=True)
)
Ends = tuple[Cell | None, Cell | None]
"""The cells that a move comes from and goes to; both None if it changes no single cell."""


def make_board(game: Game, start: str, moves: Sequence[str]) -> Board:
    """Return the board of a question, or raise IllegalPosition."""
    board = Board(game, start)
    for move in moves:
        board.push(move)
    if len(board.played.actions) > MAX_MOVES:
        raise ConfigError(f"a game may have at most {MAX_MOVES} moves here")
    return board


def view_of(board: Board, name: str) -> dict[str, Any]:
    """Return the position of a board for the page; `name` is what the page calls the game."""
    game, state, turn = board.game, board.state, board.turn
    grid = grid_of(game, state, turn)
    moves = [] if board.is_over else _moves(game, state, turn, grid)
    last, changed = _last_move(board, grid)
    return {
        "game": name,
        "width": grid.width,
        "height": grid.height,
        "turn": turn,
        "over": board.is_over,
        "outcome": board.outcome,
        "result_text": result_text(board),
        "position": _position(board),
        "text": str(board),
        "rows": grid.rows,
        "colors": is_chess(game),
        "row_labels": grid.row_labels,
        "column_labels": grid.column_labels,
        "pieces": _pieces(game, grid.rows),
        "moves": moves,
        "last": last,
        "changed": changed,
        "legal_pass": _only_pass(moves),
        "drops": _is_dropping(game, grid, moves),
    }


def result_text(board: Board) -> str:
    """Return how the game ended, in words, or an empty text."""
    outcome = board.outcome
    if outcome is None:
        return ""
    first, second = (
        ("White", "Black") if is_chess(board.game) else ("First player", "Second player")
    )
    if outcome:
        winner = first if outcome > 0 else second
        return f"Checkmate: {winner} wins" if is_chess(board.game) else f"{winner} wins"
    return "Draw"


def _position(board: Board) -> str:
    """Return the FEN of a position, or its moves where it has no notation of its own."""
    if board.game.has_position_notation:
        return board.game.write_position(board.state)
    return " ".join(board.moves)


def _moves(game: Game, state: State, turn: int, grid: Grid) -> list[dict[str, Any]]:
    found = []
    for action in game.legal_actions(state):
        origin, target = move_cells(game, state, action, turn, grid)
        move = game.write_move(state, action)
        entry = {
            "move": move,
            "label": game.write_san(state, action),
            "from": origin,
            "to": target,
        }
        if is_chess(game) and len(move) == 5:
            entry["promotion"] = move[4]
        found.append(entry)
    return found


def move_cells(game: Game, state: State, action: Action, turn: int, grid: Grid) -> Ends:
    """Return where a legal move comes from and goes to."""
    if is_chess(game):
        uci = game.write_move(state, action)
        return _square(uci[:2]), _square(uci[2:4])
    if "move_cells" in game.notation:
        origin, target = game.notation["move_cells"](state, action)
        return _cell(origin, grid), _cell(target, grid)
    after = state.copy()
    game.rules.play(after, action)
    return compare(grid.rows, grid_of(game, after, 1 - turn).rows)


def compare(before: Rows, after: Rows) -> Ends:
    """Return the ends of the move between two boards of the same size."""
    emptied, filled, replaced = _changes(before, after)
    arrived = filled or replaced
    if len(arrived) > 1 and emptied:  # a capture on the way: the piece keeps its sign
        moved = {before[y][x] for x, y in emptied}
        arrived = [(x, y) for x, y in arrived if after[y][x] in moved]
    if len(arrived) != 1:
        return None, None
    (x, y) = target = arrived[0]
    same = [(a, b) for a, b in emptied if before[b][a] == after[y][x]]
    origins = same if len(same) == 1 else emptied
    return origins[0] if len(origins) == 1 else None, target


def _changes(before: Rows, after: Rows) -> tuple[list[Cell], list[Cell], list[Cell]]:
    """Return the cells that became empty, that were filled, and whose piece was replaced."""
    emptied, filled, replaced = list[Cell](), list[Cell](), list[Cell]()
    for y, (old_row, new_row) in enumerate(zip(before, after, strict=True)):
        for x, (old, new) in enumerate(zip(old_row, new_row, strict=True)):
            if old != new:
                (emptied if not new else replaced if old else filled).append((x, y))
    return emptied, filled, replaced


def _square(name: str) -> Cell:
    return "abcdefgh".index(name[0]), 8 - int(name[1])


def _cell(value: Any, grid: Grid) -> Cell | None:
    """Return a cell that the rules name, or None where it is not on the board."""
    if value is None:
        return None
    x, y = (int(each) for each in value)
    return (x, y) if 0 <= x < grid.width and 0 <= y < grid.height else None


def _last_move(board: Board, grid: Grid) -> tuple[dict[str, Any] | None, list[Cell]]:
    """Return the ends of the last move and all cells that it changed."""
    if not board.played.actions:
        return None, []
    before = board.copy()
    action = before.played.actions[-1]
    before.pop()
    old = grid_of(board.game, before.state, before.turn)
    origin, target = move_cells(board.game, before.state, action, before.turn, old)
    changed = [cell for cells in _changes(old.rows, grid.rows) for cell in cells]
    return {"from": origin, "to": target}, changed


def _pieces(game: Game, rows: Rows) -> dict[str, dict[str, Any]]:
    return {sign: piece_of(game, sign) for row in rows for sign in row if sign}


def piece_of(game: Game, sign: str) -> dict[str, Any]:
    """Return how a sign is drawn, whose piece it is, and its name."""
    if is_chess(game) and sign.lower() in CHESS_NAMES:
        player = 0 if sign.isupper() else 1
        name = f"{('white', 'black')[player]} {CHESS_NAMES[sign.lower()]}"
        return {"kind": "chess", "player": player, "name": name}
    if sign in STONES:
        player, name = STONES[sign]
        return {"kind": "stone", "player": player, "name": name}
    has_case = len(sign) == 1 and sign.lower() != sign.upper()
    return {"kind": "text", "player": int(sign.islower()) if has_case else None, "name": sign}


def _only_pass(moves: list[dict[str, Any]]) -> str | None:
    """Return the only legal move if it changes no cell."""
    if len(moves) == 1 and moves[0]["from"] is None and moves[0]["to"] is None:
        return str(moves[0]["move"])
    return None


def _is_dropping(game: Game, grid: Grid, moves: list[dict[str, Any]]) -> bool:
    """Whether a move is a column into which a stone falls."""
    if game.num_actions != grid.width or grid.height < 2:
        return False
    targets = [move["to"] for move in moves]
    columns = {to[0] for to in targets if to is not None}
    return all(to is not None for to in targets) and len(columns) == len(targets)
