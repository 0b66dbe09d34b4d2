"""Chess actions: one per geometric move, each with a cell in the policy planes."""

import numpy as np
import torch

from rookery.games import load_game
from rookery.games.chess.actions import ACTION_OF, FROM_TO, UNDERPROMOTION_OF
from rookery.nets import NetConfig, build_net

CHESS = load_game("chess")
CELLS = CHESS.policy_cells
QUEEN_DIRECTIONS = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))
KNIGHT_JUMPS = ((1, 2), (2, 1), (-1, 2), (2, -1), (1, -2), (-2, 1), (-1, -2), (-2, -1))


def geometric_moves() -> set[tuple[int, int, int]]:
    """Return (origin, target, underpromotion) of all moves of queens, knights and pawns."""
    found = set()
    for file, rank in np.ndindex(8, 8):
        steps = [(n * a, n * b) for a, b in QUEEN_DIRECTIONS for n in range(1, 8)]
        for across, up in (*steps, *KNIGHT_JUMPS):
            if 0 <= file + across < 8 and 0 <= rank + up < 8:
                move = file + 8 * rank, file + across + 8 * (rank + up)
                found.add((*move, 0))
                if rank == 6 and up == 1 and abs(across) <= 1:
                    found |= {(*move, piece) for piece in (1, 2, 3)}
    return found


def test_every_geometric_move_has_one_action() -> None:
    numbered = [(int(m) & 63, int(m) >> 6 & 63, int(m) >> 12) for m in FROM_TO]
    assert len(numbered) == len(set(numbered)) == CHESS.num_actions == 1858
    assert set(numbered) == geometric_moves()
    for action, (origin, target, piece) in enumerate(numbered):
        table = UNDERPROMOTION_OF if piece else ACTION_OF
        assert table[origin + 64 * target] + max(0, piece - 1) == action


def test_every_action_has_its_own_cell_at_its_origin() -> None:
    assert CELLS is not None and len(set(CELLS.tolist())) == CHESS.num_actions
    assert CELLS.min() >= 0 and CELLS.max() < 73 * 64
    rows, files = CELLS % 64 // 8, CELLS % 8
    origins = FROM_TO & 63
    assert np.array_equal(7 - rows, origins // 8) and np.array_equal(files, origins % 8)


def test_a_policy_plane_is_one_kind_of_move() -> None:
    assert CELLS is not None
    steps: dict[int, set[tuple[int, int, int]]] = {}
    for cell, move in zip(CELLS.tolist(), FROM_TO.tolist(), strict=True):
        origin, target = move & 63, move >> 6 & 63
        step = target % 8 - origin % 8, target // 8 - origin // 8, move >> 12
        steps.setdefault(cell // 64, set()).add(step)
    assert len(steps) == 73 and all(len(kinds) == 1 for kinds in steps.values())


def test_the_policy_head_reads_each_action_from_its_cell() -> None:
    """Compare the head with a loop over actions."""
    assert CELLS is not None
    net = build_net(
        NetConfig(width=8, depth=1), CHESS.planes_shape, CHESS.num_actions, policy_cells=CELLS
    )
    weights, bias = (net.get_parameter(f"policy.conv.{name}") for name in ("weight", "bias"))
    torch.nn.init.normal_(weights)
    torch.nn.init.normal_(bias)
    x = torch.randn(3, 8, 8, 8)
    weight = weights[:, :, 0, 0]
    expected = torch.zeros(3, CHESS.num_actions)
    for action, cell in enumerate(CELLS.tolist()):
        kind, row, file = cell // 64, cell % 64 // 8, cell % 8
        expected[:, action] = x[:, :, row, file] @ weight[kind] + bias[kind]
    torch.testing.assert_close(net.get_submodule("policy")(x), expected, atol=1e-5, rtol=1e-5)
