"""Keyed randomness: each draw is a hash of (seed, step, stream, record), so a release is the same on any
engine, any number of cores and any partitioning."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_BLOCK = 1 << 14
_COMPILED_FROM = 1 << 16  # below it, loading the compiled kernels takes longer than they save


def _mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's finalizer (Steele, Lea & Flood 2014), in place: a bijection that spreads every bit."""
    state ^= state >> np.uint64(30)
    state *= _MIX_1
    state ^= state >> np.uint64(27)
    state *= _MIX_2
    state ^= state >> np.uint64(31)
    return state


def _hashed(records: NDArray[np.int64], key: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The bits of one block of records, which stays in the processor's cache through all passes."""
    block = records.astype(np.int64).view(np.uint64)
    block *= _GOLDEN
    block ^= key[0]
    _mix(block)
    block += key[1]
    return _mix(block)


@dataclass(frozen=True)
class KeyedDraw:
    """Random numbers of one step of a plan."""

    seed: int
    step: int = 0

    def _key(self, stream: str) -> NDArray[np.uint64]:
        text = f"{self.seed}/{self.step}/{stream}".encode()
        return np.frombuffer(hashlib.blake2b(text, digest_size=16).digest(), dtype="<u8").astype(np.uint64)

    def bits(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.uint64]:
        """64 random bits a record."""
        key, made = self._key(stream), np.empty(len(records), dtype=np.uint64)
        if len(records) >= _COMPILED_FROM:
            from discreet.engine.random_kernels import fill_bits

            fill_bits(records.astype(np.int64, copy=False), key[0], key[1], made)
            return made
        for begin in range(0, len(made), _BLOCK):
            made[begin : begin + _BLOCK] = _hashed(records[begin : begin + _BLOCK], key)
        return made

    def uniform(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.float64]:
        """A number in [0, 1) a record, of 53 random bits."""
        key, made = self._key(stream), np.empty(len(records))
        if len(records) >= _COMPILED_FROM:
            from discreet.engine.random_kernels import fill_uniform

            fill_uniform(records.astype(np.int64, copy=False), key[0], key[1], made)
            return made
        for begin in range(0, len(made), _BLOCK):
            block = _hashed(records[begin : begin + _BLOCK], key)
            block >>= np.uint64(11)
            np.multiply(block, 2.0**-53, out=made[begin : begin + _BLOCK])
        return made

    def normal(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.float64]:
        """A standard normal number a record, by the inverse of its distribution function."""
        from scipy.special import ndtri

        inside = (self.bits(records, stream) >> np.uint64(12)).astype(np.float64) + 0.5
        return np.asarray(ndtri(inside * 2.0**-52), dtype=np.float64)

    def order(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.int64]:
        """Positions of the records in a random order: the same order of records however they lie."""
        bits = self.bits(records, stream)
        order = np.argsort(bits)
        ordered = bits[order]
        if (ordered[1:] == ordered[:-1]).any():
            order = np.lexsort((records, bits))
        return order
