"""The command `rookery`: its subcommands, and errors in one line."""

import io
import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Annotated

import typer

from rookery import __version__
from rookery.interface.cli.analyse import analyse
from rookery.interface.cli.checkpoint import checkpoint
from rookery.interface.cli.doctor import doctor
from rookery.interface.cli.eval import evaluate
from rookery.interface.cli.export import export
from rookery.interface.cli.failures import USAGE, explain
from rookery.interface.cli.games import games, recipes
from rookery.interface.cli.help import PlainCommand, PlainGroup, examples
from rookery.interface.cli.match import match
from rookery.interface.cli.plan import plan
from rookery.interface.cli.play import play
from rookery.interface.cli.plot import plot
from rookery.interface.cli.rate import rate
from rookery.interface.cli.scale import scale
from rookery.interface.cli.serve import serve
from rookery.interface.cli.train import resume, train, watch
from rookery.interface.cli.tune import tune
from rookery.interface.cli.uci import uci
from rookery.interface.printable import fit_streams, printable

OUTPUT_CLOSED = 1


class Notes(logging.Handler):
    """Prints what the packages log to stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one message."""
        print(printable(record.getMessage()), file=sys.stderr, flush=True)


logging.getLogger("rookery").addHandler(Notes())
app = typer.Typer(pretty_exceptions_enable=False)
COMMANDS: dict[str, Callable[..., None]] = {
    "train": train,
    "resume": resume,
    "plan": plan,
    "checkpoint": checkpoint,
    "scale": scale,
    "tune": tune,
    "watch": watch,
    "serve": serve,
    "doctor": doctor,
    "plot": plot,
    "play": play,
    "eval": evaluate,
    "match": match,
    "rate": rate,
    "analyse": analyse,
    "uci": uci,
    "export": export,
}
for _name, _command in COMMANDS.items():
    app.command(_name, cls=PlainCommand, epilog=examples(_name))(_command)
app.add_typer(games)
app.command("recipes", cls=PlainCommand, epilog=examples("recipes"))(recipes)


def main() -> None:
    """Run the command line of this process, and exit with its code."""
    # Waiting threads must sleep, not spin: search and network alternate on the same cores.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    sys.stdin = sys.stdin or io.StringIO()  # a process may start without them
    sys.stdout = sys.stdout or io.StringIO()
    sys.stderr = sys.stderr or io.StringIO()
    fit_streams()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command; return 0, or 1 for a failed check or closed output, or 2 for an error."""
    try:
        code = app(arguments or ["--help"], prog_name="rookery", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of the output has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OUTPUT_CLOSED
    except Exception as error:
        message = explain(error)
        if message is None:
            raise
        with suppress(OSError):  # nobody may be there to read it
            print(f"rookery: {message}", file=sys.stderr, flush=True)
        return USAGE
    return code if isinstance(code, int) else 0


def _version(wanted: bool) -> None:
    if wanted:
        print(f"rookery {__version__}")
        raise typer.Exit


@app.callback(cls=PlainGroup, epilog=examples(""))
def _rookery(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Train board-game players from scratch by self-play, measure them, play against them."""
