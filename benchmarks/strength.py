"""Settings compared by the strength they reach in the same time, over several seeds.

    python benchmarks/strength.py connect4 --minutes 2 --devices cuda:0 --seeds 1,2,3 \
        --variant recipe --variant "fast: learning.learning_rate=0.003 learning.final_rate=0.02"

A variant is a name and settings that replace those of the recipe. The word --plan among them takes
the settings of `rookery plan`, whose time is taken off the minutes of the run:

    python benchmarks/strength.py connect4 --minutes 5 --seeds 1,2,3 \
        --variant recipe --variant "planned: --plan"

Variants take turns, seed after seed, so that a machine that changes its speed disturbs all alike. A
short run before the first one compiles what all of them need. A run of RUNS that was measured is
not run again, and no run begins that would not end within `--within` minutes: the comparison can be
made in several parts. The first variant is what the others are compared with.

Prints one row per run, then one per variant: the mean of its seeds and its difference from the
first variant, each with a 95 % interval. Intervals use the spread between the seeds of a variant,
pooled over all variants. Connect Four: moves that lose game value, in percent, all positions and
the worst group. Other games: the share of the points in a match against `--against`.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import NormalDist, fmean
from typing import Any

from heading import print_heading, print_table

MEASURING_SECONDS = 40
"""What starting, and measuring after the run, may take besides the minutes of a run."""
PLAN = "--plan"
"""The word of a variant that is planned."""
MIN_FREEDOM = 3
"""With fewer degrees of freedom an interval says nothing."""
Figures = dict[str, float]


@dataclass(frozen=True)
class Variant:
    """A name and the settings that replace those of the recipe."""

    name: str
    settings: tuple[str, ...]
    is_planned: bool = False

    @classmethod
    def read(cls, text: str) -> "Variant":
        """Read "NAME: SETTING=VALUE SETTING=VALUE", with --plan if it is planned."""
        name, _, words = text.partition(":")
        settings = tuple(word for word in words.split() if word != PLAN)
        return cls(name.strip(), settings, PLAN in words.split())


def rookery(*words: str, log: Path | None = None) -> str:
    """Run a command of Rookery and return its output; end with its error if it fails."""
    command = [sys.executable, "-m", "rookery", *words]
    ran = subprocess.run(command, capture_output=True, text=True)
    if log:
        log.write_text(ran.stdout + ran.stderr)
    if ran.returncode:
        raise SystemExit(f"{' '.join(words)}: {ran.stderr.strip()[-500:]}")
    return ran.stdout


def run_path(options: argparse.Namespace, variant: Variant, seed: int) -> Path:
    """Return the folder of a run, beside which its figures are kept."""
    return Path(options.runs) / f"{variant.name.replace(' ', '-')}-{seed}"


def measured(options: argparse.Namespace, variant: Variant, seed: int) -> Figures:
    """Train one run and return the figures of its network."""
    path = run_path(options, variant, seed)
    kept = path.with_suffix(".json")
    if kept.exists():
        return dict(json.loads(kept.read_text()))
    planned, minutes = plan(options) if variant.is_planned else ((), options.minutes)
    settings = (*planned, *options.set, *variant.settings, f"run.seed={seed}")
    chosen = [word for setting in settings for word in ("--set", setting)]
    words = ["--run", str(path), "--minutes", str(minutes)]
    devices = ["--devices", options.devices]
    rookery("train", options.game, *words, *devices, *chosen, log=path.with_suffix(".log"))
    found = _match(options, path) if options.against else _errors(options, path)
    kept.write_text(json.dumps(found))
    return found


def compile_kernels(options: argparse.Namespace) -> None:
    """Train, rate and measure one iteration, so that no run of the comparison has to compile."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "compiling"
        settings = (*options.set, "run.iterations=1", "run.strength_every=1")
        chosen = [word for setting in settings for word in ("--set", setting)]
        rookery("train", options.game, "--run", str(path), "--devices", options.devices, *chosen)


def plan(options: argparse.Namespace) -> tuple[tuple[str, ...], float]:
    """Return the settings that `rookery plan` proposes, and the minutes that are left to train."""
    begun = time.monotonic()
    words = ("--minutes", str(options.minutes), "--devices", options.devices, "--json")
    choices = json.loads(rookery("plan", options.game, *words))["choices"]
    left = options.minutes - (time.monotonic() - begun) / 60
    if left <= 0:
        raise SystemExit(f"planning took all of the {options.minutes:g} minutes; give more")
    return tuple(f"{choice['name']}={choice['value']}" for choice in choices), left


def _errors(options: argparse.Namespace, path: Path) -> Figures:
    devices = ("--devices", options.devices)
    answer = rookery("eval", str(path), "--simulations", options.simulations, *devices, "--json")
    figures: Figures = {}
    for simulations, table in json.loads(answer)["strength"].items():
        *groups, everything = (row["errors"]["percent"] for row in table["rows"])
        figures[f"errors, {simulations}"] = everything
        figures[f"worst group, {simulations}"] = max(groups)
    return figures


def _match(options: argparse.Namespace, path: Path) -> Figures:
    figures: Figures = {}
    for simulations in options.simulations.split(","):
        players = (f"{path}:{simulations}", options.against)
        words = ("--games", str(options.games), "--devices", options.devices, "--json")
        found: dict[str, Any] = json.loads(rookery("match", *players, *words))
        figures[f"points, {simulations}"] = 100 * found["difference"]["score"]
    return figures


def t_quantile(freedom: int, share: float = 0.975) -> float:
    """Return Student's quantile by the expansion of Cornish and Fisher (0.2 % off from 6 on)."""
    z = NormalDist().inv_cdf(share)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


@dataclass(frozen=True)
class Comparison:
    """The means of a figure by variant, with the spread between seeds of the same variant."""

    samples: dict[str, list[float]]

    def spread(self) -> float:
        """Return the standard deviation between seeds, pooled over all variants."""
        squares = sum((x - fmean(xs)) ** 2 for xs in self.samples.values() for x in xs)
        return sqrt(squares / self.freedom())

    def freedom(self) -> int:
        """Return how many values the spread is estimated from."""
        return sum(len(xs) - 1 for xs in self.samples.values())

    def mean(self, name: str) -> str:
        """Return the mean of a variant with its 95 % interval."""
        return self._with_interval(f"{fmean(self.samples[name]):.2f}", 1 / len(self.samples[name]))

    def difference(self, name: str) -> str:
        """Return the difference from the first variant with its 95 % interval."""
        first = next(iter(self.samples.values()))
        xs = self.samples[name]
        if xs is first:
            return "-"
        return self._with_interval(f"{fmean(xs) - fmean(first):+.2f}", 1 / len(xs) + 1 / len(first))

    def _with_interval(self, text: str, variance: float) -> str:
        if self.freedom() < MIN_FREEDOM:
            return text
        return f"{text} ± {t_quantile(self.freedom()) * self.spread() * sqrt(variance):.2f}"


def in_turns(variants: Sequence[Variant], seeds: Sequence[int]) -> Iterator[tuple[Variant, int]]:
    """Return all runs, seed after seed, each time with another variant first."""
    for turn, seed in enumerate(seeds):
        for n in range(len(variants)):
            yield variants[(n + turn) % len(variants)], seed


def read_options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game")
    parser.add_argument("--variant", type=Variant.read, action="append", required=True)
    parser.add_argument("--set", action="append", default=[], help="a setting of all variants")
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--devices", default="cpu")
    parser.add_argument("--simulations", default="0,32,100")
    parser.add_argument("--against", help="player of a match, instead of solved positions")
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--within", type=float, help="minutes after which no run may end")
    parser.add_argument("--runs", type=Path, default=Path("runs") / "strength")
    return parser.parse_args()


def main() -> None:
    options = read_options()
    options.runs.mkdir(parents=True, exist_ok=True)
    print_heading()
    started, found = time.monotonic(), dict[str, list[Figures]]()
    compile_kernels(options)
    for variant, seed in in_turns(options.variant, [int(s) for s in options.seeds.split(",")]):
        needed = (time.monotonic() - started + MEASURING_SECONDS) / 60 + options.minutes
        is_measured = run_path(options, variant, seed).with_suffix(".json").exists()
        if options.within and needed > options.within and not is_measured:
            print(f"{variant.name}, seed {seed}: not run, no time left", flush=True)
            continue
        figures = measured(options, variant, seed)
        words = ", ".join(f"{name}: {value:.2f}" for name, value in figures.items())
        print(f"{variant.name}, seed {seed}: {words}", flush=True)
        found.setdefault(variant.name, []).append(figures)
    if found:
        print()
        print_comparison({v.name: found[v.name] for v in options.variant if v.name in found})


def print_comparison(found: dict[str, list[Figures]]) -> None:
    """Print one row per figure and variant."""
    names = next(iter(found.values()))[0]
    rows = []
    for figure in names:
        each = Comparison({name: [run[figure] for run in runs] for name, runs in found.items()})
        for name, runs in found.items():
            rows.append([figure, name, str(len(runs)), each.mean(name), each.difference(name)])
    print_table(["figure", "variant", "seeds", "mean", "difference"], rows)


if __name__ == "__main__":
    main()
