"""All codes of a record side by side in a few whole numbers, so that a row that moves is as short as what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.spark.value_counts import Dictionary

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

_BITS = 63


@dataclass(frozen=True)
class Packing:
    """Where each attribute's code lies: in which number, from which bit, how many bits."""

    places: dict[str, tuple[int, int, int]]

    @property
    def words(self) -> int:
        return 1 + max((word for word, _, _ in self.places.values()), default=0)

    @property
    def columns(self) -> list[str]:
        return [f"p{word}" for word in range(self.words)]

    def pack(self, codes: Mapping[str, NDArray[np.int64]], size: int) -> list[NDArray[np.int64]]:
        words = [np.zeros(size, dtype=np.int64) for _ in range(self.words)]
        for name, (word, shift, _) in self.places.items():
            words[word] |= codes[name] << shift
        return words

    def unpack(self, words: Sequence[NDArray[np.int64]], name: str) -> NDArray[Any]:
        word, shift, bits = self.places[name]
        codes = (words[word] >> shift) & ((1 << bits) - 1)
        return codes.astype(np.uint8 if bits <= 8 else np.uint16 if bits <= 16 else np.uint32)

    def words_of(self, table: pa.Table) -> list[NDArray[np.int64]]:
        from discreet.engine.spark.arrow import numbers

        return [numbers(table, name) for name in self.columns]


def packing(dictionary: Mapping[str, Dictionary], names: Sequence[str]) -> Packing:
    """A place for each attribute, the next number where one is full."""
    places: dict[str, tuple[int, int, int]] = {}
    word, shift = 0, 0
    for name in names:
        bits = max(1, (max(dictionary[name].cardinality, 1) - 1).bit_length())
        if shift + bits > _BITS:
            word, shift = word + 1, 0
        places[name] = (word, shift, bits)
        shift += bits
    return Packing(places)
