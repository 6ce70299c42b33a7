"""ChaCha20 (RFC 8439) in NumPy: 64 bytes of key stream per block, for tables that are too small to load the compiled kernel.

Why this cipher: it is standardised (RFC 8439, TLS 1.3), has been analysed for more than fifteen years, needs no lookup tables (so
its running time does not depend on the key), consists of 32-bit additions, rotations and exclusive ors that vectorise on any
processor, and computes any block of its stream directly from a counter. Draws keyed by record need the latter: record r has the
64-bit word r mod 8 of block floor(r / 8), whatever the other records are and in whatever order. Eight consecutive records share a
block.

The counter takes 64 bits (as in Bernstein's original definition; RFC 8439 gives 32 of them to the nonce), so any record number
fits, a negative one (a simulated record) as its two's complement. The remaining two words are a nonce, derived with the key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONSTANTS = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)
"""'expand 32-byte k', the first row of the state."""
KEY_WORDS = 10
"""Eight words of key and two of nonce."""
_DOUBLE_ROUNDS = 10
_BLOCKS_PER_PART = 1 << 11  # blocks whose states stay in the processor's cache


def key_stream(key: NDArray[np.uint32], records: NDArray[np.int64]) -> NDArray[np.uint64]:
    """64 pseudo-random bits per record, the same as those of the compiled kernel."""
    blocks = records >> 3
    starts = np.ones(len(blocks), dtype=np.bool_)
    starts[1:] = blocks[1:] != blocks[:-1]
    distinct, lane = blocks[starts], np.cumsum(starts) - 1
    words = np.empty((len(distinct), 8), dtype=np.uint64)
    for begin in range(0, len(distinct), _BLOCKS_PER_PART):
        part = slice(begin, begin + _BLOCKS_PER_PART)
        words[part] = chacha20_blocks(key, distinct[part].view(np.uint64))
    return np.asarray(words[lane, records & 7])


def chacha20_blocks(key: NDArray[np.uint32], counters: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The blocks with these counters, one row of eight 64-bit words (little endian) per block."""
    state = np.empty((16, len(counters)), dtype=np.uint32)
    state[:4] = np.array(CONSTANTS, dtype=np.uint32)[:, None]
    state[4:12] = key[:8, None]
    state[12] = counters & np.uint64(0xFFFFFFFF)
    state[13] = counters >> np.uint64(32)
    state[14:] = key[8:, None]
    rows = [state[first : first + 4].copy() for first in (0, 4, 8, 12)]
    for _ in range(_DOUBLE_ROUNDS):
        _quarter_rounds(rows)
        # the diagonals of the state become its columns, and back
        rows[1:] = [np.roll(row, -shift, axis=0) for shift, row in enumerate(rows[1:], 1)]
        _quarter_rounds(rows)
        rows[1:] = [np.roll(row, shift, axis=0) for shift, row in enumerate(rows[1:], 1)]
    words = (np.concatenate(rows) + state).astype(np.uint64)
    return np.ascontiguousarray((words[0::2] | words[1::2] << np.uint64(32)).T)


def _quarter_rounds(rows: list[NDArray[np.uint32]]) -> None:
    """One quarter round on each of the four columns, in place."""
    a, b, c, d = rows
    for shift_d, shift_b in ((16, 12), (8, 7)):
        a += b
        d ^= a
        _rotate(d, shift_d)
        c += d
        b ^= c
        _rotate(b, shift_b)


def _rotate(row: NDArray[np.uint32], bits: int) -> None:
    high = row << np.uint32(bits)
    row >>= np.uint32(32 - bits)
    row |= high
