"""Training: settings, the run folder, the training loop, actors, trainers and evaluation."""

from rookery.training.compiling import prepare_compilers
from rookery.training.config import Config, RunConfig, apply, from_json, setting_names, to_json
from rookery.training.doctor.advising import can_change, set_option
from rookery.training.doctor.diagnose import diagnose
from rookery.training.doctor.finding import Advice, Figure, Finding, Severity
from rookery.training.elo import EloHistory, EloMeasurement, history_of
from rookery.training.evaluation.player_spec import PlayerSpec
from rookery.training.evaluation.pool import measure_over, play_match_over
from rookery.training.evaluation.rating import measure_ladder, rate_history, rate_over
from rookery.training.factory import check_hardware, train
from rookery.training.planning.plan import Plan, plan_run
from rookery.training.progress import Progress, ProgressCallback, Stopped
from rookery.training.recipes import RECIPES, recipe_for
from rookery.training.shipped import load_shipped, shipped_names, shipped_search
from rookery.training.store.folder import Identity, RunFolder, read_config, read_identity
from rookery.training.store.given import write_record
from rookery.training.store.kept import find_checkpoints, keep_named
from rookery.training.store.origin import InitialWeights, Origin, Parent, game_spec
from rookery.training.store.requests import write_request
from rookery.training.store.stats import Stats, describe_damage, note_damage, parse_line
from rookery.training.tuning.pool import TrialPool, check_parallel
from rookery.training.tuning.space import Space, default_space, read_space
from rookery.training.tuning.study import Study, TrialResult
from rookery.workers import preload as _preload

__all__ = [
    "RECIPES",
    "Advice",
    "Config",
    "EloHistory",
    "EloMeasurement",
    "Figure",
    "Finding",
    "Identity",
    "InitialWeights",
    "Origin",
    "Parent",
    "Plan",
    "PlayerSpec",
    "Progress",
    "ProgressCallback",
    "RunConfig",
    "RunFolder",
    "Severity",
    "Space",
    "Stats",
    "Stopped",
    "Study",
    "TrialPool",
    "TrialResult",
    "apply",
    "can_change",
    "check_hardware",
    "check_parallel",
    "default_space",
    "describe_damage",
    "diagnose",
    "find_checkpoints",
    "from_json",
    "game_spec",
    "history_of",
    "keep_named",
    "load_shipped",
    "measure_ladder",
    "measure_over",
    "note_damage",
    "parse_line",
    "plan_run",
    "play_match_over",
    "prepare_compilers",
    "rate_history",
    "rate_over",
    "read_config",
    "read_identity",
    "read_space",
    "recipe_for",
    "set_option",
    "setting_names",
    "shipped_names",
    "shipped_search",
    "to_json",
    "train",
    "write_record",
    "write_request",
]

_preload(__name__)
