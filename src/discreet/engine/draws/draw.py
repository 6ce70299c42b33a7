"""Keyed randomness: each draw is a cryptographic function of (key, step, stream, record), so that a release is the same on any
engine, any number of cores and any partitioning, and nobody without the key can repeat a draw.

A subkey per step and stream is made by keyed BLAKE2b (RFC 7693), and the draws of the records are the ChaCha20 key stream under
that subkey (RFC 8439; see engine/draws/chacha.py for the choice).
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
_COMPILED_FROM = 1 << 16  # below it, loading the compiled kernels takes longer than they save


def key_of_seed(seed: int) -> bytes:
    """The key that a numeric seed stands for. Anybody can try seeds, so this is for tests and teaching alone."""
    return SecretBytes(hashlib.blake2b(str(seed).encode(), digest_size=KEY_BYTES, person=b"discreet seed").digest())


@dataclass(frozen=True)
class KeyedDraw:
    """Random numbers of one step of a plan; a number as the key stands for ``key_of_seed``.

    >>> KeyedDraw(7, 1).uniform(np.array([-1, 0, 5])).round(3)
    array([0.64 , 0.454, 0.366])
    """

    key: bytes | int = field(repr=False)
    step: int = 0
    method: str = ""

    @cached_property
    def _secret(self) -> bytes:
        return key_of_seed(self.key) if isinstance(self.key, int) else self.key

    def _subkey(self, stream: str) -> NDArray[np.uint32]:
        text = f"{self.step}\0{self.method}\0{stream}".encode()
        made = hashlib.blake2b(text, digest_size=4 * KEY_WORDS, key=self._secret, person=b"discreet draw")
        return np.frombuffer(made.digest(), dtype="<u4").astype(np.uint32)

    def bits(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.uint64]:
        """64 random bits per record."""
        key, records = self._subkey(stream), np.ascontiguousarray(records, dtype=np.int64)
        if not _compiled(len(records)):
            return key_stream(key, records)
        from discreet.engine.draws.chacha_kernels import fill_bits

        made = np.empty(len(records), dtype=np.uint64)
        fill_bits(records, key, made)
        return made

    def uniform(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.float64]:
        """A number in [0, 1) per record, of 53 random bits."""
        key, records = self._subkey(stream), np.ascontiguousarray(records, dtype=np.int64)
        if not _compiled(len(records)):
            return (key_stream(key, records) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        from discreet.engine.draws.chacha_kernels import fill_uniform

        made = np.empty(len(records))
        fill_uniform(records, key, made)
        return made

    def normal(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.float64]:
        """A standard normal number per record, by the inverse of its distribution function."""
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


def _compiled(size: int) -> bool:
    """Whether to use the compiled kernels: for many records, or where they are loaded already."""
    return size >= _COMPILED_FROM or (size > 0 and _KERNELS in sys.modules)
