"""Count the lines of the ten tasks: what a user writes, with the files that a script needs.

A line counts if it has code: blank lines, comments and docstrings do not. All scripts are
formatted at 100 columns, the Python ones by ruff. A file that several scripts need counts in each
of them, and once in the sum of all ten.
"""

import ast
import re
from pathlib import Path

FOLDER = Path(__file__).parent
LIBRARIES = {
    "rookery": "Rookery",
    "mctx_pgx": "mctx + pgx",
    "alphazero_jl": "AlphaZero.jl",
    "open_spiel": "OpenSpiel",
    "alpha_zero_general": "alpha-zero-general",
}
TASKS = {
    "load_net": "load a net, get a move",
    "batch_search": "batch search",
    "own_evaluator": "own evaluator",
    "own_net": "own net",
    "own_game": "own game",
    "train": "train",
    "resume": "resume",
    "match": "match",
    "plot": "plot",
    "export": "export",
}
NOT_OFFERED = "Not offered:"
"""How a script says that its library has no such thing; it then does what is reasonable."""


def script(library: str, task: str) -> Path:
    """Return the script of a task."""
    suffix = ".jl" if library == "alphazero_jl" else ".py"
    return FOLDER / library / f"{task}{suffix}"


def is_offered(library: str, task: str) -> bool:
    """Return whether the library offers what the task asks for."""
    return NOT_OFFERED not in script(library, task).read_text("utf-8")


def lines_of_task(library: str, task: str) -> int:
    """Return the lines of a script and of the files in its folder that it needs."""
    return sum(map(count_lines, needed_files(script(library, task))))


def lines_of_all(library: str) -> int:
    """Return the lines of all ten tasks, with each file counted once."""
    files = {file for task in TASKS for file in needed_files(script(library, task))}
    return sum(map(count_lines, files))


def needed_files(path: Path) -> set[Path]:
    """Return a file and those of its folder that it imports, includes or names, and so on."""
    found, new = set[Path](), {path}
    while new:
        found |= new
        new = {other for file in new for other in _next_files(file)} - found
    return found


def _next_files(path: Path) -> set[Path]:
    text = path.read_text("utf-8")
    if path.suffix == ".jl":
        names = set(re.findall(r'include\("(.+?)"\)', text))
    else:
        names = {f"{name}.py" for name in _imported(text)} | _named(text)
    return {path.with_name(name) for name in names if path.with_name(name).is_file()}


def _imported(text: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(text)))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


def _named(text: str) -> set[str]:
    """Return the strings that are names of Python files, such as rules."""
    strings = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
    return {text for text in strings if isinstance(text, str) and re.fullmatch(r"\w+\.py", text)}


def count_lines(path: Path) -> int:
    """Return the lines of a file that have code."""
    text = path.read_text("utf-8")
    lines = text.splitlines()
    skipped = set[int]() if path.suffix == ".jl" else _docstring_lines(text)
    kept = (line.strip() for number, line in enumerate(lines, 1) if number not in skipped)
    return sum(bool(line) and not line.startswith("#") for line in kept)


def _docstring_lines(text: str) -> set[int]:
    found = set[int]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            first = node.body[0]
            found.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return found
