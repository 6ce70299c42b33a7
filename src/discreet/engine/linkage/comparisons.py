"""Which values of a target agree with which values of a masked column: the basis of all record linkage.

Agreement is computed once per pair of distinct values and looked up for records. A target's value agrees with

* an equal value, or one within a tolerance: a run of masked codes, which are in the order of the values,
* an interval, group or label of a hierarchy that contains it: a short list of masked codes,
* a similar text (Jaro-Winkler similarity, or edit distance): computed for pairs of values only when they are compared,
* a blank cell (null or ``*``), which agrees with anything. A target's null is a field that the intruder does not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from discreet.engine.cells.agreement import AgreeingCodes, agreeing_codes, expand_ranges
from discreet.engine.cells.atoms import atoms_of, read_sides
from discreet.engine.cells.midpoints import as_numbers, is_number, positions_per_unit
from discreet.engine.cells.positions import position
from discreet.engine.cells.reader import Reading
from discreet.engine.encoding.columns import Column, encode_series
from discreet.engine.encoding.shared_codes import to_common_type
from discreet.engine.encoding.unique_keys import unique_keys
from discreet.errors import DataError
from discreet.model.cells import EVERYTHING, Cell, ColumnCells, Group, Interval, Kind, parse_value
from discreet.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_VALUE_PAIRS = 200_000
Fuzzy = tuple[Literal["similarity", "edits"], float]


@dataclass(frozen=True, eq=False)
class Comparison:
    """One attribute of targets and masked records: codes, and the masked codes that agree with each target code.

    The agreeing masked codes of a target code are the run from ``first`` to ``last``, or those ``listed``; not both. The target
    code ``unknown`` is null, the others index ``values``; the masked code ``blank`` agrees with anything.
    """

    name: str
    targets: NDArray[np.int64]
    masked: NDArray[np.int64]
    unknown: int
    blank: int
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    listed: AgreeingCodes
    values: pl.Series
    fuzzy: Fuzzy | None = None
    masked_values: pl.Series | None = None

    @cached_property
    def has_lists(self) -> bool:
        """Whether agreeing codes are listed, and are no runs."""
        return bool(self.listed.counts.any())

    @property
    def single(self) -> bool:
        """Whether each target value agrees with at most one masked value."""
        return not self.has_lists and bool(((self.last - self.first) <= 1).all())

    def counts(self) -> NDArray[np.int64]:
        """The number of masked records with each code, the blank one last."""
        return np.bincount(self.masked, minlength=self.blank + 1)

    def agreeing(self) -> NDArray[np.int64]:
        """For each target value the number of masked records that agree with it (fuzzy attributes: that are equal)."""
        return self.sum_agreeing(self.counts())

    def sum_agreeing(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each target value the sum of the weights of the masked codes that agree with it, but for the blank one."""
        if self.has_lists:
            return self.listed.sum_weights(weights)
        upto = np.concatenate(([0], np.cumsum(weights[: self.blank])))
        return np.asarray(upto[self.last] - upto[self.first])

    def compare_codes(self, targets: NDArray[np.int64], masked: NDArray[np.int64]) -> NDArray[np.int8]:
        """For pairs of codes: 1 where they agree, 0 where they do not, -1 where either is null or blank."""
        is_missing = (targets == self.unknown) | (masked == self.blank)
        known_targets = np.where(is_missing, 0, targets)
        if not self.unknown:
            return np.full(len(targets), -1, dtype=np.int8)
        agrees = (masked >= self.first[known_targets]) & (masked < self.last[known_targets])
        if self.has_lists:
            agrees |= self.listed.contain(known_targets, np.where(is_missing, 0, masked))
        if self.fuzzy is not None:
            rest = np.flatnonzero(~agrees & ~is_missing)
            agrees[rest] = self.similar(targets[rest], masked[rest])
        return np.where(is_missing, -1, agrees).astype(np.int8)

    def similar(self, targets: NDArray[np.int64], masked: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the texts of pairs of codes are similar; each distinct pair of texts is compared once."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA, JaroWinkler

        if self.fuzzy is None or self.masked_values is None:
            raise DataError(f"'{self.name}' is not compared by similarity")
        pairs, pair_index = np.unique(targets * self.blank + masked, return_inverse=True)
        left = self.values.gather(pairs // self.blank).to_list()
        right = self.masked_values.gather(pairs % self.blank).to_list()
        kind, limit = self.fuzzy
        if kind == "similarity":
            is_similar = process.cpdist(left, right, scorer=JaroWinkler.similarity, dtype=np.float64) >= limit - 1e-12
        else:
            is_similar = process.cpdist(left, right, scorer=OSA.distance, dtype=np.int64) <= limit
        return np.asarray(is_similar)[pair_index]

    def chance_similarity(self) -> float:
        """The probability that the values of a random target and a random masked record are similar but not equal."""
        from discreet.engine.draws.draw import KeyedDraw

        if self.fuzzy is None or not self.unknown or not self.blank:
            return 0.0
        counts, target_counts = self.counts()[: self.blank], np.bincount(self.targets, minlength=self.unknown + 1)[: self.unknown]
        if not counts.sum() or not target_counts.sum():
            return 0.0
        if self.unknown * self.blank <= _MOST_VALUE_PAIRS:
            left, right = (grid.ravel() for grid in np.meshgrid(np.arange(self.unknown), np.arange(self.blank), indexing="ij"))
            weights = target_counts[left] * counts[right]
            total = weights.sum()
        else:
            draw, pairs = KeyedDraw(0), np.arange(_MOST_VALUE_PAIRS)
            known, not_blank = np.flatnonzero(self.targets < self.unknown), np.flatnonzero(self.masked < self.blank)
            left = self.targets[known[(draw.uniform(pairs, "left") * len(known)).astype(np.int64)]]
            right = self.masked[not_blank[(draw.uniform(pairs, "right") * len(not_blank)).astype(np.int64)]]
            weights, total = np.ones(len(pairs), dtype=np.int64), len(pairs)
        rest = np.flatnonzero(~((right >= self.first[left]) & (right < self.last[left])))
        return float(weights[rest][self.similar(left[rest], right[rest])].sum() / total)


def compare(
    targets: pl.Series,
    masked: pl.Series,
    *,
    tolerance: float | None = None,
    fuzzy: Fuzzy | None = None,
    hierarchy: Hierarchy | None = None,
    cells: ColumnCells | None = None,
    target_cells: ColumnCells | None = None,
    true: bool = False,
    encoded: tuple[Column | None, Column | None] = (None, None),
) -> Comparison:
    """Compare a column of a list of targets with a masked column; ``cells`` is the meaning of its labels.

    ``true``: the targets are the original values, so that a masked text that nothing explains is an error. ``encoded`` are the
    codes of both columns where they are known, in any order of the values.

    >>> comparison = compare(pl.Series("age", [26, None]), pl.Series("age", ["20..30", "30..40", None]))
    >>> comparison.compare_codes(comparison.targets[[0, 0, 0, 1]], comparison.masked[[0, 1, 2, 0]]).tolist()
    [1, 0, -1, -1]
    """
    if fuzzy is not None:
        return _compare_by_similarity(targets, masked, fuzzy)
    if tolerance is not None:
        return _compare_within_tolerance(targets, masked, tolerance, cells)
    declared = hierarchy is not None or cells is not None or target_cells is not None
    if not declared and masked.dtype == targets.dtype and masked.dtype != pl.String:
        return _compare_exactly(targets, masked)
    if targets is masked and target_cells is cells and not true:  # a column that is compared with itself is read once
        left = right = encoded[1] or encode_series(masked)
        readings = read_sides([(right, cells)], hierarchy=hierarchy) * 2
    else:
        left, right = encoded[0] or encode_series(targets), encoded[1] or encode_series(masked)
        readings = read_sides([(left, target_cells), (right, cells)], hierarchy=hierarchy, reference=0 if true else None)
    if not declared and masked.dtype == targets.dtype and not any(reading.cells or _has_stars(reading) for reading in readings):
        return _compare_exactly(targets, masked)
    target_atoms, masked_atoms = atoms_of(readings)
    agreeing = agreeing_codes(target_atoms, masked_atoms)
    known = len(left.values)
    blank, blank_targets = masked_atoms.blank, np.flatnonzero(target_atoms.blank[:known])
    if len(blank_targets):  # a blank cell of a target agrees with every value
        owners = np.repeat(np.arange(len(target_atoms.blank)), agreeing.counts)
        all_codes = np.flatnonzero(~blank[: len(right.values)])
        owners = np.concatenate((owners, np.repeat(blank_targets, len(all_codes))))
        members = np.concatenate((agreeing.members, np.tile(all_codes, len(blank_targets))))
        return _comparison_from_pairs(targets.name, left, right, blank, owners, members)
    return _comparison_from_lists(targets.name, left, right, blank, agreeing.head(known))


def _has_stars(reading: Reading) -> bool:
    return bool(reading.blank[: len(reading.plain)].any())


def _compare_exactly(targets: pl.Series, masked: pl.Series, fuzzy: Fuzzy | None = None) -> Comparison:
    left, right = to_common_type(targets, masked)
    column = encode_series(pl.concat([left, right]))
    size = len(column.values)
    codes = column.codes.astype(np.int64)
    run = np.arange(size, dtype=np.int64)
    return Comparison(
        targets.name, codes[: len(left)], codes[len(left) :], size, size, run, run + 1, AgreeingCodes.none(size, size),
        column.values, fuzzy, column.values,
    )  # fmt: skip


def _compare_by_similarity(targets: pl.Series, masked: pl.Series, fuzzy: Fuzzy) -> Comparison:
    for series in (targets, masked):
        if series.dtype.is_temporal() or series.dtype.is_float():
            raise DataError(f"'{series.name}' is {series.dtype}: similarity compares texts; give numbers and dates a tolerance")
    left, right = (series.cast(pl.String) for series in (targets, masked))
    return _compare_exactly(left, right.set(right == EVERYTHING, None) if len(right) else right, fuzzy)


def _compare_within_tolerance(targets: pl.Series, masked: pl.Series, tolerance: float, cells: ColumnCells | None) -> Comparison:
    if not is_number(targets):
        raise DataError(f"a tolerance needs numbers or dates, but '{targets.name}' is {targets.dtype}")
    left, right = encode_series(targets), encode_series(masked)
    values = as_numbers(left.values)
    if is_number(masked) and cells is None:
        masked_numbers = as_numbers(right.values)
        first = np.searchsorted(masked_numbers, values - tolerance * (1 + 1e-12), side="left")
        last = np.searchsorted(masked_numbers, values + tolerance * (1 + 1e-12), side="right")
        size = len(masked_numbers)
        return Comparison(
            targets.name, left.codes.astype(np.int64), right.codes.astype(np.int64), len(values), size, first, last,
            AgreeingCodes.none(len(values), size), left.values,
        )  # fmt: skip
    reading = read_sides([(left, None), (right, cells)], reference=0)[1]
    spans = [(code, number, number) for code, number in _plain_numbers(reading)]
    spans += [(code, low, high) for code, cell in reading.cells.items() for low, high in _spans(cell, reading.kind)]
    plain = np.array([code for code, _, _ in spans], dtype=np.int64)
    order = np.argsort(values, kind="stable")
    lows, highs = (np.array([span[index] for span in spans], dtype=np.float64) for index in (1, 2))
    low = np.searchsorted(values[order], lows - tolerance * (1 + 1e-12), side="left")
    high = np.searchsorted(values[order], highs + tolerance * (1 + 1e-12), side="right")
    owners, members = _target_masked_pairs(plain, low, high, order)
    return _comparison_from_pairs(targets.name, left, right, _blank_codes(right), owners, members)


def _plain_numbers(reading: Reading) -> list[tuple[int, float]]:
    codes = np.flatnonzero(reading.plain)
    return list(
        zip(
            codes.tolist(), (reading.positions[codes].astype(np.float64) / positions_per_unit(reading.kind)).tolist(), strict=True
        )
    )


def _spans(cell: Cell, kind: Kind) -> list[tuple[float, float]]:
    """The closed intervals of numbers that a masked cell stands for."""
    if isinstance(cell, Interval):
        return [(_bound_number(cell.lower, kind), _bound_number(cell.upper, kind))]
    if not isinstance(cell, Group) or cell.others:
        return [(-np.inf, np.inf)]
    points = [_bound_number(value, kind) for member in cell.members if (value := parse_value(member, kind)) is not None]
    return [(point, point) for point in points] + [span for part in cell.parts for span in _spans(part, kind)]


def _bound_number(bound: Any, kind: Kind) -> float:
    return bound if isinstance(bound, float) and np.isinf(bound) else float(position(bound)) / positions_per_unit(kind)


def _blank_codes(right: Column) -> NDArray[np.bool_]:
    blank = np.zeros(right.cardinality, dtype=np.bool_)
    if right.values.dtype == pl.String:
        blank[: len(right.values)] = (right.values == EVERYTHING).to_numpy()
    blank[len(right.values) :] = True
    return blank


def _target_masked_pairs(
    codes: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64], order: NDArray[np.int64]
) -> Any:
    """(target code, masked code) pairs from the run of target ranks of each masked code."""
    owners, ranks = expand_ranges(first, last)
    return order[ranks], codes[owners]


def _comparison_from_pairs(
    name: str, left: Column, right: Column, blank: NDArray[np.bool_], owners: NDArray[np.int64], members: NDArray[np.int64]
) -> Comparison:
    size, known = len(right.values), len(left.values)
    pairs = owners * (size + 1) + members if len(owners) else np.zeros(0, dtype=np.int64)
    if (np.diff(pairs) <= 0).any():
        pairs = unique_keys(pairs)
    starts = np.searchsorted(pairs, np.arange(known + 1) * (size + 1))
    return _comparison_from_lists(name, left, right, blank, AgreeingCodes(size + 1, (starts, pairs % (size + 1))))


def _comparison_from_lists(
    name: str, left: Column, right: Column, blank: NDArray[np.bool_], agreeing: AgreeingCodes
) -> Comparison:
    size, known = len(right.values), len(left.values)
    masked = np.where(np.append(blank, True)[right.codes], size, right.codes).astype(np.int64)
    first, last, counts = np.zeros(known, dtype=np.int64), np.zeros(known, dtype=np.int64), agreeing.counts
    if (counts <= 1).all():  # as runs, of which records that agree are found by a hash table
        first[counts == 1] = agreeing.members
        last = first + counts
        agreeing = AgreeingCodes.none(known, size)
    return Comparison(name, left.codes.astype(np.int64), masked, known, size, first, last, agreeing, left.values)
