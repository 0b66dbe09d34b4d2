"""How the parts of a run are chosen and put together."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import torch
from torch import nn

from rookery.base import ConfigError, FileDamaged, RunFolderError, UnknownName
from rookery.games import is_cpu_only, quick_check
from rookery.gpu import data_device, find_devices, why_cpu
from rookery.learning import LearningConfig
from rookery.nets import (
    CpuEvaluator,
    GpuEvaluator,
    check_backend,
    count_parameters,
    is_int8_supported,
)
from rookery.replay import Rows, read_shard
from rookery.training.actors.meter import ActorMeter
from rookery.training.actors.pool import ActorPool
from rookery.training.compiling import Compilers, compile_in_background, drop_compilers
from rookery.training.config import Config
from rookery.training.fallbacks import Fallbacks
from rookery.training.loop import TrainingLoop
from rookery.training.measuring import LocalMeter
from rookery.training.overlap import LearningThread, is_overlapped, shared_threads
from rookery.training.parts import (
    backends_on,
    fallback_notes,
    learning_devices,
    new_evaluator,
    new_learner,
    new_window,
    self_player_with,
)
from rookery.training.progress import Progress, ProgressCallback
from rookery.training.roles import Learner, SelfPlay, StrengthMeter
from rookery.training.run import Run
from rookery.training.scaling import Scaler, plays_with_actors
from rookery.training.self_players import LocalSelfPlay
from rookery.training.store.checkpoint import NAME, Checkpoint, RunPosition
from rookery.training.store.folder import RunFolder
from rookery.training.store.origin import new_net
from rookery.training.trainers.placement import TrainerPlacement
from rookery.training.trainers.pool import TrainerPool
from rookery.training.trainers.sizing import check_trainers, count_trainers
from rookery.workers import Cluster

PLAIN_BACKENDS = {"cpu": "float32", "mps": "mps-float32"}
ONLY_EVALUATES = "an Apple GPU only evaluates the network"


def train(folder: RunFolder, callback: ProgressCallback) -> Progress:
    """Train until the run's time or iterations are over, or `callback` raises Stopped."""
    with folder.lock(), open_loop(folder, callback) as loop:
        loop.train()
        return loop.run.shown


def check_hardware(config: Config) -> torch.device:
    """Return the device that learns; raise an error if settings and hardware do not fit."""
    devices = find_devices(config.run.devices)
    if devices[0].type != "cpu" and is_cpu_only(config.game):
        raise ConfigError(
            f"{config.game} cannot be trained on {devices[0]}: its rules run on the "
            "CPU only; use --devices cpu"
        )
    if note := why_cpu(config.run.devices):
        Fallbacks(config.run.fallback).take("device", note)
    check_trainers(config)
    backends = ("auto", "fastest", *backends_on(devices[0]))
    if config.run.inference not in backends:
        raise UnknownName(f"run.inference on {devices[0]}", config.run.inference, backends)
    check_backend(config.run.inference, config.net, devices[0])
    return data_device(devices[0])


@contextmanager
def open_loop(folder: RunFolder, callback: ProgressCallback) -> Iterator[TrainingLoop]:
    """Open a run, at its checkpoint if there is one; afterwards end its workers."""
    folder.make_folders()
    found = Checkpoint.load(folder.path)
    position = found.position if found else None
    run = Run(
        folder,
        callback,
        device=check_hardware(folder.config),
        iteration=position.iteration if position else 0,
        seconds=position.seconds if position else 0.0,
    )
    with ExitStack() as resources:
        resources.callback(run.close)
        if found is None:
            _check_beginning(run)
            _check_rules(run)
            if folder.given is not None:
                run.note(folder.given.note)
        loop = _Builder(run, position, resources).build()
        if found is not None:
            _check_games(run, found.position, loop.selfplay)
            _restore(loop, found)
        run.stats.forget_after(run.iteration)
        _record_start(loop, "resumed" if found else "started")
        yield loop


def _check_rules(run: Run) -> None:
    """Note what a quick check of a user's game finds, and where rules run; the run goes on."""
    game, failures = run.folder.game, quick_check(run.folder.game)
    if is_cpu_only(game.name):
        run.note(f"the rules of {game.name} run on the CPU only")
    for failure in failures:
        what = failure.message.partition("\n")[0]
        run.note(f"the rules of {game.name} fail the check of {failure.name}: {what}")
    if failures:
        run.note(f"the run may learn little; rookery games check {game.path} shows the whole check")
        run.show(run.shown.phase)


class _Builder:
    """Builds the parts of a run that stood at `position`, None at its beginning.

    Parts that have to be closed are handed to `resources`, which closes the last one first.
    """

    def __init__(self, run: Run, position: RunPosition | None, resources: ExitStack) -> None:
        self.run, self.game, self.device = run, run.folder.game, run.device
        self.play_device = find_devices(run.config.run.devices)[0]
        self.resources = resources
        self.rows_made = position.rows_made if position else 0
        config = run.config
        self.learning, self.backend = _as_before(config, position, self.play_device)
        self.config = replace(config, learning=self.learning)
        self.cluster = self._connect(config.run.cluster) if config.run.cluster else None
        self._compilers: Compilers | None = None

    def build(self) -> TrainingLoop:
        """Return the loop: who learns, who plays, who measures."""
        self._compile_in_background()
        if self.play_device != self.device:
            self.run.note(f"learning on the {self.device.type.upper()}: {ONLY_EVALUATES}")
        net = self._first_net()
        trainers = self._count_trainers(net) if self.learning.method != "single" else 0
        thread = self._learning_thread()
        learner = self._trainers(net, trainers) if trainers else self._learner(net)
        self._note_frozen(net)
        device = torch.device("cpu") if trainers else self.device
        window = new_window(self.game, self.config.replay, device)
        selfplay, meter = self._players(learner.play_net)
        scaler = Scaler(
            self.run,
            actors=selfplay if isinstance(selfplay, ActorPool) else None,
            trainers=learner if isinstance(learner, TrainerPool) else None,
        )
        parts = (self.run, selfplay, window, learner, meter)
        return TrainingLoop(*parts, thread=thread, scale=scaler.poll)

    def _learning_thread(self) -> LearningThread | None:
        """Return a thread that learns while this process plays, if both use the CPU."""
        if not is_overlapped(replace(self.config, learning=self.learning), self.device):
            return None
        thread = LearningThread(self.resources.enter_context(shared_threads()))
        self.resources.callback(thread.close)
        return thread

    def _compile_in_background(self) -> None:
        if plays_with_actors(self.config):  # which compile for themselves
            drop_compilers()
            return
        self._compilers = compile_in_background(self.game, self.config, self.play_device)
        if self._compilers:
            self.resources.enter_context(self._compilers)

    def _connect(self, address: str) -> Cluster:
        cluster = Cluster(address)
        self.resources.callback(cluster.close)
        return cluster

    def _first_net(self) -> nn.Module:
        net = new_net(self.config, self.game)
        if first := self.run.folder.first_weights():
            net.load_state_dict(dict(first.state))
            assert self.run.folder.origin is not None
            if note := self.run.folder.origin.note:
                self.run.note(note)
        return net.to(self.device)

    def _learner(self, net: nn.Module) -> Learner:
        return new_learner(
            self.game,
            net,
            self.learning,
            device=self.device,
            seed=self.config.run.seed,
            on_smaller_parts=self._note_parts,
        )

    def _count_trainers(self, net: nn.Module) -> int:
        """Return the number of trainers; 0 if a batch is too small to share."""
        devices = learning_devices(self.config.run.devices)
        try:
            return count_trainers(self.config, net, game=self.game, devices=devices)
        except ConfigError as error:
            self.run.fall_back("method", f"{error}; learning in one process")
        self.learning = replace(self.learning, method="single")
        return 0

    def _trainers(self, net: nn.Module, workers: int) -> Learner:
        devices = learning_devices(self.config.run.devices)
        placement = TrainerPlacement(devices, workers, self.cluster)
        trainers = TrainerPool(
            self.game,
            net,
            config=self.config,
            placement=placement,
            on_event=self.run.note_event,
            on_fallback=self.run.fall_back,
            on_smaller_parts=self._note_parts,
            shard_path=self.run.shard if self.cluster is None else None,
        )
        self.resources.callback(trainers.close)
        self.run.note(trainers.describe())
        return trainers

    def _note_frozen(self, net: nn.Module) -> None:
        if self.learning.frozen:
            parameters = sum(parameter.numel() for parameter in net.parameters())
            learning = f"{count_parameters(net):,} of {parameters:,} parameters learn"
            self.run.note(f"frozen: {', '.join(self.learning.frozen)}; {learning}")

    def _players(self, net: nn.Module) -> tuple[SelfPlay, StrengthMeter]:
        """Return self-play and what measures strength: in this process, or by actors."""
        run = self.config.run
        if plays_with_actors(self.config):
            return self._actors(net)
        evaluator = new_evaluator(
            self.game, self.config, net, device=self.play_device, backend=self.backend
        )
        if self._compilers and isinstance(evaluator, GpuEvaluator):
            self._compilers.wait()
        player = self_player_with(evaluator, self.game, self.config, seed=run.seed)
        self._note_backend(player.evaluator)
        self._adapt_games(player.games)
        selfplay = LocalSelfPlay(player, kind=self.device.type, moves=run.moves)
        return selfplay, LocalMeter(self.run, self.game, player.evaluator, self._rival_evaluator)

    def _actors(self, net: nn.Module) -> tuple[SelfPlay, StrengthMeter]:
        evaluator = new_evaluator(
            self.game, self.config, net, device=self.play_device, backend=self.backend
        )
        actors = ActorPool(
            self.game,
            self.config,
            choice=evaluator.choice,
            era=self.rows_made,
            on_event=self.run.note_event,
            cluster=self.cluster,
            is_over=lambda: self.run.progress() >= 1.0,
        )
        self._note_backend(evaluator)
        self.resources.callback(actors.close)
        return actors, ActorMeter(self.run, self.game, actors)

    def _note_backend(self, evaluator: CpuEvaluator | GpuEvaluator) -> None:
        for note in fallback_notes(evaluator):
            self.run.fall_back("inference", note)

    def _rival_evaluator(self, net: nn.Module) -> CpuEvaluator | GpuEvaluator:
        """Return an evaluator of an earlier network of the run, without measuring backends.

        Some would be compiled for it, which takes longer than a few games.
        """
        backend = PLAIN_BACKENDS.get(self.play_device.type, self.backend)
        return new_evaluator(self.game, self.config, net, device=self.play_device, backend=backend)

    def _adapt_games(self, games: int) -> None:
        asked = self.config.selfplay.games
        if games < asked:
            self.run.fall_back(
                "memory", f"{asked} games do not fit into the GPU's memory; continuing with {games}"
            )
            selfplay = replace(self.run.config.selfplay, games=games)
            self.run.folder.adapt(replace(self.run.config, selfplay=selfplay))

    def _note_parts(self, learning: LearningConfig) -> None:
        parts = learning.accumulate
        self.run.fall_back(
            "memory", f"a batch does not fit into the GPU's memory; learning in {parts} parts"
        )
        changed = replace(self.run.config.learning, accumulate=parts)
        self.run.folder.adapt(replace(self.run.config, learning=changed))


def _as_before(
    config: Config, position: RunPosition | None, device: torch.device
) -> tuple[LearningConfig, str]:
    """Return how to learn and to evaluate; what was measured on such a device is not again."""
    learning, backend = config.learning, config.run.inference
    if position is None or position.inference not in backends_on(device):
        return learning, backend
    if learning.precision == "auto":
        learning = replace(learning, precision=position.precision)
    is_exact = position.inference != "int8"
    may_round = backend == "fastest" and device.type == "cpu" and is_int8_supported()
    if backend in ("auto", "fastest") and (is_exact or may_round):
        backend = position.inference
    return learning, backend


def _check_beginning(run: Run) -> None:
    """Refuse a run that has lost its checkpoint: it would start from scratch."""
    kinds = {line["kind"] for line in run.stats.lines()}
    if kinds & {"resumed", "finished"} or run.folder.count_weights() > 1:
        raise RunFolderError(
            f"{run.folder.path} has lost its checkpoint; restore it from a copy, or start a "
            "new run with --init"
        )


def _check_games(run: Run, position: RunPosition, selfplay: SelfPlay) -> None:
    """Refuse games in progress that were played on another type of device."""
    kinds = {position.selfplay, selfplay.kind}
    if len(kinds) > 1 and "actors" not in kinds:
        where = "cuda:0" if position.selfplay == "cuda" else "cpu"
        raise RunFolderError(
            f"{run.folder.path} was trained on {position.selfplay}, and its games in progress "
            f"are stored for that; resume it with --devices {where}"
        )


def _restore(loop: TrainingLoop, found: Checkpoint) -> None:
    """Continue from a checkpoint; FileDamaged if its content does not fit the run."""
    shards = list(_read_shards(loop.run, found.position))
    try:
        loop.restore(found)
        loop.window.refill(shards, found.position.rows_made)
    except FileDamaged as error:
        raise FileDamaged(f"{loop.run.folder.path / NAME}: {error}") from error


def _read_shards(run: Run, position: RunPosition) -> Iterator[tuple[int, Rows]]:
    for number in position.shards:
        yield number, read_shard(run.shard(number), game=run.folder.game)


def _record_start(loop: TrainingLoop, kind: str) -> None:
    devices = loop.run.config.run.devices
    if note := why_cpu(devices):
        loop.run.fallbacks.take("device", note)
    loop.run.record_start(
        kind,
        device=str(loop.run.device),
        devices=list(map(str, find_devices(devices))),
        device_note=note,
        inference=loop.selfplay.choice,
        precision=loop.learner.precision,
        threads=torch.get_num_threads(),
    )
