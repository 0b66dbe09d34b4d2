"""What all users share: games, players, networks, trees, and the threads that work for them."""

from collections.abc import Callable
from typing import Any

from rookery.api import Net
from rookery.base import ConfigError
from rookery.games import Game
from rookery.interface.web.boards import view_of
from rookery.interface.web.catalogue import Catalogue
from rookery.interface.web.engine import Answer, Engine
from rookery.interface.web.nets import Nets
from rookery.interface.web.opponents import Opponents
from rookery.interface.web.players import SOLVER_STONES, Choice, Players
from rookery.interface.web.searches import Asked
from rookery.interface.web.trees import Trees

SEARCHES_PER_TURN = 64
"""Searches whose positions become one batch of the network."""
LONG_THREADS = 2
"""Threads for moves that cannot be cut into slices, and for loading networks."""
SHORT_THREADS = 2
"""Threads that read and describe positions."""


class Services:
    """One of each for a server; `close` ends the threads."""

    def __init__(self, catalogue: Catalogue, players: Players, *, devices: str = "cpu") -> None:
        self.catalogue, self.players = catalogue, players
        self.nets, self.trees, self.opponents = (
            Nets(catalogue, devices=devices),
            Trees(),
            Opponents(),
        )
        self.searches = Engine(1, name="search", jobs_per_turn=SEARCHES_PER_TURN)
        self.doctor = Engine(1, name="doctor")
        self._long = Engine(LONG_THREADS, name="long")
        self._short = Engine(SHORT_THREADS, name="short")

    def close(self) -> None:
        """End all threads and the processes of engines."""
        self.nets.close()
        for engine in (self.searches, self.doctor, self._long, self._short):
            engine.close()
        self.opponents.close()

    async def think(self, owner: object, function: Callable[[], Any]) -> Any:
        """Return what a function returns in a thread, within milliseconds."""
        return await self._short.call(owner, function)

    async def game(self, owner: object, key: str) -> Game:
        """Return the game of a question, or raise ConfigError."""
        known = self.catalogue.find(key)
        if known is not None:
            return known
        found: Game = await self.think(owner, lambda: self.catalogue.game(key))
        return found

    async def choose(self, owner: object, asked: Asked) -> Choice:
        """Return the player that a question names, or raise ConfigError."""
        choice: Choice = await self.think(owner, lambda: self._choice(asked))
        return choice

    def _choice(self, asked: Asked) -> Choice:
        choice = self.players.choice(asked.key, asked.player)
        if choice.kind == "solver" and asked.key == "connect4":
            stones = len(asked.start) + len(asked.moves)
            if stones < SOLVER_STONES:
                return self.players.choice(asked.key, "bundled")
        return choice

    async def net(self, owner: object, choice: Choice) -> Net:
        """Return the network of a player, or raise ConfigError if it has none."""
        if choice.kind != "net":
            raise ConfigError(f"{choice.label} has no network to analyse with; choose another")
        found = self.nets.find(choice)
        if found is None:
            found = await self._long.call(owner, lambda: self.nets.load(choice))
        return found

    async def play_plain(self, owner: object, asked: Asked, choice: Choice) -> Answer:
        """Return the move of a player without a network, and the position after it."""

        def play() -> Answer:
            board = asked.board()
            action = self.opponents.choose(asked.key, choice, board)
            move = asked.game.write_move(board.state, action)
            label = asked.game.write_san(board.state, action)
            board.played.play(action)
            view = view_of(board, asked.key)
            return {"move": move, "label": label, "value": None, "wdl": None, "view": view}

        answer: Answer = await self._long.call(owner, play)
        return {**answer, "done": True}
