"""The walk over sets of keys: which records have a minimal sample unique in which set.

A set of keys is a minimal sample unique of a record if no other record agrees with it on the set, and on none of its proper
subsets is it alone. Every set comes after its subsets: a record that is alone on a set is alone on it minimally unless it is
alone on one of the sets with a key less, which are kept as one bit per record. Minimal sets are counted, never kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.distinct_classes import DistinctClasses, list_classes
from discreet.engine.classes.groups import group_ids
from discreet.engine.classes.key_sets import KeySet, Missing, check_keys, count_key_sets
from discreet.engine.encoding.columns import Column
from discreet.engine.special_uniques.kernels import flag_uniques, refine_groups
from discreet.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Groups = tuple["NDArray[np.int32]", "NDArray[np.int32]"]
_NO_NULL = -1
_MOST_SETS = 100_000
_MOST_WILDCARD_KEYS = 62


@dataclass(frozen=True)
class DistinctKeys:
    """The distinct rows of the keys, those of one record first: ``rows[i]`` < ``candidates`` are the sample uniques.

    ``rows[i]`` is the row of record i, ``codes[key][row]`` its codes, ``records[row]`` 1, or 2 where more records have it.
    """

    rows: NDArray[np.int64]
    codes: list[NDArray[Any]]
    cardinalities: list[int]
    nulls: list[int | None]
    records: NDArray[np.uint8]
    candidates: int


@dataclass(frozen=True)
class MinimalUniques:
    """``by_record[size - 1, row]``: minimal sample uniques of a sample unique; ``by_value[key][size - 1, code]``: of a value."""

    by_record: NDArray[np.uint32]
    by_value: list[NDArray[np.int64]]


def check_search(plugin: str, keys: Sequence[str], source: str, max_size: int, missing: Missing) -> None:
    """Raise DataError where these keys cannot be searched: none, one of them twice, or too many."""
    advice = "use a smaller max_size or fewer keys"
    check_keys(plugin, keys, source, count_key_sets(len(keys), max_size), _MOST_SETS, advice)
    if missing == "wildcard" and len(keys) > _MOST_WILDCARD_KEYS:
        raise DataError(
            f"{plugin} takes at most {_MOST_WILDCARD_KEYS} keys with missing: wildcard, not {len(keys)}; "
            "use missing: category, or fewer keys"
        )


def list_distinct_keys(columns: Sequence[Column], size: int) -> DistinctKeys:
    """The distinct rows, in one pass over the records."""
    return order_classes(list_classes(columns, size), [column.null_code for column in columns])


def order_classes(classes: DistinctClasses, nulls: list[int | None]) -> DistinctKeys:
    """Equivalence classes as rows, those of one record first; ``nulls``: the code of null of each key."""
    order = np.argsort(_sorting_keys(classes), kind="stable")  # of 16 bits, so that it takes linear time
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    narrow = all(cardinality < 1 << 16 for cardinality in classes.cardinalities)
    # one integer type for all keys, so that one compiled version of each kernel serves them all
    codes = [column[order].astype(np.uint16 if narrow else np.uint32) for column in classes.codes]
    records = np.minimum(classes.counts[order], 2).astype(np.uint8)
    return DistinctKeys(place[classes.ids], codes, classes.cardinalities, nulls, records, int((classes.counts == 1).sum()))


def _sorting_keys(classes: DistinctClasses) -> NDArray[np.uint16]:
    """Sample uniques first; then by the keys with most values, whose small groups are so next to each other in memory."""
    keys = np.zeros(len(classes.counts), dtype=np.uint16)
    combinations = 2
    for key in sorted(range(len(classes.codes)), key=lambda key: -classes.cardinalities[key]):
        if combinations * classes.cardinalities[key] > 1 << 16:
            break
        combinations *= classes.cardinalities[key]
        keys = keys * np.uint16(classes.cardinalities[key]) + classes.codes[key].astype(np.uint16)
    return keys + np.uint16(combinations // 2) * (classes.counts > 1).astype(np.uint16)


def find_minimal_uniques(keys: DistinctKeys, max_size: int, missing: Missing) -> Iterator[tuple[KeySet, NDArray[np.uint8]]]:
    """Each set of at most ``max_size`` keys on which records are alone minimally, with a bit per sample unique (packed)."""
    deepest = min(max_size, len(keys.codes))
    if not keys.candidates:
        return
    alone_on: dict[KeySet, NDArray[np.uint8]] = {}
    for chosen, flags in _Walk(keys, missing, deepest).flag_sets():
        size = len(chosen)
        alone = np.packbits(flags)
        minimal = alone.copy()
        for left_out in range(size if size > 1 else 0):
            minimal &= ~alone_on[chosen[:left_out] + chosen[left_out + 1 :]]
        if size < deepest:
            alone_on[chosen] = alone
        if minimal.any():
            yield chosen, minimal


def count_minimal_uniques(keys: DistinctKeys, max_size: int, missing: Missing) -> MinimalUniques:
    """Count the minimal sample uniques of at most ``max_size`` keys, by record and by value of each key."""
    deepest = min(max_size, len(keys.codes))
    counts = MinimalUniques(
        np.zeros((deepest, keys.candidates), dtype=np.uint32),
        [np.zeros((deepest, cardinality), dtype=np.int64) for cardinality in keys.cardinalities],
    )
    for chosen, minimal in find_minimal_uniques(keys, max_size, missing):
        size = len(chosen)
        is_minimal = np.unpackbits(minimal, count=keys.candidates)
        counts.by_record[size - 1] += is_minimal
        rows = np.flatnonzero(is_minimal.view(np.bool_))
        for key in chosen:
            counts.by_value[key][size - 1] += np.bincount(keys.codes[key][rows], minlength=keys.cardinalities[key])
    return counts


class _Walk:
    """All sets of at most so many keys, each after all of its subsets, with flags on the sample uniques that are alone on it."""

    def __init__(self, keys: DistinctKeys, missing: Missing, max_size: int) -> None:
        self.keys, self.missing, self.max_size = keys, missing, max_size
        # keys with many values last: they begin the most sets, whose groups are then small, so that many can be left out
        self.order = sorted(range(len(keys.codes)), key=lambda key: keys.cardinalities[key])
        most = max(keys.cardinalities)
        self.tally, self.offsets = np.zeros(most, dtype=np.int32), np.zeros(most, dtype=np.int32)
        self.null_masks = _mask_nulls(keys) if missing == "wildcard" else None
        # a row that is alone may agree with nulls of others, so it may be alone only on a larger set
        self.least = 1 if missing == "wildcard" else 2

    def flag_sets(self) -> Iterator[tuple[KeySet, NDArray[np.bool_]]]:
        """Each set of keys in their order, with a flag per sample unique."""
        rows = len(self.keys.records)
        whole: Groups = (np.arange(rows, dtype=np.int32), np.array([0, rows], dtype=np.int32))
        yield from self._extend((), whole, len(self.order))

    def _extend(self, path: KeySet, groups: Groups, end: int) -> Iterator[tuple[KeySet, NDArray[np.bool_]]]:
        """The sets that add keys at positions before ``end`` to a path of later positions.

        Read as binary numbers, position p being 2^p, sets come in ascending order, and a subset is the smaller number.
        """
        for position in range(end):
            longer = (*path, position)
            chosen = tuple(sorted(self.order[index] for index in longer))
            flags = np.zeros(len(self.keys.records), dtype=np.bool_)
            refined = None
            if position and len(longer) < self.max_size:
                refined = self._refine(groups, self.order[position], flags)
            else:
                self._flag(groups, self.order[position], flags)
            alone = flags[: self.keys.candidates]
            if self.null_masks is not None:
                _clear_agreeing(alone, self.keys, chosen, self.null_masks)
            yield chosen, alone
            if refined is not None:
                yield from self._extend(longer, refined, position)

    def _null_code(self, key: int) -> int:
        null = self.keys.nulls[key]
        return _NO_NULL if null is None or self.missing == "category" else null

    def _refine(self, groups: Groups, key: int, flags: NDArray[np.bool_]) -> Groups:
        cardinality = self.keys.cardinalities[key]
        refined: Groups = refine_groups(
            *groups, self.keys.codes[key], self.keys.candidates, self._null_code(key), self.least,
            self.tally[:cardinality], self.offsets[:cardinality], flags,
        )  # fmt: skip
        return refined

    def _flag(self, groups: Groups, key: int, flags: NDArray[np.bool_]) -> None:
        tally = self.tally[: self.keys.cardinalities[key]]
        flag_uniques(*groups, self.keys.codes[key], self.keys.records, self._null_code(key), tally, flags)


def _mask_nulls(keys: DistinctKeys) -> NDArray[np.int64]:
    """For each row the keys that it lacks, as bits."""
    masks = np.zeros(len(keys.records), dtype=np.int64)
    for key, null in enumerate(keys.nulls):
        if null is not None:
            masks |= (keys.codes[key] == null).astype(np.int64) << key
    return masks


def _clear_agreeing(flags: NDArray[np.bool_], keys: DistinctKeys, chosen: KeySet, masks: NDArray[np.int64]) -> None:
    """Take the flag from rows that agree with a row that lacks some of the keys: with all of its values that it has."""
    patterns = masks & sum(1 << key for key in chosen)
    for pattern in np.unique(patterns[patterns > 0]).tolist():
        flagged = np.flatnonzero(flags)
        if not len(flagged):
            return
        common = [key for key in chosen if not pattern >> key & 1]
        lacking = np.flatnonzero(patterns == pattern)
        both = np.concatenate((lacking, flagged))
        ids, number = group_ids([(keys.codes[key][both], keys.cardinalities[key]) for key in common], len(both))
        occurs = np.zeros(number, dtype=np.bool_)
        occurs[ids[: len(lacking)]] = True
        flags[flagged[occurs[ids[len(lacking) :]]]] = False
