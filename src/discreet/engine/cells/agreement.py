"""Which cells of two columns agree: those that share an atom, found by joining their runs of atoms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.cells.atoms import Atoms
from discreet.engine.runtime.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_PAIRS = 20_000_000
"""Pairs of overlapping runs in memory at once."""


def agreeing_codes(queried: Atoms, searched: Atoms) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each code of one column the codes of the other that share an atom with it, as offsets and sorted codes.

    Blank codes agree with everything and are left out on both sides. O((n + p) log p) for n runs of atoms in all cells and p
    pairs of runs that overlap, however many labels the columns have; of two cells that share several runs only one pair remains.
    """
    width = max(len(searched.blank), 1)
    runs, others = _runs_by_owner(queried), _runs_by_owner(searched).sorted_by_start()
    parts = [np.zeros(0, dtype=np.int64)]
    for some in runs.split(others):
        report_progress("agreement", int(some.owner[0]), len(queried.blank))
        owners, agreeing = some.overlapping(others)
        pairs = np.sort(owners * width + agreeing)  # np.unique hashes integers, which takes longer here
        parts.append(pairs[np.append(np.ones(min(1, len(pairs)), dtype=np.bool_), pairs[1:] != pairs[:-1])])
    keys = np.concatenate(parts)
    starts = np.searchsorted(keys, np.arange(len(queried.blank) + 1) * width)
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

    def split(self, others: _Runs) -> Iterator[_Runs]:
        """Parts of whole cells, in the order of their codes, whose pairs with ``others``, sorted by start, fit into memory."""
        ends = np.sort(others.last)
        pairs = np.searchsorted(others.first, self.last) - np.searchsorted(ends, self.first, side="right")
        sums, begin = np.concatenate(([0], np.cumsum(pairs))), 0
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
