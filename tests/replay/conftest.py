"""Games of random moves, recorded as self-play would."""

from collections.abc import Callable

import numpy as np
import pytest

from rookery.base import generator
from rookery.games import LOSS, ONGOING, WIN, Game, GameRecord

MakeRecords = Callable[..., list[GameRecord]]


def random_record(game: Game, rng: np.random.Generator) -> GameRecord:
    state = game.new_states(1)[0]
    states, actions, legal = [], [], []
    while game.rules.outcome(state) == ONGOING:
        moves = game.legal_actions(state)
        states.append(state.copy())
        legal.append(moves)
        actions.append(int(rng.choice(moves)))
        game.rules.play(state, actions[-1])
    record = game.blank_states(len(states))
    for row, searched in enumerate(states):
        record[row] = searched
    lost = game.rules.outcome(state) == LOSS
    draw = rng.uniform(0, 0.5, len(states))
    return GameRecord(
        states=record,
        actions=np.array(actions, np.int16),
        values=np.stack([rng.uniform(-0.5, 0.5, len(states)), draw], axis=1).astype(np.float32),
        policy_starts=np.cumsum([0, *map(len, legal)]).astype(np.int32),
        policy_actions=np.concatenate(legal).astype(np.int16),
        policy=np.concatenate([rng.dirichlet(np.ones(len(m))) for m in legal]).astype(np.float16),
        result=(WIN if len(states) % 2 else LOSS) if lost else 0,
        first_ply=0,
    )


@pytest.fixture
def make_records() -> MakeRecords:
    def make(game: Game, count: int, seed: int = 0) -> list[GameRecord]:
        rng = generator(seed, "test records")
        return [random_record(game, rng) for _ in range(count)]

    return make
