"""Games as environments of PettingZoo, which this module needs."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from rookery.api.board import Board
from rookery.games import Game

AGENTS = ["player_0", "player_1"]
Observation = dict[str, NDArray[Any]]


class GameEnvironment(AECEnv):  # type: ignore[misc]  # pettingzoo has no types
    """One game at a time; agents see the planes of the player to move, and an action mask.

    The reward is 1 for the winner and -1 for the loser, at the end. An illegal action loses.
    """

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.game, self.render_mode = game, "ansi"
        self.metadata = {
            "name": game.name,
            "render_modes": ["ansi"],
            "is_parallelizable": False,
        }
        self.possible_agents = list(AGENTS)
        space = spaces.Dict(
            {
                "observation": spaces.Box(-np.inf, np.inf, game.planes_shape, np.float32),
                "action_mask": spaces.Box(0, 1, (game.num_actions,), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(AGENTS, space)
        self.action_spaces = {agent: spaces.Discrete(game.num_actions) for agent in AGENTS}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return what an agent sees."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the actions of an agent, legal or not."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game; the rules have no chance, so that a seed changes nothing."""
        self.board = Board(self.game)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self.agent_selection = AGENTS[self.board.turn]

    def observe(self, agent: str) -> Observation:
        """Return the planes of the player to move, and the legal actions if it is this agent."""
        planes = np.zeros(self.game.planes_shape, np.float32)
        self.game.rules.planes(self.board.state, planes)
        mask = np.zeros(self.game.num_actions, np.int8)
        if agent == AGENTS[self.board.turn] and not self.board.is_over:
            mask[self.game.legal_actions(self.board.state)] = 1
        return {"observation": planes, "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Make a move of the agent whose turn it is."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        if action in self.game.legal_actions(self.board.state):
            self.board.played.play(int(action))
            first = self.board.outcome
        else:
            first = 1 if agent == AGENTS[1] else -1
        if first is not None:
            self.rewards = dict(zip(AGENTS, (float(first), -float(first)), strict=True))
            self.terminations = dict.fromkeys(AGENTS, True)
        self.agent_selection = AGENTS[1 - AGENTS.index(agent)]
        self._accumulate_rewards()

    def render(self) -> str:
        """Return the board as text."""
        return str(self.board)

    def close(self) -> None:
        """Release nothing: an environment holds nothing but its board."""
