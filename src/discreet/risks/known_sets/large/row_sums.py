"""The sums over the known sets of one cover, on its distinct rows: each set is counted on the rows of a set one larger.

The rows of a set are those of a larger set with one attribute left out, and usually far fewer, so a set is counted on the rows of
the smallest larger set at hand and not on those of the cover. What is summed at a set and at all sets counted on its rows is then
carried back to the larger set's rows, so that a set costs two passes over the rows of the next larger one. A row's codes are
packed into one integer of 64 bits; leaving out an attribute is a mask.

Many rows are sorted by the attribute with the most values, the *pivot*. Rows of sets with the pivot then come in blocks, which
are numbered block by block in a hash table that fits into the processor's cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.distinct import DistinctRows
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.terms import Terms
from discreet.risks.known_sets.large import cover_kernels as kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD = 64
_LEAST_SLOTS = 64
_SORTED = 1 << 15
"""Number of rows from which they are sorted: a hash table of fewer fits into the processor's cache anyway."""


@dataclass(frozen=True)
class CoverTable:
    """What the rows of covers are made of: codes by place, and the weight of each code of a sensitive attribute, by place."""

    size: int
    codes: Sequence[NDArray[Any]]
    cardinalities: Sequence[int]
    weights: Mapping[int, NDArray[np.float64]]

    def bits(self, places: Sequence[int]) -> list[int]:
        """How many bits the codes of each of these attributes need."""
        return [max(self.cardinalities[place] - 1, 0).bit_length() for place in places]

    def can_pack(self, places: Sequence[int]) -> bool:
        """Whether the codes of these attributes fit into one integer."""
        return sum(self.bits(places)) <= _WORD


@dataclass(frozen=True)
class _Rows:
    """The distinct rows of a set: packed codes, number of records, and the sums so far."""

    keys: NDArray[np.uint64]
    counts: NDArray[np.int32]
    sums: NDArray[np.float64]


class Memory:
    """Arrays that are used again and again: fresh memory costs more than most loops over it."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def array(self, name: str, dtype: Any, rows: int, columns: int | None = None) -> NDArray[Any]:
        """An array with any content; what was returned under this name before is written over."""
        size = rows if columns is None else rows * columns
        array = self._arrays.get(name)
        if array is None or len(array) < size:
            self._arrays.pop(name, None)
            array = None  # freed before the next one is allocated
            array = self._arrays[name] = np.empty(size, dtype)
        part = array if len(array) == size else array[:size]
        return part if columns is None else part.reshape(rows, columns)


class RowSums:
    """Sums the sets of one cover."""

    def __init__(self, table: CoverTable, rows: DistinctRows, places: Sequence[int]) -> None:
        self.cardinalities = table.cardinalities
        self.keys, self.counts = np.zeros(len(rows), dtype=np.uint64), rows.counts
        self.shift: dict[int, int] = {}
        self.mask: dict[int, int] = {}
        used = 0
        for place, bits in zip(places, table.bits(places), strict=True):
            self.shift[place], self.mask[place] = used, ((1 << bits) - 1) << used
            if bits:
                kernels.put_codes(self.keys, table.codes[place], rows.first, used)
            used += bits
        self.weights = {place: table.weights[place] for place in places if place in table.weights}
        self.all_singles = np.array(sorted(table.weights), dtype=np.int64)
        self.places = places
        self.pivot = max(places, key=lambda place: self.cardinalities[place])
        self.order: NDArray[np.uint32] | None = None
        self.longest_block = len(rows)
        if len(rows) > _SORTED:
            codes = table.codes[self.pivot][rows.first]
            self.order = np.argsort(codes, kind="stable").astype(np.uint32)
            self.keys = self.keys[self.order]
            self.counts = self.counts[self.order]
            self.longest_block = int(np.bincount(codes).max())

    def add_sets(
        self, tree: Family, terms: Terms, nodes: Sequence[int], stopped: Event
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The sums of each row over these sets of the family, and their steps; raises where it is ``stopped``."""
        step_of = np.searchsorted(self.all_singles, tree.reach[list(nodes)], side="right")
        steps, column = np.unique(step_of, return_inverse=True)
        columns = dict(zip(nodes, (1 + column).tolist(), strict=True))
        self._width = 1 + len(steps) + (2 if self.weights else 0)
        below = self._sets_below(tree, nodes)

        def add_own(node: int, rows: _Rows) -> None:
            near, far = float(terms.kept[node, 0, 0]), float(terms.whole[node, 0, 0])
            kernels.add_set(rows.keys, rows.counts, near, far, columns[node], *self.singles(tree.sets[node]), rows.sums)

        def add_below(node: int, rows: _Rows) -> None:
            for child in below.get(node, ()):
                if stopped.is_set():
                    raise CancelledError
                of, keys, counts = self.project(rows.keys, rows.counts, tree.sets[child])
                projected = _Rows(keys, counts, np.zeros((len(keys), self._width)))
                add_own(child, projected)
                add_below(child, projected)
                kernels.carry(of, projected.sums, rows.sums)
                del of, keys, counts, projected  # before those of the next set are allocated

        everything = _Rows(self.keys, self.counts, np.zeros((len(self.keys), self._width)))
        whole = next((node for node in nodes if len(tree.sets[node]) == len(self.places)), None)
        if whole is not None:  # the cover is one of the sets
            add_own(whole, everything)
            add_below(whole, everything)
        add_below(0, everything)
        if self.order is None:
            return everything.sums, steps
        for part in range(self._width):  # one after another, so that there are never two arrays of all sums
            everything.sums[self.order, part] = everything.sums[:, part].copy()
        return everything.sums, steps

    def _sets_below(self, tree: Family, nodes: Sequence[int]) -> dict[int, list[int]]:
        """The sets that are counted on the rows of each set; 0 stands for the cover itself.

        Of the larger sets by one attribute, that with the attribute of fewest values has the fewest rows, more or less.
        """
        members = {frozenset(tree.sets[node]): node for node in nodes}
        below: dict[int, list[int]] = {}
        by_values = sorted(self.places, key=lambda place: (self.cardinalities[place], place))
        for own, node in members.items():
            if len(own) == len(self.places):
                continue
            larger = (members.get(own | {place}) for place in by_values if place not in own)
            below.setdefault(next((node_above for node_above in larger if node_above is not None), 0), []).append(node)
        return below

    def project(
        self, row_keys: NDArray[np.uint64], row_counts: NDArray[np.int32], places: Sequence[int], memory: Memory | None = None
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint64], NDArray[np.int32]]:
        """The rows of a smaller set: for each of the given rows which of them it has, and their keys and counts.

        They are written to ``memory`` (default: to arrays of their own, as short as possible).
        """
        most, mask = 1, 0
        for place in places:
            most, mask = min(most * self.cardinalities[place], len(row_keys)), mask | self.mask[place]
        block_mask = self.mask[self.pivot] if self.order is not None and self.pivot in places else 0
        new = Memory() if memory is None else memory
        slots = new.array("slots", np.int32, _slots_for(min(most, self.longest_block) if block_mask else most))
        slots[:] = 0
        of, keys = new.array("of", np.uint32, len(row_keys)), new.array("keys", np.uint64, most)
        counts = new.array("counts", np.int32, most)
        number = kernels.project(row_keys, row_counts, np.uint64(mask), np.uint64(block_mask), slots, keys, counts, of)
        if memory is not None:
            return of, keys[:number], counts[:number]
        keys.resize(number, refcheck=False)  # what is not needed is freed without a copy
        counts.resize(number, refcheck=False)
        return of, keys, counts

    def singles(self, places: Sequence[int]) -> tuple[Any, Any, Any, Any]:
        """Of the sensitive attributes of a set: shift and mask of their codes, and where their weights begin, in one array."""
        own = [place for place in places if place in self.weights]
        begin = np.cumsum([0, *(len(self.weights[place]) for place in own)])[:-1]
        weights = np.concatenate([self.weights[place] for place in own]) if own else np.zeros(0)
        shift = np.array([self.shift[place] for place in own], dtype=np.uint64)
        mask = np.array([self.mask[place] >> self.shift[place] for place in own], dtype=np.uint64)
        return shift, mask, begin.astype(np.int64), weights


def _slots_for(rows: int) -> int:
    return 1 << max(2 * rows - 1, _LEAST_SLOTS - 1).bit_length()
