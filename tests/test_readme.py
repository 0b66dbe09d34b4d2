"""Run the commands and Python examples of README and docs in an empty folder, as a reader would.

`.venv/bin/rookery` becomes this Rookery, and options from the table below shorten long commands. A
command without an entry fails: add one, as small as possible.
"""

import io
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rookery.games import check_game, load_game
from rookery.gpu import find_device
from rookery.interface.cli.app import run

ROOT = Path(__file__).parents[1]
GAMES = ("docs/own-game.md", "docs/tictactoe.md", "docs/connect4.md", "docs/chess.md")
PAGES = (
    *("README.md", "docs/index.md", "docs/guide.md", *GAMES),
    *("docs/spiking.md", "docs/export.md", "docs/architecture.md", "docs/reliability.md"),
    *("docs/learning.md", "docs/cluster.md", "docs/troubleshooting.md", "docs/openspiel.md"),
    *("docs/doctor.md", "docs/serve.md"),
    "CONTRIBUTING.md",
)
LINKED = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md"))
ROOKERY = re.compile(r"(^|\| )(\.venv/bin/)?rookery ")
TINY = " ".join(
    f"--set {setting}"
    for setting in (
        "run.minutes=0",
        "run.iterations=2",
        "run.moves=9",
        "run.strength_every=0",
        "run.inference=float32",
        "net.width=8",
        "net.depth=1",
        "selfplay.games=16",
        "selfplay.simulations=4",
        "replay.window_min=100",
        "learning.batch_size=32",
        "learning.precision=float32",
    )
)
TUNED = f"{TINY} --set run.strength_every=2 --set run.strength_simulations=0 --trials 1"
SHORT = f"{TINY} --set selfplay.max_plies=8 --set selfplay.opening_plies=2"
DEMO = "train tictactoe --run runs/tictactoe-demo"


@dataclass(frozen=True)
class Entry:
    """How to run a command, and what it must print."""

    prints: str
    options: str = ""
    """Options added to the command to shorten it."""
    typed: str = ""
    """Standard input."""


COMMANDS = {
    "make demo": Entry(DEMO),
    "make dev": Entry("install"),
    "make check": Entry("mypy"),
    "make test": Entry("pytest"),
    "make site": Entry("mkdocs build --strict"),
    "make fuzz": Entry("ROOKERY_FUZZ=100000"),
    "make soak": Entry("tools/soak.py"),
    "train connect4": Entry("Finished: connect4 in runs/connect4-1", TINY),
    "play runs/tictactoe-demo": Entry("plays", typed="1\nquit\n"),
    "eval runs/tictactoe-demo": Entry("lost to any reply", "--simulations 0"),
    "eval runs/tictactoe-demo --simulations 0,50": Entry("4,520", "--simulations 0,1"),
    "match runs/tictactoe-demo minimax:2 --games 20 --opening-plies 2": Entry("Elo", "--games 4"),
    "echo 19 | analyse runs/tictactoe-demo": Entry('"move": '),
    "resume runs/tictactoe-demo --minutes 2": Entry(
        "3 iterations", "--set run.minutes=0 --set run.iterations=3"
    ),
    "train tictactoe --run runs/kept --iterations 6 "
    "--set run.checkpoint_every=2 --set run.keep_checkpoints=3": Entry(
        "6 iterations", f"{TINY} --set run.iterations=6"
    ),
    "resume runs/kept --at 4": Entry("Finished: tictactoe in runs/kept-at-4"),
    "checkpoint runs/kept good": Entry("Kept iteration 6 as good"),
    "checkpoint runs/kept": Entry("2, 4, 6, good"),
    "resume runs/kept --at good --iterations 8 --set learning.learning_rate=5e-4": Entry(
        "Finished: tictactoe in runs/kept-at-good"
    ),
    '.venv/bin/pip install ".[export]"': Entry("export = ["),
    "export runs/tictactoe-demo tictactoe.onnx": Entry("planes [N, 2, 3, 3] float32"),
    "export connect4 connect4.onnx": Entry("policy [N, 7] logits"),
    "export runs/tictactoe-demo tictactoe.safetensors --half": Entry("in tictactoe.safetensors"),
    "doctor runs/tictactoe-demo": Entry("too short to judge"),
    "doctor runs/tictactoe-demo --quick": Entry("too short to judge"),
    "doctor runs/tictactoe-demo --json": Entry('"findings": [{"name": "too-short"'),
    "watch runs/tictactoe-demo": Entry("elapsed"),
    "watch runs/tictactoe-demo --once": Entry("useful"),
    '.venv/bin/pip install ".[plot]"': Entry("plot = ["),
    "plot runs/tictactoe-demo --out demo.png": Entry("loss, speed in demo.png"),
    "plot runs/tictactoe-demo runs/kept --out compared.svg --x games --what loss,speed": Entry(
        "loss, speed in compared.svg"
    ),
    '.venv/bin/pip install ".[tensorboard]"': Entry("tensorboard = ["),
    "train tictactoe --run runs/tracked --log tensorboard": Entry(
        "Finished: tictactoe in runs/tracked", TINY
    ),
    "train connect4 --set selfplay.games=64 --set learning.accumulate=4": Entry(
        "Finished: connect4", TINY
    ),
    "train tictactoe --devices cpu --run runs/repeatable --set run.minutes=0 "
    "--set run.iterations=20 --set run.inference=float32 --set learning.precision=float32": Entry(
        "Finished: tictactoe in runs/repeatable", TINY
    ),
    "train tictactoe --run runs/wide --set net.width=64 --set search.considered=8": Entry(
        "Finished: tictactoe in runs/wide", TINY
    ),
    "train tictactoe --init runs/tictactoe-demo --run runs/finer "
    "--set learning.learning_rate=5e-4": Entry("starting from runs/tictactoe-demo", TINY),
    "match runs/finer@0 runs/finer --games 20 --opening-plies 2": Entry("Elo", "--games 4"),
    "match runs/finer+runs/tictactoe-demo runs/tictactoe-demo --games 20 --opening-plies 2": Entry(
        "Elo", "--games 4"
    ),
    "train tictactoe --init runs/tictactoe-demo --run runs/deeper "
    "--set net.depth=4 --set learning.freeze=stem,blocks.0": Entry(
        "new: blocks.1, blocks.2, blocks.3", f"{TINY} --set net.depth=4"
    ),
    "train tictactoe --ensemble 2 --run runs/pair": Entry("Finished: tictactoe in runs/pair", TINY),
    "match runs/pair runs/tictactoe-demo --games 20 --opening-plies 2": Entry("Elo", "--games 4"),
    "match minimax:4 minimax:3 --game connect4 --games 200 --jsonl games.jsonl": Entry(
        "Elo", "--games 4"
    ),
    "train connect4 --games games.jsonl --run runs/taught": Entry("note: read 4 games", TINY),
    '.venv/bin/pip install ".[tune]"': Entry("tune = ["),
    "tune tictactoe --trials 20 --minutes 1": Entry("1 of 1 trials", TUNED),
    "tune tictactoe --study runs/parallel --trials 20 --minutes 1 --workers 2": Entry(
        "1 of 1 trials in runs/parallel", TUNED
    ),
    "tune tictactoe --study runs/rates --trials 9 --minutes 1 "
    '--space "learning.learning_rate=1e-4..1e-2:log" --space "search.considered=4|8"': Entry(
        "1 of 1 trials in runs/rates", TUNED
    ),
    "train tictactoe --run runs/spiking --set net.kind=spiking": Entry(
        "Finished: tictactoe in runs/spiking", TINY
    ),
    "eval runs/spiking": Entry("spikes per evaluation", "--simulations 0"),
    "plan tictactoe --minutes 1": Entry("net.width"),
    "train tictactoe --plan --minutes 1 --run runs/planned": Entry(
        "Finished: tictactoe in runs/planned", TINY
    ),
    "recipes": Entry("connect4-laptop"),
    "recipes connect4-laptop": Entry('"simulations"'),
    "games": Entry("connect4"),
    "games export runs/tictactoe-demo --jsonl selfplay.jsonl --games 50": Entry(
        "games in selfplay.jsonl"
    ),
    "games new gomoku": Entry("gomoku.py has the rules of a small game"),
    "games check hexapawn.py": Entry("read as they are written"),
    "train hexapawn.py --minutes 1": Entry("Finished: hexapawn in runs/hexapawn-1", TINY),
    "train hexapawn.py --run runs/hexapawn --minutes 1": Entry("Finished: hexapawn", TINY),
    "eval runs/hexapawn": Entry("minimax:2", "--simulations 0"),
    "play runs/hexapawn --first it": Entry("hexapawn plays", typed="quit\n"),
    "eval runs/connect4-1 --simulations 0,100": Entry("begin-hard", "--simulations 0"),
    "scale runs/connect4-1 --actors 4": Entry("is not training; to continue it with"),
    "train connect4 --actors 2": Entry("Finished: connect4 in runs/connect4-", TINY),
    "play connect4": Entry("connect4 network plays", "--simulations 2", typed="4\nquit\n"),
    "eval connect4 --simulations 0": Entry("begin-hard"),
    "train chess": Entry("Finished: chess in runs/chess-1", SHORT),
    "play chess": Entry("chess network plays", "--simulations 2", typed="e4\nquit\n"),
    "train chess:history=3": Entry("chess:history=3 in runs/chess-history-3-1", SHORT),
    "match runs/chess-1:16 minimax:1 --games 20 --pgn match.pgn": Entry("Elo", "--games 2"),
    "games export runs/chess-1 --pgn selfplay.pgn --games 50": Entry("games in selfplay.pgn"),
    '.venv/bin/pip install ".[cuda]"': Entry("cuda = ["),
    "train connect4 --set learning.method=distributed --set learning.workers=2": Entry(
        "2 trainers sharing every batch", TINY
    ),
    "train connect4 --set learning.method=data_parallel --set learning.workers=2 "
    "--set learning.sync_every=8": Entry("Finished: connect4", TINY),
    "train connect4 --set learning.method=distributed --set learning.workers=2 "
    "--set replay.sharding=split": Entry("each holds its part of the replay window", TINY),
    "train connect4 --set learning.method=pipeline --set learning.workers=2 "
    "--set learning.accumulate=4": Entry("Finished: connect4", TINY),
    "train connect4 --cluster 10.0.0.1:6379": Entry("Ray at 10.0.0.1:6379", TINY),
    "resume runs/connect4-1 --cluster 10.0.0.1:6379": Entry("Ray at 10.0.0.1:6379"),
    '.venv/bin/pip install ".[web]"': Entry("web = ["),
    "serve runs": Entry("The web app is at http://127.0.0.1:", "--no-browser --port 0"),
    "serve runs --host 0.0.0.0": Entry("/?token=", "--no-browser --port 0"),
    "train connect4 --devices cuda:0": Entry("Finished: connect4 in runs/connect4-", TINY),
    "eval runs/connect4-1 --simulations 0,100,800 --devices cuda:0": Entry("begin-hard"),
    '.venv/bin/pip install ".[openspiel]"': Entry("openspiel = ["),
    "games check openspiel:tic_tac_toe": Entry("read as they are written"),
    "train openspiel:tic_tac_toe --minutes 1": Entry("run on the CPU only", TINY),
    "match runs/openspiel-tic_tac_toe-1 random --games 20": Entry("Elo", "--games 4"),
    "play openspiel:tic_tac_toe": Entry("minimax:4 plays", typed="x(1,1)\nquit\n"),
}


def blocks(page: str, language: str) -> list[str]:
    """Return the fenced blocks of `language` on a page, in their order."""
    text = (ROOT / page).read_text(encoding="ascii")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


ENVIRONMENT = ("export ", "ray ", "pip install ", "source ")
"""Lines that prepare a terminal, or the machines of a cluster."""


def shell_lines() -> list[str]:
    """Return the lines of all shell blocks of all pages."""
    shell = "".join(block for page in PAGES for block in blocks(page, "sh"))
    return re.sub(r"\s*\\\n\s*", " ", shell).splitlines()


def commands() -> list[str]:
    """Return every command of every page once, in the order of the pages."""
    lines = [line for line in shell_lines() if not line.startswith(ENVIRONMENT)]
    return list(dict.fromkeys(ROOKERY.sub(r"\1", line) for line in lines if line.strip()))


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder after the demo that contains hexapawn.py; commands add runs to it."""
    folder = tmp_path_factory.mktemp("newcomer")
    (folder / "hexapawn.py").write_text(blocks("docs/own-game.md", "python")[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("COLUMNS", "100")
        assert run(shlex.split(f"{DEMO} {TINY}")) == 0
        yield folder


def test_every_command_has_an_entry_and_every_entry_a_command() -> None:
    assert set(commands()) == set(COMMANDS)


def test_ray_has_the_options_of_the_docs() -> None:
    import ray.scripts.scripts as scripts

    started = [line for line in shell_lines() if line.startswith("ray start ")]
    known = {name for option in scripts.start.params for name in option.opts}
    assert len(started) == 2
    for line in started:
        assert {word.split("=")[0] for word in line.split() if word.startswith("--")} <= known
    assert "generate" in {option.name for option in scripts.get_auth_token.params}


SLOW = (
    "train chess:history=3",  # its kernels are compiled for this command alone
    "resume runs/connect4-1 --cluster 10.0.0.1:6379",
    "eval connect4 --simulations 0",  # tests/interface/test_measuring.py
    *(name for name in COMMANDS if "data_parallel" in name or "=pipeline" in name),
)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=pytest.mark.slow) if command in SLOW else command
        for command in commands()
    ],
)
def test_command_works(
    command: str,
    newcomer: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert command in COMMANDS, f"{command!r} is run by no test; give it an entry in COMMANDS"
    entry = COMMANDS[command]
    if command.startswith("make "):
        words = ["make", "--dry-run", "--always-make", *command.split()[1:]]
        made = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
        assert made.returncode == 0 and entry.prints in made.stdout, made
        return
    if command.startswith(".venv/bin/pip install "):
        assert entry.prints in (ROOT / "pyproject.toml").read_text()
        return
    typist, _, typed_words = command.rpartition("| ")
    typed = subprocess.check_output(typist, shell=True, text=True) if typist else entry.typed
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    if command.startswith("serve "):  # it would serve until Ctrl-C
        monkeypatch.setattr("uvicorn.Server.run", lambda server, sockets: None)
    code = run(shlex.split(f"{typed_words} {entry.options}"))
    captured = capfd.readouterr()
    if "cuda:0" in command and find_device("auto").type == "cpu":
        assert code == 2 and "cuda:0 cannot be used" in captured.err
        return
    if "--cluster" in command:
        assert code == 2 and entry.prints in captured.err
        return
    if command.startswith("scale "):  # its run has finished
        assert code == 2 and entry.prints in captured.err
        return
    assert code == 0 and entry.prints in captured.out, captured


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_python_in_the_readme_works(
    page: str, newcomer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for snippet in blocks(page, "python"):
        exec(compile(snippet, page, "exec"), {"__name__": "readme"})
    assert re.search(r"7 8 O\nplays \d with value -?[01]", capsys.readouterr().out)


def test_python_of_an_exported_net_works(
    newcomer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not Path("connect4.onnx").exists():
        assert run(["export", "connect4", "connect4.onnx"]) == 0
    (snippet,) = blocks("docs/export.md", "python")
    exec(compile(snippet, "docs/export.md", "exec"), {"__name__": "export"})
    assert blocks("docs/export.md", "text")[0] in capsys.readouterr().out


def test_python_of_the_doctor_works(newcomer: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (snippet,) = blocks("docs/doctor.md", "python")
    exec(compile(snippet, "docs/doctor.md", "exec"), {"__name__": "doctor"})
    assert "note too-short" in capsys.readouterr().out


def test_the_game_of_the_docs_is_short_and_keeps_the_contract(newcomer: Path) -> None:
    assert len((newcomer / "hexapawn.py").read_text().splitlines()) < 100
    findings = check_game(load_game(str(newcomer / "hexapawn.py")), games=10)
    assert all(finding.passed and not finding.is_warning for finding in findings), findings


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *LINKED])
def test_links_lead_to_files_and_headings(page: str) -> None:
    here = ROOT / page
    for link in re.findall(r"\]\(([^):]+)\)", here.read_text(encoding="ascii")):
        name, _, anchor = link.partition("#")
        target = here.parent / name if name else here
        assert target.exists(), f"{page} links to {link}"
        assert not anchor or anchor in headings(target), f"{page} links to {link}"


def headings(page: Path) -> list[str]:
    """Return the anchors of a page's headings, as GitHub writes them."""
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="ascii"), re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in found]


def test_the_package_map_has_every_package() -> None:
    mapped = re.findall(r"^\| `(\w+)` \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    packages = {path.parent.name for path in (ROOT / "src/rookery").glob("*/__init__.py")}
    assert set(mapped) == packages
