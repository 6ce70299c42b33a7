"""Counts that several web processes share, such as the event streams of one user: a limit holds for all of them together.

The memory has a row per process and a bucket per key, by a keyed hash. A process writes to its own row only, so no lock is
needed, and the row of a process that was killed can be cleared. Two processes that look at the same moment may exceed a limit by
one. Two keys in one bucket (one in 16,384) share their limit.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from multiprocessing.context import SpawnContext
from typing import Self

BUCKETS = 1 << 14


@dataclass(frozen=True)
class SharedCounts:
    """The counts of one of several web processes, with those of the others."""

    memory: ctypes.Array[ctypes.c_uint16]
    processes: int
    own: int
    """The number of this process, from 0."""
    secret: bytes
    """Key of the hash, so that nobody can choose an address that shares another's bucket."""

    @classmethod
    def create(cls, context: SpawnContext, processes: int, secret: bytes) -> Self:
        """Counts of zero, for processes that the context starts."""
        return cls(context.RawArray(ctypes.c_uint16, processes * BUCKETS), processes, 0, secret)

    def of_process(self, number: int) -> SharedCounts:
        """The same counts for a process of its own."""
        return SharedCounts(self.memory, self.processes, number, self.secret)

    def add(self, key: Hashable, difference: int) -> None:
        """Change the count of a key in this process."""
        place = self.own * BUCKETS + self._bucket(key)
        self.memory[place] = min(max(self.memory[place] + difference, 0), 0xFFFF)

    def elsewhere(self, key: Hashable) -> int:
        """The count of a key in all other processes."""
        bucket = self._bucket(key)
        return sum(self.memory[process * BUCKETS + bucket] for process in range(self.processes) if process != self.own)

    def clear(self) -> None:
        """Forget the counts of this process, because it has ended."""
        start = self.own * BUCKETS
        self.memory[start : start + BUCKETS] = [0] * BUCKETS

    def _bucket(self, key: Hashable) -> int:
        digest = hashlib.blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=8, key=self.secret).digest()
        return int.from_bytes(digest) % BUCKETS
