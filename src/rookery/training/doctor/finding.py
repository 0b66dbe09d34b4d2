"""What the doctor says: a finding, the figures it rests on, and the settings to change."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from math import isfinite
from typing import Any

SHARE = "share"
"""The unit of figures from 0 to 1, which are shown in percent."""


class Severity(StrEnum):
    """How much a finding matters, worst first."""

    PROBLEM = "problem"
    """The run cannot learn well like this."""
    WARNING = "warning"
    """The run learns, but something holds it back."""
    NOTE = "note"
    """Worth knowing; nothing has to change."""


@dataclass(frozen=True)
class Figure:
    """One number that a finding rests on."""

    label: str
    value: float
    unit: str = ""
    """`share`, or a word such as nats, Elo or iterations; empty for a plain number."""
    expected: str = ""
    """The numbers that are no reason for a finding, in words."""

    @property
    def text(self) -> str:
        """The number as people read it."""
        if self.unit == SHARE:
            return f"{100 * self.value:.1f} %"
        number = f"{self.value:,.0f}" if abs(self.value) >= 1000 else f"{self.value:.3g}"
        return f"{number} {self.unit}".rstrip()

    def to_plain(self) -> dict[str, Any]:
        """Return the fields and the text for JSON; a number that is not finite becomes None."""
        value = self.value if isfinite(self.value) else None
        return {**asdict(self), "value": value, "text": self.text}


@dataclass(frozen=True)
class Advice:
    """One thing to do about a finding."""

    text: str
    setting: str = ""
    """The dotted name of the setting to change; empty if it is no setting."""
    value: str = ""
    """The value to set it to, as `--set` takes it."""
    present: str = ""
    """Its value now."""


@dataclass(frozen=True)
class Finding:
    """One thing that the doctor has found."""

    name: str
    """Of the diagnosis, as in duplicate-games."""
    severity: Severity
    what: str
    """What is wrong, in a sentence."""
    why: tuple[Figure, ...] = ()
    advice: tuple[Advice, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """Return the finding as a dict that JSON can hold."""
        return {
            "name": self.name,
            "severity": str(self.severity),
            "what": self.what,
            "why": [figure.to_plain() for figure in self.why],
            "advice": [asdict(each) for each in self.advice],
        }


def worst_first(findings: list[Finding]) -> list[Finding]:
    """Return findings by severity; those of one severity keep their order."""
    order = list(Severity)
    return sorted(findings, key=lambda finding: order.index(finding.severity))
