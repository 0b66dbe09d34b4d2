"""Wilson's interval: how far a share that was counted may lie from the true one."""

from math import sqrt

Z95 = 1.959963984540054
"""Standard normal deviations that hold 95 % of the mass between them."""


def wilson(share: float, number: float) -> tuple[float, float]:
    """The 95 % interval of a share seen in `number` trials (Wilson 1927); never outside 0 to 1.

    Unlike the normal interval it does not shrink to nothing where all trials came out alike.
    `number` need not be whole: trials that vary less than coin flips count for more.
    """
    weight = Z95 * Z95 / number
    centre = (share + weight / 2) / (1 + weight)
    spread = Z95 / (1 + weight) * sqrt(share * (1 - share) / number + weight / number / 4)
    low = 0.0 if share <= 0 else max(0.0, centre - spread)
    high = 1.0 if share >= 1 else min(1.0, centre + spread)
    return low, high
