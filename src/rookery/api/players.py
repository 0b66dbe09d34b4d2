"""Players by name:

random            any legal move
minimax:4         searches 4 plies deep
solver            perfect play, for connect4 and tictactoe
stockfish:1350    chess: Stockfish limited to that UCI_Elo
fairy:-10         chess: Fairy-Stockfish at that skill level
uci:COMMAND       chess: any UCI engine; uci:COMMAND?Hash=64&nodes=1000 with options and a limit
minimax:2~30      with 30 % random moves; also for solver, stockfish and fairy
RUN               the newest network of a run folder, with 100 simulations per move
RUN:400           the same with 400; RUN:0 is the network alone
RUN@120:400       its network of iteration 120
connect4:400      the network bundled with a game
RUN+RUN@120:400   the average of several networks of a game, with the search of the first
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from rookery.arena import is_named_player
from rookery.base import MAX_ITERATION, MAX_SIMULATIONS, ConfigError, UnknownName, read_whole
from rookery.games import Game, is_shipped, load_game, rules_file
from rookery.nets import Weights, load, pack
from rookery.search import SearchConfig
from rookery.training import (
    InitialWeights,
    PlayerSpec,
    RunFolder,
    load_shipped,
    shipped_names,
    shipped_search,
)

SIMULATIONS = 100
"""Simulations per move, unless the name says otherwise."""
NAMED_PLAYERS = ("minimax:4", "random", "solver")
_RUN = re.compile(r"(?P<path>.+?)(@(?P<iteration>\d+))?(:(?P<simulations>\d+))?")


@dataclass(frozen=True)
class NetRef:
    """A network by name: of a run folder, bundled with a game, or the average of several."""

    name: str
    """The name shown: the run folder, or the game."""
    game: Game
    search: SearchConfig
    load: Callable[[], Weights]
    simulations: int
    inference: str = "auto"
    """The inference method of its run."""
    seed: int = 1
    partners: "tuple[NetRef, ...]" = ()
    """The networks that it is averaged with."""

    def player(self, *, inference: str, devices: str) -> PlayerSpec:
        """Return the specification of a player with these weights."""
        nets = [each.load() for each in (self, *self.partners)]
        files = [pack(weights.state, weights.header) for weights in nets]
        return PlayerSpec(
            "net",
            name=self.name,
            simulations=self.simulations,
            search=self.search,
            weights=files[0],
            partners=tuple(files[1:]),
            inference=inference,
            devices=devices,
        )


def is_game(text: str) -> bool:
    """Whether `text` names a game rather than a run."""
    return is_shipped(text) or rules_file(text).endswith(".py")


def read_net(
    text: str,
    *,
    simulations: int = SIMULATIONS,
    iteration: int | None = None,
    others: Iterable[str] = NAMED_PLAYERS,
    trust_rules: bool = False,
) -> NetRef | None:
    """Return the network that `text` names, or None if it names another kind of player.

    The error for an unknown name suggests the nearest of `others`, run folders and games.
    `trust_rules` allows executing the rules file of a run.
    """
    if is_named_player(text):
        return None
    if Path(text).is_dir():
        return _net_of_run(Path(text), iteration, simulations, trust_rules)
    if len(members := split_members(text)) > 1:
        return _ensemble(
            members, simulations=simulations, iteration=iteration, trust_rules=trust_rules
        )
    parts = _RUN.fullmatch(text)
    if parts is None:
        raise UnknownName("run folder or name", text, others)
    wanted = simulations
    if parts["simulations"]:
        name = f"the number of simulations in {text}"
        wanted = read_whole(name, parts["simulations"], (0, MAX_SIMULATIONS))
    if parts["path"] in shipped_names() and not parts["iteration"]:
        if iteration is not None:
            raise ConfigError(f"the bundled network of {parts['path']} has no iterations")
        game = load_game(parts["path"])
        name, search = f"{game.name} network", shipped_search(game)
        return NetRef(name, game, search, lambda: load_shipped(game), wanted)
    if not Path(parts["path"]).is_dir():
        runs = (str(path.parent) for path in Path(text).parent.glob("*/run.json"))
        raise UnknownName("run folder or name", text, {*others, *shipped_names(), *runs})
    number = iteration
    if parts["iteration"]:
        number = read_whole(f"the iteration in {text}", parts["iteration"], (0, MAX_ITERATION))
    if iteration not in (None, number):
        raise ConfigError(f"{text} and --iteration {iteration} name different iterations; give one")
    return _net_of_run(Path(parts["path"]), number, wanted, trust_rules)


def split_members(text: str) -> list[str]:
    """Split `text` at its plus signs, except those inside a folder name."""
    members: list[str] = []
    open_text = ""
    for word in text.split("+"):
        open_text = f"{open_text}+{word}" if open_text else word
        if _names_player(open_text):
            members.append(open_text)
            open_text = ""
    return [*members, open_text] if open_text else members


def _names_player(text: str) -> bool:
    parts = _RUN.fullmatch(text)
    if is_named_player(text):
        return True
    if parts is None or parts["path"] in shipped_names():
        return parts is not None
    return Path(text).is_dir() or Path(parts["path"]).is_dir()


def _ensemble(
    members: list[str], *, simulations: int, iteration: int | None, trust_rules: bool
) -> NetRef:
    """Return the average of networks; the last member may state the simulations."""
    nets = []
    for text in members:
        net = read_net(
            text, simulations=simulations, iteration=iteration, others=(), trust_rules=trust_rules
        )
        if net is None:
            raise ConfigError(f"{text} has no network to average; combine runs, as in A+B")
        nets.append(net)
    if len(games := {net.game.name for net in nets}) > 1:
        raise ConfigError(f"cannot average networks of different games: {', '.join(sorted(games))}")
    if any(net.simulations != simulations for net in nets[:-1]):
        raise ConfigError("averaged networks search once; put simulations last, as in A+B:400")
    return replace(
        nets[0],
        name="+".join(net.name for net in nets),
        simulations=nets[-1].simulations,
        partners=tuple(nets[1:]),
    )


def read_initial_weights(text: str, *, trust_rules: bool = False) -> InitialWeights:
    """Return the weights that `text` names: of a run, of a game, or in a file."""
    if text.endswith(".safetensors") and not Path(text).is_dir():
        if not Path(text).exists():
            raise ConfigError(f"{text} does not exist; give a run folder or a .safetensors file")
        return InitialWeights(text, load(Path(text)))
    net = read_net(text, others=(), trust_rules=trust_rules)
    if net is None or net.partners:
        raise ConfigError(f"--init takes the weights of one network, got {text}; give a run folder")
    return InitialWeights(text, net.load())


def _net_of_run(path: Path, iteration: int | None, simulations: int, trust_rules: bool) -> NetRef:
    folder = RunFolder(path, trust_rules=trust_rules)
    return NetRef(
        name=path.name,
        game=folder.game,
        search=folder.config.search,
        load=lambda: folder.load_weights(iteration),
        simulations=simulations,
        inference=folder.config.run.exact_inference,
        seed=folder.config.run.seed,
    )


def read_player_spec(
    text: str,
    game: Game,
    *,
    inference: str = "float32",
    devices: str = "cpu",
    simulations: int = SIMULATIONS,
    trust_rules: bool = False,
) -> PlayerSpec:
    """Return the specification of the player that `text` names, with default `simulations`."""
    net = read_net(text, simulations=simulations, trust_rules=trust_rules)
    if net is None:
        return PlayerSpec("plain", name=text)
    if net.game.name != game.name:
        raise ConfigError(
            f"{text} plays {net.game.name}, not {game.name}; choose a run of {game.name}"
        )
    return replace(net, name=text).player(inference=inference, devices=devices)


def default_opponent(game: Game) -> str:
    """Return the opponent of a person without a run: the bundled network, or perfect play."""
    if game.name in shipped_names():
        return game.name
    return "solver" if game.name == "tictactoe" else "minimax:4"
