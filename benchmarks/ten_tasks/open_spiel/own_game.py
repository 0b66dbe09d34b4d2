"""Search Nim with 200 simulations and without a network.

Nim: take one, two or three of seven matches; whoever takes the last one wins.
"""

import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts

KIND = pyspiel.GameType(
    short_name="seven_matches",
    long_name="Seven matches",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=False,
    provides_information_state_tensor=False,
    provides_observation_string=False,
    provides_observation_tensor=True,
    parameter_specification={},
)
INFO = pyspiel.GameInfo(
    num_distinct_actions=3,
    max_chance_outcomes=0,
    num_players=2,
    min_utility=-1,
    max_utility=1,
    utility_sum=0,
    max_game_length=7,
)


class Observer:
    def __init__(self, kind, params):
        self.tensor = np.zeros(7, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state, player):
        self.tensor[:] = np.arange(7) < state.matches

    def string_from(self, state, player):
        return str(state)


class State(pyspiel.State):
    def __init__(self, game):
        super().__init__(game)
        self.matches, self.player = 7, 0

    def current_player(self):
        return self.player if self.matches else pyspiel.PlayerId.TERMINAL

    def _legal_actions(self, player):
        return list(range(min(3, self.matches)))

    def _apply_action(self, action):
        self.matches -= action + 1
        self.player = 1 - self.player

    def _action_to_string(self, player, action):
        return str(action + 1)

    def is_terminal(self):
        return self.matches == 0

    def returns(self):
        if self.matches:
            return [0, 0]
        return [-1, 1] if self.player == 0 else [1, -1]

    def __str__(self):
        return "|" * self.matches


class Nim(pyspiel.Game):
    def __init__(self, params=None):
        super().__init__(KIND, INFO, params or {})

    def new_initial_state(self):
        return State(self)

    def make_py_observer(self, kind=None, params=None):
        return Observer(kind, params)


pyspiel.register_game(KIND, Nim)
game = pyspiel.load_game("seven_matches")
bot = mcts.MCTSBot(game, 2, 200, mcts.RandomRolloutEvaluator())
print(bot.step(game.new_initial_state()))
