"""Everything that Rookery needs at run time is under a licence that lets anyone use it."""

from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement

PERMISSIVE = ("apache", "bsd", "isc", "mit", "psf", "zlib")
SHARED_FILE_BY_FILE = ("certifi", "tqdm")
"""Under MPL 2.0, which asks only for changes of their own files."""
QUOTES_A_CHOICE = ("matplotlib",)
"""Under a licence like Python's own; its text quotes that of FreeType, a choice of FTL or GPL."""
HOLDS_THE_RUNTIME_OF_GCC = ("scipy",)
"""Under BSD; its wheels hold libraries of GCC, whose GPL makes an exception for programs."""
NOT_SHIPPED = {"dev", "docs"}


def requirements(name: str, extras: set[str], seen: dict[str, str]) -> dict[str, str]:
    """The licence of every installed package that `name` requires, directly or not."""
    try:
        found = distribution(name)
    except PackageNotFoundError:  # an extra that is not installed
        return seen
    data = found.metadata
    licences = [line for key in ("License-Expression", "License") for line in data.get_all(key, [])]
    classifiers = data.get_all("Classifier", [])
    licences += [each.split("::")[-1] for each in classifiers if each.startswith("License ::")]
    seen[name] = " ".join(licences)
    for line in found.requires or []:
        needed = Requirement(line)
        is_wanted = needed.marker is None or any(
            needed.marker.evaluate({"extra": extra}) for extra in (extras or {""})
        )
        if is_wanted and needed.name not in seen:
            requirements(needed.name, needed.extras, seen)
    return seen


def test_every_package_may_be_used_freely() -> None:
    extras = set(distribution("rookery").metadata.get_all("Provides-Extra") or ()) - NOT_SHIPPED
    licences = requirements("rookery", extras, {})
    assert {"torch", "numba", "ray", "optuna"} <= licences.keys()
    doubtful = {
        name: licence
        for name, licence in licences.items()
        if "gpl" in licence.lower() or not any(word in licence.lower() for word in PERMISSIVE)
    }
    assert doubtful.keys() <= {
        *SHARED_FILE_BY_FILE,
        *QUOTES_A_CHOICE,
        *HOLDS_THE_RUNTIME_OF_GCC,
    }
