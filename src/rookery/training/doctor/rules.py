"""Diagnosis of the rules of a user's own game."""

from rookery.training.doctor.advising import do
from rookery.training.doctor.evidence import Evidence
from rookery.training.doctor.finding import Finding, Severity


def suspect_rules(evidence: Evidence) -> Finding | None:
    """The planes, symmetries or other parts of an own game do not keep the contract."""
    found = evidence.measured.rules
    if not found:
        return None
    failed = [each for each in found if not each.passed]
    shown = (failed or found)[0]
    names = ", ".join(each.name for each in failed or found)
    verb = "is wrong" if failed else "looks unusual"
    return Finding(
        "suspect-rules",
        Severity.PROBLEM if failed else Severity.NOTE,
        f"Something in the rules {verb} ({names}): {shown.message.splitlines()[0]}",
        (),
        (do(f"read what `rookery games check {evidence.config.game}` says"),),
    )
