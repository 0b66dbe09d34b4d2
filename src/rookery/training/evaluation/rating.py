"""Ratings by evaluation workers: rounds of games, in which later opponents follow the estimate."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from rookery.arena import (
    Ladder,
    MatchPlan,
    Opening,
    PairResults,
    Rating,
    RatingCallback,
    RatingPlan,
    RatingReport,
    count_pairs,
    default_plies,
    fit_ladder,
    has_book,
    named_player,
    neighbours,
    rate_player,
)
from rookery.base import ConfigError, DiskFull, RunFolderError, available_cores
from rookery.games import Game
from rookery.nets import pack
from rookery.training.elo import (
    EloHistory,
    EloMeasurement,
    anchors_for,
    count_results,
    plan_pairs,
    read_measurements,
)
from rookery.training.evaluation.player_spec import PlayerSpec
from rookery.training.evaluation.pool import (
    Evaluate,
    OnNote,
    evaluate,
    evaluating,
    resolve,
)
from rookery.training.evaluation.tasks import MatchTask, PairsTask, one_thread_for_nets, source_of
from rookery.training.store.folder import RunFolder
from rookery.training.store.stats import Stats

PAIRS_PER_PART = 4
"""Pairs that a worker plays in lockstep on the CPU."""
MIN_PARTS = 4
"""Parts of a round from which on workers save time."""


def rate_over(
    game: Game,
    player: PlayerSpec,
    ladder: Ladder,
    *,
    plan: RatingPlan,
    workers: int | None,
    on_note: OnNote,
    cluster: str = "",
    devices: Sequence[str] = (),
    callback: RatingCallback | None = None,
) -> RatingReport:
    """Rate a player on a ladder; workers, cluster and devices are those of `play_match_over`.

    With workers the games in flight form a round, and the next round starts when all have ended.
    After a KeyboardInterrupt the report covers the finished rounds; without any, it is raised.
    """
    ladder.check(game)
    if not cluster and not (workers if workers is not None else _worthwhile(player, plan)):
        rated = resolve(player, game, on_note).player(game, seed=plan.seed)
        return rate_player(game, rated, ladder, plan=plan, callback=callback)
    with one_thread_for_nets():
        player = resolve(player, game, on_note)
        size = PAIRS_PER_PART
        if player.is_on_gpu():
            size = ceil(plan.pairs_in_flight / max(1, len(devices)))
        most = ceil(plan.pairs_in_flight / size)
        rating = Rating(game, player.player(game, seed=0).name, ladder, plan)
        task = PairsTask(
            source_of(game),
            player,
            tuple(PlayerSpec("plain", name=name) for name in ladder.players),
            pairs=(),
            seed=plan.seed,
            part_size=size,
            digest=game.digest,
        )
        try:
            count = available_cores() if workers is None and not cluster else workers
            with evaluating(
                count, most, on_note=on_note, cluster=cluster, devices=devices
            ) as evaluate_all:
                while pairs := _next_round(rating, plan.pairs_in_flight):
                    task = replace(task, pairs=pairs, seed=plan.seed + len(rating.finished))
                    rating.add(task.combine(evaluate_all([task])[0]))
                    if callback:
                        callback(2 * len(rating.finished), rating.estimate())
        except KeyboardInterrupt:
            if not rating.finished:
                raise
            return rating.report(was_interrupted=True)
        return rating.report()


def measure_ladder(
    game: Game,
    players: Sequence[str],
    *,
    games: int,
    seed: int,
    workers: int | None,
    on_note: OnNote,
    cluster: str = "",
) -> Ladder:
    """Return a ladder of players, the weakest first, rated by matches between neighbours."""
    if len(set(players)) < max(2, len(players)):
        raise ConfigError(
            f"a ladder has at least two different players, got {','.join(players)}; give others "
            "with --rungs random,minimax:1"
        )
    for name in players:
        named_player(name, game, seed=0)
    on_note(f"{game.name} has no ladder; rating {', '.join(players)} first")
    results = play_neighbours(
        game,
        players,
        games=games,
        seed=seed,
        workers=workers,
        on_note=on_note,
        cluster=cluster,
    )
    return fit_ladder(game.name, game, results)


def play_neighbours(
    game: Game,
    players: Sequence[str],
    *,
    games: int,
    seed: int,
    workers: int | None,
    on_note: OnNote,
    cluster: str = "",
) -> list[PairResults]:
    """Return the results of matches of `games` between each player and the next two."""
    matches = neighbours(players)
    tasks = [
        MatchTask(
            source_of(game),
            MatchPlan(games, seed + number, default_plies(game), book=has_book(game)),
            PlayerSpec("plain", name=a),
            PlayerSpec("plain", name=b),
            digest=game.digest,
        )
        for number, (a, b) in enumerate(matches)
    ]
    found = evaluate(tasks, workers=workers, on_note=on_note, cluster=cluster)
    return [
        PairResults(*match, count_pairs(task.combine(results).games))
        for match, task, results in zip(matches, tasks, found, strict=True)
    ]


def _next_round(rating: Rating, size: int) -> tuple[tuple[int, Opening], ...]:
    pairs: list[tuple[int, Opening]] = []
    while len(pairs) < size and (pair := rating.start_pair()):
        pairs.append(pair)
    return tuple(pairs)


def _worthwhile(player: PlayerSpec, plan: RatingPlan) -> bool:
    """Return whether workers save time: the games of a network fill several of them."""
    parts = plan.pairs_in_flight / PAIRS_PER_PART
    return player.kind == "net" and parts >= MIN_PARTS and available_cores() > 1


HISTORY_FILE = "elo.jsonl"


def rate_history(
    folder: RunFolder,
    *,
    points: int,
    games: int,
    simulations: int,
    workers: int | None,
    on_note: OnNote,
    cluster: str = "",
    devices: Sequence[str] = ("cpu",),
) -> EloHistory:
    """Return the Elo history of a run, in which `points` networks have at least `games` games.

    Games that the run or an earlier call has played count. The others are played now, and are kept
    in the run folder.
    """
    rating = _HistoryRating(folder, simulations, on_note)
    chosen = spread(folder.stored_weights(), points)
    if not chosen:
        raise RunFolderError(f"{folder.path} has no weights yet; let it train a little longer")
    if all(rating.history.games(iteration) >= games for iteration in chosen):
        return rating.history
    with one_thread_for_nets():
        player = resolve(rating.player(chosen[-1], devices=devices[0]), folder.game, on_note)
        size = ceil(games / 4) if player.is_on_gpu() else 2 * PAIRS_PER_PART
        most = len(chosen) * ceil(games / 4 / size)
        with evaluating(
            workers, most, on_note=on_note, cluster=cluster, devices=devices
        ) as evaluate_all:
            # First against all anchors and neighbours, then against those of similar strength.
            for share in (2, 1):
                rating.play_round(chosen, games // share, player, size, evaluate_all)
    return rating.history


def spread(numbers: Sequence[int], count: int) -> list[int]:
    """Return at most `count` of the numbers, evenly spaced, the first and the last included."""
    if len(numbers) <= count:
        return list(numbers)
    steps = max(1, count - 1)
    return sorted({numbers[-1 - step * (len(numbers) - 1) // steps] for step in range(count)})


class _HistoryRating:
    """The games between the stored networks of a run: those that were played, and new ones."""

    def __init__(self, folder: RunFolder, simulations: int, on_note: OnNote) -> None:
        self._folder, self._on_note = folder, on_note
        self._kept = Stats(folder.path, HISTORY_FILE)
        self._fingerprints: dict[int, str] = {}
        self.history = EloHistory(anchors_for(folder.game, folder.config.run), simulations)
        self.history.add(read_measurements(Stats(folder.path).lines()))
        kept = read_measurements(self._kept.lines())
        self.history.add(each for each in kept if self._is_of_these_weights(each))

    def player(self, iteration: int, *, devices: str = "", inference: str = "") -> PlayerSpec:
        """Return a player with the network of an iteration."""
        weights, config = self._folder.load_weights(iteration), self._folder.config
        self._fingerprints[iteration] = weights.fingerprint
        return PlayerSpec(
            "net",
            name=str(iteration),
            simulations=self.history.simulations,
            search=config.search,
            weights=pack(weights.state, weights.header),
            inference=inference or config.run.exact_inference,
            devices=devices,
        )

    def play_round(
        self,
        chosen: Sequence[int],
        games: int,
        like: PlayerSpec,
        size: int,
        evaluate_all: Evaluate,
    ) -> None:
        """Let each of the chosen networks play until it has `games` games; evaluate as `like`."""
        names, tasks = [], []
        for place, iteration in enumerate(chosen):
            pairs = -(-(games - self.history.games(iteration)) // 2)
            if pairs > 0:
                opponents = self._opponents(chosen, place)
                names.append((iteration, opponents))
                tasks.append(self._task(iteration, opponents, pairs, like, size))
        for (iteration, opponents), task, results in zip(
            names, tasks, evaluate_all(tasks), strict=True
        ):
            self._add(iteration, count_results(opponents, task.combine(results)))

    def _opponents(self, chosen: Sequence[int], place: int) -> list[str]:
        iteration = chosen[place]
        if iteration in self.history.ratings():
            return self.history.opponents(iteration, chosen)
        before = {chosen[place - 1], chosen[place // 2]} if place else set()
        return [*map(str, sorted(before)), *self.history.anchors]

    def _task(
        self, iteration: int, opponents: Sequence[str], pairs: int, like: PlayerSpec, size: int
    ) -> PairsTask:
        game = self._folder.game
        seed = self._folder.config.run.seed % 2**32 + 1000 * iteration + pairs
        return PairsTask(
            source_of(game),
            self._player_like(str(iteration), like),
            tuple(self._player_like(name, like) for name in opponents),
            plan_pairs(game, opponents, pairs, seed=seed),
            seed=seed,
            part_size=size,
            digest=game.digest,
        )

    def _player_like(self, name: str, like: PlayerSpec) -> PlayerSpec:
        if not name.isdecimal():
            return PlayerSpec("plain", name=name)
        return self.player(int(name), devices=like.devices, inference=like.inference)

    def _add(self, iteration: int, results: dict[str, list[int]]) -> None:
        """Add games to the history and to the file; print a note if it cannot be written."""
        numbers = [iteration, *(int(name) for name in results if name.isdecimal())]
        measurement = EloMeasurement(
            iteration,
            self.history.simulations,
            dict(self.history.anchors),
            results,
            fingerprints={str(number): self._fingerprints[number] for number in numbers},
        )
        self.history.add([measurement])
        try:
            fields = {name: each for name, each in vars(measurement).items() if name != "iteration"}
            self._kept.append("elo", iteration, **fields)
        except (OSError, DiskFull) as error:
            self._on_note(f"the games are not kept: {error}")

    def _is_of_these_weights(self, measurement: EloMeasurement) -> bool:
        """Whether the networks of a measurement are still those in the run folder."""
        stored = set(self._folder.stored_weights())
        return all(
            int(name) in stored and self._fingerprint(int(name)) == fingerprint
            for name, fingerprint in measurement.fingerprints.items()
        )

    def _fingerprint(self, iteration: int) -> str:
        if iteration not in self._fingerprints:
            self._fingerprints[iteration] = self._folder.load_weights(iteration).fingerprint
        return self._fingerprints[iteration]
