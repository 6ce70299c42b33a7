"""What a masked cell can be: which true values it contains, and how much of the attribute it leaves open.

A cell of a release is a value, an interval, a group, a hierarchy's label, ``*`` or null (:mod:`discreet.model.cells`).
Everything is worked out once a distinct masked value and looked up for records, so a table of a million records costs
what its dictionaries cost and a few gathers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.columns import Column
from discreet.model.attribute import printed
from discreet.model.cells import EVERYTHING, Interval, parse_group, parse_interval
from discreet.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Coarse:
    """The meaning of every code of a masked column in terms of the codes of the original one.

    ``share``   the part of the attribute that the masked value leaves open: 0 for a single value, 1 for null or ``*``,
                width over range for an interval (cut to the range), leaves over all leaves for a group or label
    ``low``, ``high``   numbers the masked value spans, where it is a number or an interval; else not a number
    ``blank``   whether the masked value says nothing (null or ``*``)
    ``first``, ``last``   contained values as a half-open run of ranks, where they are one
    ``keys``    sorted ``masked code x originals + original code`` for contained values that are no run
    """

    share: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    blank: NDArray[np.bool_]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    keys: NDArray[np.int64]
    ranks: NDArray[np.int64]
    numbers: NDArray[np.float64]
    originals: int

    @property
    def range(self) -> float:
        """Largest minus smallest original number; 0 where there are none."""
        return float(self.numbers.max() - self.numbers.min()) if len(self.numbers) else 0.0

    def contains(self, masked: NDArray[Any], original: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each masked code contains the original code beside it; an original null agrees with anything."""
        masked, original = masked.astype(np.int64), original.astype(np.int64)
        unknown = original >= self.originals
        rank = self.ranks[np.where(unknown, 0, original)] if self.originals else np.zeros(len(original), dtype=np.int64)
        found = (rank >= self.first[masked]) & (rank < self.last[masked])
        if len(self.keys):
            key = masked * self.originals + original
            at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
            found |= self.keys[at] == key
        return np.asarray(found | unknown | self.blank[masked])

    def matrix(self) -> NDArray[np.bool_]:
        """A row a masked code, a column an original value: for small dictionaries."""
        masked, original = np.meshgrid(np.arange(len(self.share)), np.arange(self.originals), indexing="ij")
        return self.contains(masked.ravel(), original.ravel()).reshape(masked.shape)


def coarse(original: Column, masked: Column, hierarchy: Hierarchy | None = None, *, numeric: bool = True) -> Coarse:
    """Read every distinct value of a masked column against the original column.

    Where the attribute is not ``numeric`` though its values look like numbers, an interval counts by its leaves. A text
    that is a value and also names a hierarchy's group of several leaves stands for the whole group.

    >>> from discreet.engine.columns import encode_series
    >>> ages = encode_series(pl.Series("age", [20, 30, 40, 60]))
    >>> read = coarse(ages, encode_series(pl.Series("age", ["20..40", "60", None])))
    >>> read.share.tolist(), read.matrix().sum(axis=1).tolist()
    ([0.5, 0.0, 1.0], [2, 1, 4])
    """
    return _Reader(original, masked, hierarchy, numeric).read()


class _Reader:
    """Works through the distinct masked values: plain ones at once, coarse ones one by one."""

    def __init__(self, original: Column, masked: Column, hierarchy: Hierarchy | None, numeric: bool) -> None:
        self.original, self.masked, self.hierarchy, self.numeric = original, masked, hierarchy, numeric
        self.originals = len(original.values)
        self.numbers = as_numbers(original.values)
        size = masked.cardinality
        self.share = np.zeros(size)
        self.low, self.high = np.full(size, np.nan), np.full(size, np.nan)
        self.blank = np.zeros(size, dtype=np.bool_)
        self.first, self.last = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        self.pairs: list[NDArray[np.int64]] = []

    def read(self) -> Coarse:
        self.ranks = np.arange(self.originals)
        if len(self.numbers):
            order = np.argsort(self.numbers, kind="stable")  # an owner's order may differ from that of the numbers
            self.ranks = np.empty(self.originals, dtype=np.int64)
            self.ranks[order] = np.arange(self.originals)
            self.ordered = self.numbers[order]
        todo = self._plain()
        for code in todo:
            self._one(int(code))
        if self.masked.has_null:
            self._everything(len(self.masked.values))
        keys = np.unique(np.concatenate(self.pairs)) if self.pairs else np.zeros(0, dtype=np.int64)
        return Coarse(
            self.share, self.low, self.high, self.blank, self.first, self.last, keys, self.ranks, self.numbers, self.originals
        )

    def _plain(self) -> Iterable[int]:
        """Place plain numbers and unchanged values; return the codes that are left."""
        values = self.masked.values
        size = len(values)
        left = np.ones(size, dtype=np.bool_)
        alike = values.dtype == self.original.values.dtype
        if len(self.numbers) and size and (alike or not self.original.values.dtype.is_temporal()):
            found = as_numbers(values, strict=False)
            plain = ~np.isnan(found)
            self.low[:size][plain] = self.high[:size][plain] = found[plain]
            self.first[:size][plain] = np.searchsorted(self.ordered, found[plain], side="left")
            self.last[:size][plain] = np.searchsorted(self.ordered, found[plain], side="right")
            left &= ~plain
        elif alike and size and self.originals:
            place = {value: code for code, value in enumerate(self.original.values.to_list())}
            same = np.array([place.get(value, -1) for value in values.to_list()], dtype=np.int64)
            self._single(np.flatnonzero(same >= 0), same[same >= 0])
            left &= same < 0
        if self.hierarchy is not None:
            groups = {label for label, leaves in self.hierarchy.members.items() if len(leaves) > 1}
            left |= np.array([printed(value)[-1] in groups for value in values.to_list()], dtype=np.bool_)
        return np.flatnonzero(left)

    def _single(self, codes: NDArray[np.int64], originals: NDArray[np.int64]) -> None:
        self.first[codes] = self.ranks[originals]
        self.last[codes] = self.ranks[originals] + 1

    def _one(self, code: int) -> None:
        text = printed(self.masked.values[code])[-1]
        if text == EVERYTHING:
            self._everything(code)
        elif self.numeric and len(self.numbers) and (interval := parse_interval(text)) is not None:
            self._interval(code, interval)
        elif self.hierarchy is not None and text in self.hierarchy.members:
            self._set(code, self.hierarchy.members[text])
        elif text in self.place:
            self._single(np.array([code]), np.array([self.place[text]]))
        elif (group := parse_group(text)) is not None:
            self._set(code, group.members)
        elif len(self.numbers) and (interval := parse_interval(text)) is not None:
            self._interval(code, interval)
            inside = int(self.last[code] - self.first[code])
            self.share[code] = inside / self.originals if inside > 1 else 0.0

    @cached_property
    def place(self) -> dict[str, int]:
        """Original codes by the texts that name them."""
        return {text: code for code, value in enumerate(self.original.values.to_list()) for text in printed(value)}

    def _everything(self, code: int) -> None:
        self.share[code], self.blank[code] = 1.0, True
        self.first[code], self.last[code] = 0, self.originals

    def _interval(self, code: int, interval: Interval) -> None:
        least, most = self.ordered[0], self.ordered[-1]
        self.low[code] = np.clip(interval.lower, least, most)
        self.high[code] = np.clip(interval.upper, least, most)
        if most > least:
            self.share[code] = max(0.0, self.high[code] - self.low[code]) / (most - least)
        self.first[code] = np.searchsorted(self.ordered, interval.lower, side="left" if interval.lower_inside else "right")
        self.last[code] = np.searchsorted(self.ordered, interval.upper, side="right" if interval.upper_inside else "left")

    def _set(self, code: int, members: Iterable[str]) -> None:
        """A group of leaves; members may themselves be labels of the hierarchy."""
        leaves: set[str] = set()
        for member in members:
            leaves |= self.hierarchy.members.get(member, {member}) if self.hierarchy is not None else {member}
        total = len(self.hierarchy.leaves) if self.hierarchy is not None else self.originals
        self.share[code] = min(1.0, len(leaves) / total) if len(leaves) > 1 and total else 0.0
        codes = np.array([self.place[leaf] for leaf in leaves if leaf in self.place], dtype=np.int64)
        self.low[code] = self.high[code] = np.nan
        self.first[code] = self.last[code] = 0
        self.pairs.append(code * self.originals + codes)


def as_numbers(values: pl.Series, *, strict: bool = True) -> NDArray[np.float64]:
    """Values as numbers: of a numeric or date column; nothing (``strict``) or not-a-number where they are not."""
    if values.dtype.is_numeric():
        return values.cast(pl.Float64).to_numpy()
    if values.dtype.is_temporal():
        return values.to_physical().cast(pl.Float64).to_numpy()
    if strict or values.dtype != pl.String:
        return np.zeros(0) if strict else np.full(len(values), np.nan)
    found = values.str.strip_chars().cast(pl.Float64, strict=False).fill_null(float("nan"))
    return found.to_numpy()
