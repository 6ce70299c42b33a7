"""Random numbers for generated tables: fast, portable and not secret. Releases use engine/draws instead."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_BLOCK_RECORDS = 1 << 14


def _mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's finalizer (Steele, Lea & Flood 2014), in place: a bijection that spreads every bit."""
    state ^= state >> np.uint64(30)
    state *= np.uint64(0xBF58476D1CE4E5B9)
    state ^= state >> np.uint64(27)
    state *= np.uint64(0x94D049BB133111EB)
    state ^= state >> np.uint64(31)
    return state


@dataclass(frozen=True)
class SampleDraw:
    """Random numbers of a generated table: a hash of (seed, part, stream, record)."""

    seed: int
    part: int = 0

    def bits(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.uint64]:
        """64 random bits per record."""
        text = f"{self.seed}/{self.part}/{stream}".encode()
        first, second = np.frombuffer(hashlib.blake2b(text, digest_size=16).digest(), dtype="<u8").astype(np.uint64)
        result = np.empty(len(records), dtype=np.uint64)
        for begin in range(0, len(result), _BLOCK_RECORDS):  # a block stays in the processor's cache through all passes
            block = records[begin : begin + _BLOCK_RECORDS].astype(np.int64).view(np.uint64)
            block *= _GOLDEN
            block ^= first
            _mix(block)
            block += second
            result[begin : begin + _BLOCK_RECORDS] = _mix(block)
        return result

    def uniform(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.float64]:
        """A number in [0, 1) per record, of 53 random bits."""
        return (self.bits(records, stream) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def order(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.int64]:
        """Positions of the records in a random order, which does not depend on the order in which they are given."""
        return np.lexsort((records, self.bits(records, stream)))
