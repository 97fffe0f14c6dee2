"""A hash table of whole numbers in one array, in which many keys are looked up at once."""

# S = slots, N = keys

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

EMPTY = -1
NO_SLOT = -1
# Odd and without pattern: 2**64 by the golden ratio, so that neighbouring keys fall far apart (Knuth, 1973).
SPREAD = np.uint64(0x9E3779B97F4A7C15)


class HashTable:
    """Open addressing: a key whose slot is taken by another moves on to the next, all such keys in step.

    It is several times as fast as a binary search in sorted keys, as most keys are found in the first slot they try.
    After the last slot comes the first: their number is a power of two, so that a mask takes the remainder.
    Values lie in arrays of the caller, at the slots of their keys.
    """

    def __init__(self, *, bits: int) -> None:
        self.key_S = np.full(1 << bits, EMPTY, dtype=np.int64)
        self._shift = np.uint64(64 - bits)

    def __len__(self) -> int:
        return len(self.key_S)

    def add(self, key_N: Ints) -> Ints:
        """Put keys of 0 or more into the table, and return their slots; the same key has the same slot."""
        slot_N = self._first_slots(key_N)
        astray = np.arange(len(key_N))
        while astray.size:
            free = astray[self.key_S[slot_N[astray]] == EMPTY]
            # Of several keys that claim a free slot the last one gets it, and the others move on.
            self.key_S[slot_N[free]] = key_N[free]
            astray = astray[self.key_S[slot_N[astray]] != key_N[astray]]
            slot_N[astray] = slot_N[astray] + 1 & len(self) - 1
        return slot_N

    def slots(self, key_N: Ints) -> Ints:
        """The slot of each key, NO_SLOT for a key that is not in the table."""
        slot_N = self._first_slots(key_N)
        found_N = self.key_S[slot_N]
        astray = np.flatnonzero((found_N != key_N) & (found_N != EMPTY))
        while astray.size:
            slot_N[astray] = slot_N[astray] + 1 & len(self) - 1
            found_N[astray] = self.key_S[slot_N[astray]]
            astray = astray[(found_N[astray] != key_N[astray]) & (found_N[astray] != EMPTY)]
        return np.where(found_N == key_N, slot_N, NO_SLOT)

    def _first_slots(self, key_N: Ints) -> Ints:
        return (key_N.view(np.uint64) * SPREAD >> self._shift).view(np.int64)
