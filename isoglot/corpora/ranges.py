"""Many ranges of an array at once."""

# R = ranges

import numpy as np
from numpy.typing import NDArray


def concatenated_ranges(start_R: NDArray[np.int64], length_R: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole numbers, range after range: those that start at 5 and 9 with the lengths 3 and 1 are 5 6 7 9."""
    end_R = np.cumsum(length_R)
    shift_R = start_R - (end_R - length_R)
    numbers: NDArray[np.int64] = np.repeat(shift_R, length_R)
    return numbers + np.arange(len(numbers))
