"""The WebSocket of play and analysis: questions in, answers with the same id out.

Every question carries its whole position, so the server keeps nothing but running searches. They
end when the socket closes.
"""

import asyncio
import json
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from rookery.base import RookeryError
from rookery.interface.web.boards import make_board, view_of
from rookery.interface.web.catalogue import Catalogue
from rookery.interface.web.limits import MAX_BODY, read_number, read_text, read_texts
from rookery.interface.web.players import Players

Question = dict[str, Any]


class Questions:
    def __init__(self, catalogue: Catalogue, players: Players) -> None:
        self._catalogue, self._players = catalogue, players

    async def __call__(self, socket: WebSocket) -> None:
        await socket.accept()
        try:
            while True:
                question = json.loads(await socket.receive_text())
                try:
                    answer = await asyncio.to_thread(self._answer, question)
                except RookeryError as error:
                    answer = {"error": str(error)}
                await socket.send_json({"id": question.get("id"), **answer})
        except WebSocketDisconnect:
            return

    def _answer(self, question: Question) -> dict[str, Any]:
        key = read_text(question, "game")
        game = self._catalogue.game(key)
        start = read_text(question, "start", longest=MAX_BODY)
        board = make_board(game, start, read_texts(question, "moves"))
        if question.get("do") == "view":
            return {"view": view_of(board, key)}
        from rookery.api import Analysis, Net, read_net

        choice = self._players.choice(key, read_text(question, "player"))
        if choice.kind != "net":
            from rookery.api import read_player_spec

            player = read_player_spec(choice.name, game).player(game, seed=1)
            action = int(player.choose(board.played.states)[0])
            move = game.write_move(board.state, action)
            board.played.play(action)
            return {"move": move, "value": None, "wdl": None, "view": view_of(board, key)}
        net = read_net(choice.name, iteration=choice.iteration)
        assert net
        simulations = read_number(question, "simulations", default=100, low=0, high=10000)
        analysis = Analysis(board, Net(net), lines=8)
        analysis._search.grow(simulations)
        info = analysis.info()
        best = info.lines[0]
        if question.get("do") == "analyse":
            lines = [vars(line) for line in info.lines]
            return {"info": {"nodes": info.nodes, "seconds": info.seconds, "lines": lines}, "done": True}
        board.push(best.move)
        return {"move": best.move, "value": best.value, "wdl": best.wdl, "view": view_of(board, key)}
