"""Which cells of two columns agree: those that share an atom.

They come from joining the runs of atoms of both columns or, where cells agree with many others, from one bit per pair of cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.cells.agreement_kernels import join_runs, mark_atoms, sum_by_bits
from discreet.engine.cells.atoms import Atoms
from discreet.engine.encoding.unique_keys import unique_keys
from discreet.engine.runtime.progress import report_progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_PAIRS = 20_000_000
"""Pairs of overlapping runs in memory at once."""
_MOST_BYTES = 1 << 28
"""The bits of all atoms and of all queried codes."""
_CODES_PER_TURN = 4000
"""Queried codes that are compared between two looks at the clock."""
_MEMBERS_AT_ONCE = 1 << 20
"""Listed codes that are processed at once: few, so that their memory is used again."""
_WORDS_PER_PAIR = 40
"""Words of 64 bits that are combined in the time in which one pair of runs is joined, sorted and counted once."""


@dataclass(frozen=True, eq=False)
class AgreeingCodes:
    """For each queried code the searched codes that agree with it: in lists, or as one bit per pair of codes.

    Lists are sorted: ``members[starts[code]:starts[code + 1]]``. Bit ``c % 64`` of ``bits[code, c // 64]`` is set where the
    searched code c agrees. Whichever is not given is made from the other when it is needed.
    """

    searched: int
    """The number of searched codes."""
    lists: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    bits: NDArray[np.uint64] | None = None

    @classmethod
    def none(cls, queried: int, searched: int) -> AgreeingCodes:
        """No code agrees with any."""
        return cls(searched, (np.zeros(queried + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)))

    @property
    def starts(self) -> NDArray[np.int64]:
        return self._listed[0]

    @property
    def members(self) -> NDArray[np.int64]:
        return self._listed[1]

    @cached_property
    def _listed(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if self.lists is not None:
            return self.lists
        assert self.bits is not None
        starts = np.concatenate(([0], np.cumsum(self.counts)))
        members = np.empty(starts[-1], dtype=np.int64)
        for code in range(len(self.bits)):
            members[starts[code] : starts[code + 1]] = np.flatnonzero(self.flags(slice(code, code + 1))[0])
        return starts, members

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The number of searched codes that agree with each queried one."""
        if self.bits is not None:
            return np.asarray(np.bitwise_count(self.bits).sum(axis=1, dtype=np.int64))
        return np.diff(self.starts)

    def flags(self, codes: slice) -> NDArray[np.bool_]:
        """[queried code, searched code] Whether they agree; from bits alone."""
        assert self.bits is not None
        return np.unpackbits(self.bits[codes].view(np.uint8), axis=1, count=self.searched, bitorder="little").view(np.bool_)

    def head(self, codes: int) -> AgreeingCodes:
        """The first queried codes."""
        if self.bits is not None:
            return AgreeingCodes(self.searched, bits=self.bits[:codes])
        return AgreeingCodes(self.searched, (self.starts[: codes + 1], self.members[: self.starts[codes]]))

    def contain(self, queried: NDArray[np.int64], searched: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the codes of each pair agree."""
        if self.bits is not None:
            words = self.bits[queried, searched >> 6] >> (searched & 63).astype(np.uint64)
            return np.asarray((words & np.uint64(1)).astype(np.bool_))
        if not len(self._keys):
            return np.zeros(len(queried), dtype=np.bool_)
        pairs = queried * self.searched + searched
        return np.asarray(self._keys[np.minimum(np.searchsorted(self._keys, pairs), len(self._keys) - 1)] == pairs)

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        """The agreeing pairs as sorted integers."""
        owners = np.repeat(np.arange(len(self.starts) - 1), self.counts)
        # nearly always sorted already, which a stable sort finds out in one pass
        return np.sort(owners * self.searched + self.members, kind="stable")

    def sum_weights(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each queried code the sum of the weights of the searched codes that agree with it."""
        if self.bits is not None:
            return sum_by_bits(self.bits, np.ascontiguousarray(weights[: self.searched], dtype=np.int64))
        queried, begin = len(self.starts) - 1, 0
        sums = np.zeros(queried, dtype=np.int64)
        while begin < queried:
            end = max(begin + 1, int(np.searchsorted(self.starts, self.starts[begin] + _MEMBERS_AT_ONCE, side="right")) - 1)
            upto = np.concatenate(([0], np.cumsum(weights[self.members[self.starts[begin] : self.starts[end]]])))
            sums[begin:end] = np.diff(upto[self.starts[begin : end + 1] - self.starts[begin]])
            begin = end
        return sums


def agreeing_codes(queried: Atoms, searched: Atoms) -> AgreeingCodes:
    """For each code of one column the codes of the other that share an atom with it.

    Blank codes agree with everything and are left out on both sides. By joining O((n + p) log p) for n runs of atoms in all cells
    and p pairs of runs that overlap, however many labels the columns have; of two cells that share several runs only one pair
    remains. By bits O((a + q) c / 64 + p) for a atoms at which cells begin, q queried and c searched codes.
    """
    codes, width = len(queried.blank), max(len(searched.blank), 1)
    runs, others = _runs_by_owner(queried), _runs_by_owner(searched).sorted_by_start()
    compared = _ComparedAtoms.of(runs, others)
    if compared.is_quicker(runs.count_pairs(others), codes, width):
        return AgreeingCodes(width, bits=compared.join(codes, width))
    parts = [np.zeros(0, dtype=np.int64)]
    for some in runs.split(others):
        report_progress("agreement", int(some.owner[0]), codes)
        owners, agreeing = some.overlapping(others)
        parts.append(unique_keys(owners * width + agreeing))
    keys = np.concatenate(parts)
    starts = np.searchsorted(keys, np.arange(codes + 1) * width)
    return AgreeingCodes(width, (starts.astype(np.int64), keys % width))


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

    def is_quicker(self, pairs: NDArray[np.int64], codes: int, width: int) -> bool:
        """Whether bits take less time than to join the runs, of which each overlaps so many others."""
        words = (self.number + codes) * (width // 64 + 1)
        return 8 * words <= _MOST_BYTES and words <= _WORDS_PER_PAIR * int(pairs.sum())

    def join(self, codes: int, width: int) -> NDArray[np.uint64]:
        """[queried code, word] The searched codes, below ``width``, that share an atom with each of the queried ones."""
        others = self.others
        by_end = np.argsort(self.other_high, kind="stable")
        contains = np.zeros((self.number, (width + 63) // 64), dtype=np.uint64)
        mark_atoms(self.other_low, others.owner, self.other_high[by_end], others.owner[by_end], contains)
        # the others are sorted by their starts: those that start after the first atom of a run and before its end
        after = np.searchsorted(self.other_low, self.low, side="right")
        before = np.searchsorted(self.other_low, self.high)
        joined = np.zeros((codes, contains.shape[1]), dtype=np.uint64)
        bounds = np.searchsorted(self.runs.owner, np.arange(codes + 1))
        for begin in range(0, codes, _CODES_PER_TURN):
            report_progress("agreement", begin, codes)
            end = min(begin + _CODES_PER_TURN, codes)
            some = slice(bounds[begin], bounds[end])
            join_runs(
                self.runs.owner[some] - begin, self.low[some], after[some], before[some], others.owner, contains,
                joined[begin:end],
            )  # fmt: skip
        return joined


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
