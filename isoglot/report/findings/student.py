"""Student's t: how far chance takes a mean whose variance is estimated from few values."""

from functools import cache
from math import sqrt, tan

import numpy as np


@cache
def t_quantile(level: float, num_free: int) -> float:
    """The end of the middle `level` of Student's t distribution: 2.13 for 0.9 and 4 degrees of freedom."""
    # With t = sqrt(n) tan(angle) the density becomes a power of a cosine on a finite range, easily summed up.
    angles = np.linspace(0, np.pi / 2, 20_001)
    middles = (angles[1:] + angles[:-1]) / 2
    mass = np.concatenate([[0.0], np.cumsum(np.cos(middles) ** (num_free - 1))])
    return sqrt(num_free) * tan(float(np.interp(level, mass / mass[-1], angles)))
