"""Keyed randomness: each draw is a cryptographic function of (key, step, stream, record).

A release is therefore the same on any engine, any number of cores and any partitioning, and nobody without the key can repeat a
draw. A subkey per step and stream is derived by keyed BLAKE2b (RFC 7693); the draws of the records are the ChaCha20 key stream
under that subkey (RFC 8439; engine/draws/chacha.py gives the reasons for this cipher).
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.draws.chacha import KEY_WORDS, key_stream
from discreet.engine.draws.secret_bytes import SecretBytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEY_BYTES = 32
_KERNELS = "discreet.engine.draws.chacha_kernels"
_MIN_COMPILED = 1 << 16  # below it, loading the compiled kernels takes longer than they save


def derive_seed_key(seed: int) -> bytes:
    """The key of a numeric seed. Seeds can be guessed by trying, so this is only for tests and teaching."""
    return SecretBytes(hashlib.blake2b(str(seed).encode(), digest_size=KEY_BYTES, person=b"discreet seed").digest())


@dataclass(frozen=True)
class KeyedDraw:
    """Random numbers of one step of a plan; an integer key is a seed (see ``derive_seed_key``).

    >>> KeyedDraw(7, 1).uniform(np.array([-1, 0, 5])).round(3)
    array([0.64 , 0.454, 0.366])
    """

    key: bytes | int = field(repr=False)
    step: int = 0
    method: str = ""

    @cached_property
    def _secret(self) -> bytes:
        return derive_seed_key(self.key) if isinstance(self.key, int) else self.key

    def _subkey(self, stream: str) -> NDArray[np.uint32]:
        text = f"{self.step}\0{self.method}\0{stream}".encode()
        hasher = hashlib.blake2b(text, digest_size=4 * KEY_WORDS, key=self._secret, person=b"discreet draw")
        return np.frombuffer(hasher.digest(), dtype="<u4").astype(np.uint32)

    def bits(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.uint64]:
        """64 random bits per record."""
        key, records = self._subkey(stream), np.ascontiguousarray(records, dtype=np.int64)
        if not _use_compiled(len(records)):
            return key_stream(key, records)
        from discreet.engine.draws.chacha_kernels import fill_bits

        bits = np.empty(len(records), dtype=np.uint64)
        fill_bits(records, key, bits)
        return bits

    def uniform(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.float64]:
        """A number in [0, 1) with 53 random bits per record."""
        key, records = self._subkey(stream), np.ascontiguousarray(records, dtype=np.int64)
        if not _use_compiled(len(records)):
            return (key_stream(key, records) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        from discreet.engine.draws.chacha_kernels import fill_uniform

        uniform = np.empty(len(records))
        fill_uniform(records, key, uniform)
        return uniform

    def normal(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.float64]:
        """A standard normal number per record, by the inverse of the distribution function."""
        from discreet.engine.statistics.normal import normal_quantile

        midpoints = (self.bits(records, stream) >> np.uint64(12)).astype(np.float64) + 0.5
        return normal_quantile(midpoints * 2.0**-52)

    def order(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.int64]:
        """The positions of the records in a random order, which does not depend on the order of the rows."""
        bits = self.bits(records, stream)
        order = np.argsort(bits)
        ordered = bits[order]
        if (ordered[1:] == ordered[:-1]).any():
            order = np.lexsort((records, bits))
        return order


def _use_compiled(size: int) -> bool:
    """Whether to use the compiled kernels: for many records, or if they are already loaded."""
    return size >= _MIN_COMPILED or (size > 0 and _KERNELS in sys.modules)
