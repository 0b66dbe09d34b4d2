"""Matches between networks, runs, named players and functions."""

from rookery.api.board import as_game
from rookery.api.net import Net
from rookery.api.own_player import ChooseMove, OwnPlayerSpec
from rookery.api.players import SIMULATIONS, NetRef, read_net, read_player_spec
from rookery.api.runs import Run
from rookery.arena import MatchPlan, MatchReport, default_plies, has_book
from rookery.base import ConfigError
from rookery.games import Game
from rookery.training import PlayerSpec, play_match_over

Contestant = Run | Net | str | ChooseMove
"""A run, a network, a name as `rookery match` takes it (random, minimax:4, RUN@20:400), or a
function from a board to a move."""


def match(
    a: Contestant,
    b: Contestant,
    *,
    games: int = 100,
    game: str | Game | None = None,
    simulations: int = SIMULATIONS,
    seed: int = 1,
    opening_plies: int | None = None,
    devices: str = "cpu",
    workers: int | None = 0,
    cluster: str = "",
) -> MatchReport:
    """Play pairs of games from the same opening, with colours swapped, and return the report.

    Networks search with `simulations` per move unless their name says otherwise. `workers` are
    processes that share the games: 0 plays in this one, None in as many as are worthwhile. A
    function plays in this one only.
    """
    rules = _game_of((a, b), game)
    by_book = opening_plies is None and has_book(rules)
    plies = default_plies(rules) if opening_plies is None else opening_plies
    first, second = (_spec(each, rules, simulations, devices) for each in (a, b))
    if isinstance(first, OwnPlayerSpec) or isinstance(second, OwnPlayerSpec):
        if workers or cluster:
            raise ConfigError("a function plays in this process; leave out workers and cluster")
        workers = 0
    return play_match_over(
        rules,
        MatchPlan(games, seed, plies, book=by_book),
        first,
        second,
        workers=workers,
        on_note=lambda note: None,
        cluster=cluster,
        devices=(devices,),
    )


def _game_of(players: tuple[Contestant, Contestant], game: str | Game | None) -> Game:
    """Return the game of the players and the argument, which must agree."""
    found: dict[str, Game] = {}
    for player in players:
        ref = read_net(player) if isinstance(player, str) else player
        if isinstance(ref, Net | Run | NetRef):
            found[ref.game.name] = ref.game
    if game is not None:
        rules = as_game(game)
        found.setdefault(rules.name, rules)
    if not found:
        raise ConfigError("neither player has a network; name the game, as in game='connect4'")
    if len(found) > 1:
        raise ConfigError(f"the players are of different games: {' and '.join(sorted(found))}")
    return next(iter(found.values()))


def _spec(player: Contestant, game: Game, simulations: int, devices: str) -> PlayerSpec:
    if isinstance(player, Net):
        return player.spec(simulations)
    if not isinstance(player, str | Run):
        return OwnPlayerSpec.of(player)
    name = str(player.path) if isinstance(player, Run) else player
    return read_player_spec(name, game, inference="auto", devices=devices, simulations=simulations)
