"""Which values of a target agree with which values of a masked column: the ground of every linkage.

Agreement is worked out once a pair of distinct values and looked up for records. A target's value agrees with

* an equal value, or one within a tolerance: a run of masked codes, which lie in the order of the values,
* an interval, group or hierarchy's label that contains it: a short list of masked codes,
* a similar text (Jaro-Winkler similarity, or number of edits): asked for pairs of values only when they are compared,
* a blank cell (null or ``*``), which agrees with anything. A target's null is a field that the intruder does not know.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from discreet.engine.cells.atoms import agreeing_codes, atoms_of, read_sides
from discreet.engine.cells.midpoints import as_numbers, is_number, positions_per_unit
from discreet.engine.cells.positions import position
from discreet.engine.cells.reader import Reading
from discreet.engine.encoding.columns import Column, encode_series
from discreet.engine.encoding.shared_codes import to_common_type
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

    ``first``, ``last`` are the agreeing run of masked codes a target code; ``starts``, ``members`` further agreeing
    codes. Target code ``unknown`` is null, others stand for ``values``; masked code ``blank`` says nothing.
    """

    name: str
    targets: NDArray[np.int64]
    masked: NDArray[np.int64]
    unknown: int
    blank: int
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    starts: NDArray[np.int64]
    members: NDArray[np.int64]
    values: pl.Series
    fuzzy: Fuzzy | None = None
    masked_values: pl.Series | None = None
    keys: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        owners = np.repeat(np.arange(self.unknown), np.diff(self.starts))
        object.__setattr__(self, "keys", np.sort(owners * (self.blank + 1) + self.members))

    @property
    def single(self) -> bool:
        """Whether each target value agrees with at most one masked value."""
        return not len(self.members) and bool(((self.last - self.first) <= 1).all())

    def counts(self) -> NDArray[np.int64]:
        """How many masked records have each code, the blank one last."""
        return np.bincount(self.masked, minlength=self.blank + 1)

    def agreeing(self) -> NDArray[np.int64]:
        """For each target value how many masked records say so (fuzzy attributes: exactly so)."""
        upto = np.concatenate(([0], np.cumsum(self.counts()[: self.blank])))
        found = upto[self.last] - upto[self.first]
        owners = np.repeat(np.arange(self.unknown), np.diff(self.starts))
        inside = (self.members >= self.first[owners]) & (self.members < self.last[owners])
        extra = np.where(inside, 0, self.counts()[self.members])
        return found + np.bincount(owners, weights=extra, minlength=self.unknown).astype(np.int64)

    def agreeing_codes(self, targets: NDArray[np.int64], masked: NDArray[np.int64]) -> NDArray[np.int8]:
        """For pairs of codes: 1 where they agree, 0 where they do not, -1 where one of them says nothing."""
        silent = (targets == self.unknown) | (masked == self.blank)
        asked = np.where(silent, 0, targets)
        if not self.unknown:
            return np.full(len(targets), -1, dtype=np.int8)
        found = (masked >= self.first[asked]) & (masked < self.last[asked])
        if len(self.keys):
            key = asked * (self.blank + 1) + masked
            found |= self.keys[np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)] == key
        if self.fuzzy is not None:
            rest = np.flatnonzero(~found & ~silent)
            found[rest] = self.similar(targets[rest], masked[rest])
        return np.where(silent, -1, found).astype(np.int8)

    def similar(self, targets: NDArray[np.int64], masked: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the texts behind pairs of codes are similar; each different pair of texts is compared once."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA, JaroWinkler

        if self.fuzzy is None or self.masked_values is None:
            raise DataError(f"'{self.name}' is not compared by similarity")
        pairs, back = np.unique(targets * self.blank + masked, return_inverse=True)
        left = self.values.gather(pairs // self.blank).to_list()
        right = self.masked_values.gather(pairs % self.blank).to_list()
        kind, limit = self.fuzzy
        if kind == "similarity":
            found = process.cpdist(left, right, scorer=JaroWinkler.similarity, dtype=np.float64) >= limit - 1e-12
        else:
            found = process.cpdist(left, right, scorer=OSA.distance, dtype=np.int64) <= limit
        return np.asarray(found)[back]

    def chance_similarity(self) -> float:
        """The probability that the values of a random target and a random masked record are similar but not equal."""
        from discreet.engine.draws.draw import KeyedDraw

        if self.fuzzy is None or not self.unknown or not self.blank:
            return 0.0
        counts, asked = self.counts()[: self.blank], np.bincount(self.targets, minlength=self.unknown + 1)[: self.unknown]
        if not counts.sum() or not asked.sum():
            return 0.0
        if self.unknown * self.blank <= _MOST_VALUE_PAIRS:
            left, right = (grid.ravel() for grid in np.meshgrid(np.arange(self.unknown), np.arange(self.blank), indexing="ij"))
            weights = asked[left] * counts[right]
            total = weights.sum()
        else:
            draw, pairs = KeyedDraw(0), np.arange(_MOST_VALUE_PAIRS)
            known, held = np.flatnonzero(self.targets < self.unknown), np.flatnonzero(self.masked < self.blank)
            left = self.targets[known[(draw.uniform(pairs, "left") * len(known)).astype(np.int64)]]
            right = self.masked[held[(draw.uniform(pairs, "right") * len(held)).astype(np.int64)]]
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
) -> Comparison:
    """How a column of a list agrees with a masked column, of which ``cells`` says what its labels stand for.

    ``true``: the targets are the original values, so that a masked text that none of them explains is an error.

    >>> one = compare(pl.Series("age", [26, None]), pl.Series("age", ["20..30", "30..40", None]))
    >>> one.agree(one.targets[[0, 0, 0, 1]], one.masked[[0, 1, 2, 0]]).tolist()
    [1, 0, -1, -1]
    """
    if fuzzy is not None:
        return _by_text(targets, masked, fuzzy)
    if tolerance is not None:
        return _within(targets, masked, tolerance, cells)
    declared = hierarchy is not None or cells is not None or target_cells is not None
    if not declared and masked.dtype == targets.dtype and masked.dtype != pl.String:
        return _equal(targets, masked)
    left, right = encode_series(targets), encode_series(masked)
    sides = [(left, target_cells), (right, cells)]
    readings = read_sides(sides, hierarchy=hierarchy, reference=0 if true else None)
    if not declared and masked.dtype == targets.dtype and not any(one.cells or _stars(one) for one in readings):
        return _equal(targets, masked)
    mine, theirs = atoms_of(readings)
    starts, members = agreeing_codes(mine, theirs)
    known = len(left.values)
    owners = np.repeat(np.arange(len(mine.blank)), np.diff(starts))
    blank, silent = theirs.blank, np.flatnonzero(mine.blank[:known])
    if len(silent):  # a target's cell that says nothing agrees with every value
        every = np.flatnonzero(~blank[: len(right.values)])
        owners = np.concatenate((owners, np.repeat(silent, len(every))))
        members = np.concatenate((members, np.tile(every, len(silent))))
    return _listed(targets.name, left, right, blank, owners, members)


def _stars(reading: Reading) -> bool:
    return bool(reading.blank[: len(reading.plain)].any())


def _equal(targets: pl.Series, masked: pl.Series, fuzzy: Fuzzy | None = None) -> Comparison:
    one, two = to_common_type(targets, masked)
    column = encode_series(pl.concat([one, two]))
    size = len(column.values)
    codes = column.codes.astype(np.int64)
    run = np.arange(size, dtype=np.int64)
    return Comparison(
        targets.name, codes[: len(one)], codes[len(one) :], size, size, run, run + 1,
        np.zeros(size + 1, dtype=np.int64), np.zeros(0, dtype=np.int64), column.values, fuzzy, column.values,
    )  # fmt: skip


def _by_text(targets: pl.Series, masked: pl.Series, fuzzy: Fuzzy) -> Comparison:
    for series in (targets, masked):
        if series.dtype.is_temporal() or series.dtype.is_float():
            raise DataError(f"'{series.name}' is {series.dtype}: similarity compares texts; give numbers and dates a tolerance")
    one, two = (series.cast(pl.String) for series in (targets, masked))
    return _equal(one, two.set(two == EVERYTHING, None) if len(two) else two, fuzzy)


def _within(targets: pl.Series, masked: pl.Series, tolerance: float, cells: ColumnCells | None) -> Comparison:
    if not is_number(targets):
        raise DataError(f"a tolerance needs numbers or dates, but '{targets.name}' is {targets.dtype}")
    left, right = encode_series(targets), encode_series(masked)
    values = as_numbers(left.values)
    if is_number(masked) and cells is None:
        held = as_numbers(right.values)
        first = np.searchsorted(held, values - tolerance * (1 + 1e-12), side="left")
        last = np.searchsorted(held, values + tolerance * (1 + 1e-12), side="right")
        size = len(held)
        return Comparison(
            targets.name, left.codes.astype(np.int64), right.codes.astype(np.int64), len(values), size, first, last,
            np.zeros(len(values) + 1, dtype=np.int64), np.zeros(0, dtype=np.int64), left.values,
        )  # fmt: skip
    said = read_sides([(left, None), (right, cells)], reference=0)[1]
    spans = [(code, place, place) for code, place in _places(said)]
    spans += [(code, low, high) for code, cell in said.cells.items() for low, high in _spans(cell, said.kind)]
    plain = np.array([code for code, _, _ in spans], dtype=np.int64)
    order = np.argsort(values, kind="stable")
    lows, highs = (np.array([span[at] for span in spans], dtype=np.float64) for at in (1, 2))
    low = np.searchsorted(values[order], lows - tolerance * (1 + 1e-12), side="left")
    high = np.searchsorted(values[order], highs + tolerance * (1 + 1e-12), side="right")
    owners, members = _invert(plain, low, high, order)
    return _listed(targets.name, left, right, _blank_codes(right), owners, members)


def _places(said: Reading) -> list[tuple[int, float]]:
    codes = np.flatnonzero(said.plain)
    return list(zip(codes.tolist(), (said.positions[codes].astype(np.float64) / positions_per_unit(said.kind)).tolist(), strict=True))


def _spans(cell: Cell, kind: Kind) -> list[tuple[float, float]]:
    """The numbers that a masked cell stands for, as closed intervals."""
    if isinstance(cell, Interval):
        return [(_number(cell.lower, kind), _number(cell.upper, kind))]
    if not isinstance(cell, Group) or cell.others:
        return [(-np.inf, np.inf)]
    points = [_number(value, kind) for member in cell.members if (value := parse_value(member, kind)) is not None]
    return [(point, point) for point in points] + [span for part in cell.parts for span in _spans(part, kind)]


def _number(bound: Any, kind: Kind) -> float:
    return bound if isinstance(bound, float) and np.isinf(bound) else float(position(bound)) / positions_per_unit(kind)


def _blank_codes(right: Column) -> NDArray[np.bool_]:
    found = np.zeros(right.cardinality, dtype=np.bool_)
    if right.values.dtype == pl.String:
        found[: len(right.values)] = (right.values == EVERYTHING).to_numpy()
    found[len(right.values) :] = True
    return found


def _invert(codes: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64], order: NDArray[np.int64]) -> Any:
    """Runs of target ranks a masked code, turned into (target code, masked code) pairs."""
    lengths = np.maximum(last - first, 0)
    steps = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return order[np.repeat(first, lengths) + steps], np.repeat(codes, lengths)


def _listed(
    name: str, left: Column, right: Column, blank: NDArray[np.bool_], owners: NDArray[np.int64], members: NDArray[np.int64]
) -> Comparison:
    size, known = len(right.values), len(left.values)
    masked = np.where(np.append(blank, True)[right.codes], size, right.codes).astype(np.int64)
    pairs = np.unique(owners * (size + 1) + members) if len(owners) else np.zeros(0, dtype=np.int64)
    starts = np.searchsorted(pairs, np.arange(known + 1) * (size + 1))
    none = np.zeros(known, dtype=np.int64)
    return Comparison(name, left.codes.astype(np.int64), masked, known, size, none, none, starts, pairs % (size + 1), left.values)
