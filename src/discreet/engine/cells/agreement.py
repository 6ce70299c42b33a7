"""Which cells of two columns agree: those that share an atom.

Found by joining their runs of atoms or, where most cells agree with many, from one bit per atom and cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.cells.atoms import Atoms
from discreet.engine.encoding.unique_keys import unique_keys
from discreet.engine.runtime.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_PAIRS = 20_000_000
"""Pairs of overlapping runs in memory at once."""
_MOST_BYTES = 1 << 28
"""The bits of all atoms that are compared, one byte each while they are collected."""
_WORDS_AT_ONCE = 1 << 20
"""Words of 64 bits that are gathered at once: few, so that their memory is used again."""
_WORDS_PER_PAIR = 40
"""Words of 64 bits that are combined in the time in which one pair of runs is joined, sorted and counted once."""


def agreeing_codes(queried: Atoms, searched: Atoms) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each code of one column the codes of the other that share an atom with it, as offsets and sorted codes.

    Blank codes agree with everything and are left out on both sides. By joining O((n + p) log p) for n runs of atoms in all cells
    and p pairs of runs that overlap, however many labels the columns have; of two cells that share several runs only one pair
    remains. By bits O(a c / 64) for a atoms in the queried cells and c searched codes.
    """
    codes, width = len(queried.blank), max(len(searched.blank), 1)
    runs, others = _runs_by_owner(queried), _runs_by_owner(searched).sorted_by_start()
    compared = _ComparedAtoms.of(runs, others)
    if compared.is_quicker(runs.count_pairs(others), width):
        return compared.agreeing(codes, width)
    parts = [np.zeros(0, dtype=np.int64)]
    for some in runs.split(others):
        report_progress("agreement", int(some.owner[0]), codes)
        owners, agreeing = some.overlapping(others)
        parts.append(unique_keys(owners * width + agreeing))
    keys = np.concatenate(parts)
    starts = np.searchsorted(keys, np.arange(codes + 1) * width)
    return starts.astype(np.int64), keys % width


@dataclass(frozen=True)
class _Runs:
    """Half-open runs of atoms, ``first`` to ``last``, each with the code that owns it: a cell may be several runs."""

    owner: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    def sorted_by_start(self) -> _Runs:
        return self._at(np.argsort(self.first, kind="stable"))

    def _at(self, places: Any) -> _Runs:
        return _Runs(self.owner[places], self.first[places], self.last[places])

    def count_pairs(self, others: _Runs) -> NDArray[np.int64]:
        """The number of ``others``, sorted by start, that overlap each run."""
        ends = np.sort(others.last)
        return np.searchsorted(others.first, self.last) - np.searchsorted(ends, self.first, side="right")

    def split(self, others: _Runs) -> Iterator[_Runs]:
        """Parts of whole cells, in the order of their codes, whose pairs with ``others``, sorted by start, fit into memory."""
        sums, begin = np.concatenate(([0], np.cumsum(self.count_pairs(others)))), 0
        while begin < len(self.owner):
            end = int(np.searchsorted(sums, sums[begin] + _MOST_PAIRS, side="right")) - 1
            last_owner = self.owner[min(max(end, begin + 1), len(self.owner)) - 1]
            end = int(np.searchsorted(self.owner, last_owner, side="right"))
            yield self._at(slice(begin, end))
            begin = end

    def overlapping(self, others: _Runs) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The owners of each pair of overlapping runs; ``others`` are sorted by their starts.

        Either the other run starts inside this one, or this one starts inside the other, after its start.
        """
        left, right = expand_ranges(np.searchsorted(others.first, self.first), np.searchsorted(others.first, self.last))
        order = np.argsort(self.first, kind="stable")
        starts = self.first[order]
        later, earlier = expand_ranges(np.searchsorted(starts, others.first, side="right"), np.searchsorted(starts, others.last))
        return (
            np.concatenate((self.owner[left], self.owner[order[earlier]])),
            np.concatenate((others.owner[right], others.owner[later])),
        )


@dataclass(frozen=True)
class _ComparedAtoms:
    """The atoms at which some run starts, which are all that matter: of two runs that overlap one starts in the other.

    ``low``, ``high`` and ``other_low``, ``other_high`` are the half-open runs of these atoms, in the order of ``runs`` and
    ``others``.
    """

    runs: _Runs
    others: _Runs
    number: int
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    other_low: NDArray[np.int64]
    other_high: NDArray[np.int64]

    @classmethod
    def of(cls, runs: _Runs, others: _Runs) -> _ComparedAtoms:
        starts = unique_keys(np.concatenate((runs.first, others.first)))
        edges = (np.searchsorted(starts, edge) for edge in (runs.first, runs.last, others.first, others.last))
        return cls(runs, others, len(starts), *edges)

    def is_quicker(self, pairs: NDArray[np.int64], width: int) -> bool:
        """Whether bits take less time than to join the runs, of which each overlaps so many others."""
        words = int((self.high - self.low).sum()) * (width // 64 + 1)
        return self.number * width <= _MOST_BYTES and words <= _WORDS_PER_PAIR * int(pairs.sum())

    def agreeing(self, codes: int, width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each of the queried codes the searched ones, below ``width``, that share an atom, as offsets and sorted codes."""
        agrees = self._join_bits(codes, width)
        starts = np.concatenate(([0], np.cumsum(np.bitwise_count(agrees).sum(axis=1, dtype=np.int64))))
        members = np.empty(starts[-1], dtype=np.int64)
        for code in range(codes):
            there = np.unpackbits(agrees[code].view(np.uint8), count=width, bitorder="little").view(np.bool_)
            members[starts[code] : starts[code + 1]] = np.flatnonzero(there)
        return starts, members

    def _join_bits(self, codes: int, width: int) -> NDArray[np.uint64]:
        """[queried code, word] The searched codes that share an atom with each queried one."""
        bits = self._bits(width)
        joined = np.zeros((codes, bits.shape[1]), dtype=np.uint64)
        sums = np.concatenate(([0], np.cumsum(self.high - self.low)))
        bounds = np.searchsorted(self.runs.owner, np.arange(codes + 1))
        begin = 0
        while begin < codes:
            report_progress("agreement", begin, codes)
            most = sums[bounds[begin]] + _WORDS_AT_ONCE // bits.shape[1]
            end = min(max(int(np.searchsorted(sums[bounds], most, side="right")) - 1, begin + 1), codes)
            some = slice(bounds[begin], bounds[end])
            run, atom = expand_ranges(self.low[some], self.high[some])
            owners, places = np.unique(self.runs.owner[some][run], return_index=True)
            if len(owners):
                joined[owners] = np.bitwise_or.reduceat(bits[atom], places, axis=0)
            begin = end
        return joined

    def _bits(self, width: int) -> NDArray[np.uint64]:
        """[atom, word] The searched codes whose cells contain each atom, 64 in a word."""
        contains = np.zeros((self.number, (width + 63) // 64 * 64), dtype=np.bool_)
        run, atom = expand_ranges(self.other_low, self.other_high)
        contains[atom, self.others.owner[run]] = True
        return np.packbits(contains, axis=1, bitorder="little").view(np.uint64)


def _runs_by_owner(atoms: Atoms) -> _Runs:
    """The runs of all cells that are not blank, in the order of their codes; lists of atoms as few runs as they make up."""
    owners = np.repeat(np.arange(len(atoms.blank)), np.diff(atoms.starts))
    begins = np.ones(len(owners), dtype=np.bool_)
    begins[1:] = (np.diff(owners) > 0) | (np.diff(atoms.members) > 1)
    ends = np.append(begins[1:], np.ones(min(1, len(begins)), dtype=np.bool_))
    single = np.flatnonzero(atoms.first < atoms.last)
    owner = np.concatenate((single, owners[begins]))
    first = np.concatenate((atoms.first[single], atoms.members[begins]))
    last = np.concatenate((atoms.last[single], atoms.members[ends] + 1))
    places = np.flatnonzero(~atoms.blank[owner])
    places = places[np.argsort(owner[places], kind="stable")]
    return _Runs(owner[places], first[places], last[places])


def expand_ranges(low: NDArray[np.int64], high: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each range of integers, its number once per member, and the members.

    >>> [array.tolist() for array in expand_ranges(np.array([4, 0, 2]), np.array([6, 0, 3]))]
    [[0, 0, 2], [4, 5, 2]]
    """
    counts = np.maximum(high - low, 0)
    steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(np.arange(len(counts)), counts), np.repeat(low, counts) + steps
