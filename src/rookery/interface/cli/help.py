"""Help texts: types as words, and examples under every command."""

from functools import partial
from importlib import import_module

from typer.core import TyperArgument, TyperCommand, TyperGroup

WORDS = {"bool": "", "float": "NUMBER", "int": "N", "path": "FILE", "str": "TEXT"}
"""What the help shows for a type, unless the option names its value."""
EXAMPLES = {
    "": ("rookery train tictactoe", "rookery play connect4", "rookery train --help"),
    "train": (
        "rookery train connect4 --minutes 30",
        "rookery train hexapawn.py --iterations 50 --set net.width=32 --run runs/pawns",
    ),
    "resume": (
        "rookery resume runs/connect4-1 --minutes 60",
        "rookery resume runs/connect4-1 --at 40 --run runs/again",
    ),
    "plan": ("rookery plan connect4 --minutes 30",),
    "checkpoint": ("rookery checkpoint runs/connect4-1 before-change",),
    "scale": ("rookery scale runs/connect4-1 --actors 4",),
    "tune": ("rookery tune connect4 --trials 8 --minutes 5",),
    "watch": ("rookery watch runs/connect4-1", "rookery watch runs/connect4-1 --once"),
    "serve": ("rookery serve", "rookery serve runs/connect4-1 --port 9000"),
    "doctor": ("rookery doctor runs/connect4-1", "rookery doctor runs/connect4-1 --quick --json"),
    "plot": ("rookery plot runs/connect4-1 runs/connect4-2 --out strength.png",),
    "play": (
        "rookery play connect4",
        "rookery play runs/chess-1 --first it --simulations 400",
    ),
    "eval": ("rookery eval runs/connect4-1 --simulations 0,100",),
    "match": (
        "rookery match runs/connect4-1 minimax:4 --games 200",
        "rookery match runs/connect4-1@20:100 connect4:100",
    ),
    "rate": ("rookery rate runs/chess-1", "rookery rate runs/connect4-1 --history"),
    "analyse": (
        "rookery analyse connect4 4453 --simulations 400",
        "rookery analyse runs/connect4-1 --file positions.txt",
    ),
    "uci": ("rookery uci runs/chess-1",),
    "export": ("rookery export runs/connect4-1 net.onnx",),
    "games": ("rookery games", "rookery games check hexapawn.py"),
    "games check": ("rookery games check connect4", "rookery games check hexapawn.py"),
    "games new": ("rookery games new gomoku",),
    "games export": ("rookery games export runs/connect4-1 --jsonl games.jsonl --games 20",),
    "recipes": ("rookery recipes", "rookery recipes connect4-laptop"),
}


def examples(command: str) -> str:
    """Return the last lines of the help of a command."""
    return "\n\n".join(("Examples:", *EXAMPLES[command]))


class _PlainHelp:
    """Shows values of options as words, without their limits, and none for flags and arguments."""

    def get_params(self, ctx):  # type: ignore[no-untyped-def]
        """Return the parameters, which then show words."""
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            param.display_type_rich = partial(_word, param)
            param._get_number_range_help_str = str  # errors name the limits
            if isinstance(param, TyperArgument):
                param._usage_display_name = partial(_in_usage, param)  # type: ignore[method-assign]
        return params


class PlainCommand(_PlainHelp, TyperCommand):
    """A command with plain help, and a line while it loads."""

    def invoke(self, ctx):  # type: ignore[no-untyped-def]
        """Load what every command needs, which takes seconds, then run the command."""
        from rookery.interface.formatting import loading

        with loading("Starting"):
            import_module("rookery.api")
        return super().invoke(ctx)


class PlainGroup(_PlainHelp, TyperGroup):
    """A group of commands with plain help."""


def _in_usage(param):  # type: ignore[no-untyped-def]
    """Return an argument as the usage line names it: GAME, RUN..., or [NAME]."""
    name = param.display_name_raw + ("..." if param.nargs != 1 else "")
    return name if param.required else f"[{name}]"


def _word(param, ctx):  # type: ignore[no-untyped-def]
    """Return what the help shows for the value of a parameter."""
    if isinstance(param, TyperArgument):
        return ""
    if param.metavar is not None:
        return param.metavar
    shown = param.display_type(ctx).strip("<>")
    return WORDS.get(shown, shown)
