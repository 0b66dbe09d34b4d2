"""Settings of the search compared by matches of one network against itself.

    python benchmarks/search_settings.py chess --simulations 200,800 --games 400 --devices cuda:0 \
        --variant recipe --variant "calmer: c_scale=0.2" --variant "puct: method=puct c_init=0.6"

A variant is a name and settings that replace those of the network's run. Every variant plays the
first one with equal simulations, and itself with half of them: Elo per doubling. Pairs of games
start from the same opening. Prints one row per match, with a 95 % interval.
"""

import argparse
from dataclasses import dataclass, fields, replace
from typing import Any

from heading import print_heading, print_table

from rookery.api import Net, load_net
from rookery.arena import (
    MatchReport,
    SearchPlayer,
    default_plies,
    draw_openings,
    has_book,
    play_part,
    report_match,
)
from rookery.search import SearchConfig


@dataclass(frozen=True)
class Variant:
    """A name and settings of the search."""

    name: str
    search: SearchConfig

    @classmethod
    def read(cls, text: str, base: SearchConfig) -> "Variant":
        """Read "NAME: SETTING=VALUE SETTING=VALUE"."""
        name, _, words = text.partition(":")
        kinds = {field.name: type(getattr(base, field.name)) for field in fields(base)}
        changes: dict[str, Any] = {}
        for word in words.split():
            setting, _, value = word.partition("=")
            kind = kinds[setting]
            changes[setting] = value == "true" if kind is bool else kind(value)
        return cls(name.strip(), replace(base, **changes))


def match(
    net: Net, a: tuple[Variant, int], b: tuple[Variant, int], *, games: int, seed: int
) -> MatchReport:
    """Play `games` games of two variants with their simulations."""
    game = net.game
    openings = draw_openings(
        game, games // 2, plies=default_plies(game), seed=seed, from_book=has_book(game)
    )
    one, other = (
        SearchPlayer(
            game,
            net.evaluator,
            config=variant.search,
            simulations=simulations,
            seed=seed + side,
            name=variant.name,
        )
        for side, (variant, simulations) in enumerate((a, b))
    )
    played = play_part(game, one, other, openings)
    return report_match(one.name, other.name, played=played)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("net", help="a network: the name of a game for the bundled one, or a run")
    parser.add_argument("--simulations", default="200")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--devices", default="cpu")
    parser.add_argument("--variant", action="append", required=True)
    parser.add_argument("--no-doublings", action="store_true")
    options = parser.parse_args()

    print_heading()
    net = load_net(options.net, devices=options.devices)
    variants = [Variant.read(text, net.search) for text in options.variant]
    rows: list[list[str]] = []

    def play(a: tuple[Variant, int], b: tuple[Variant, int], label: str) -> None:
        report = match(net, a, b, games=options.games, seed=options.seed)
        won, elo = report.total, report.elo
        counts = f"{won.wins}, {won.draws}, {won.losses}"
        interval = f"{elo.elo:+.0f} ({elo.low:+.0f} to {elo.high:+.0f})"
        rows.append([a[0].name, str(a[1]), label, counts, interval, str(report.distinct_games)])
        print(*rows[-1], sep="; ", flush=True)

    for simulations in map(int, options.simulations.split(",")):
        for variant in variants:
            if variant is not variants[0]:
                play((variant, simulations), (variants[0], simulations), variants[0].name)
            if not options.no_doublings:
                half = simulations // 2
                play((variant, simulations), (variant, half), f"itself with {half}")
    print_table(["variant", "simulations", "against", "won, drawn, lost", "Elo", "distinct"], rows)


if __name__ == "__main__":
    main()
