"""Advice on settings, with their present values."""

from shlex import quote

from rookery.training.config import Config
from rookery.training.doctor.finding import Advice

FIXED = ("selfplay.games", "selfplay.max_plies")
"""Settings that are fixed in a run, besides those of the network."""


def change(config: Config, setting: str, value: object, why: str) -> Advice:
    """Return the advice to change a setting, by its dotted name; `why` says what that does."""
    section, _, name = setting.partition(".")
    present = getattr(getattr(config, section), name)
    return Advice(why, setting, _text(value), _text(present))


def raise_to(config: Config, setting: str, value: float, why: str) -> tuple[Advice, ...]:
    """Return the advice to raise a number, or none if it is as high already."""
    advice = change(config, setting, value, why)
    return (advice,) if float(advice.present) < value else ()


def can_change(setting: str) -> bool:
    """Return whether a run can go on with another value; see `RunFolder.check_change`."""
    return not (setting.startswith("net.") or setting in FIXED)


def do(text: str) -> Advice:
    """Return advice that is not about a setting."""
    return Advice(text)


def set_option(advice: Advice) -> str:
    """Return the option of `train` and `resume` that follows the advice."""
    return f"--set {quote(f'{advice.setting}={advice.value}')}"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
