"""Columns that are computed from others: logarithms, squares, multiples, sums, products, recodes, parts of a date, indicators.

Each relation is refuted on some hundred records first and then verified on all, so that the result does not depend on the order
of the records. A relation that few records could refute (a constant, a column with hardly a repeated value) is not reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.analysis.quasi_identifiers import refined_class_sizes
from discreet.engine.recognition.value_facts import Facts

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SAMPLE = 256
_MOST_COLUMNS = 300
"""In wider tables only this many columns are compared."""
_MOST_RECODED = 400
"""Distinct values of a column that another is recoded from."""
_LEAST_RECORDS, _LEAST_REPEATS = 20, 20
_TOLERANCE = 2e-4
_MOST_SHARE, _MOST_PRODUCT_SHARE = 0.97, 0.95
"""A column whose most frequent value has a larger share could agree with others by accident."""
_MOST_SUMMED = 80
_MEDIUM = 4_000
_LEAST_VALUES = 4
"""Distinct values that a number must have for a relation to mean anything."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """A column, what it is computed from, and how, in words."""

    sources: tuple[str, ...]
    sentence: str
    between_dates: bool = False
    """Whether it is the time between two dates, which whoever knows both dates knows."""


def find_derivations(facts: Sequence[Facts]) -> dict[str, Derivation]:
    """For each column that is computed from others: from which and how; the later of two columns is the computed one."""
    if not facts or facts[0].records < _LEAST_RECORDS:
        return {}
    compared = list(facts[:_MOST_COLUMNS])
    rows = np.unique(np.linspace(0, facts[0].records - 1, _SAMPLE).astype(np.int64))
    derived: dict[str, Derivation] = {}
    _find_date_parts(compared, derived)
    _find_functions(compared, rows, derived)
    _find_sums(compared, rows, derived)
    _find_recodes(compared, rows, derived)
    return derived


def values_per_record(facts: Facts, rows: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    """The numbers of a column, one per record, nulls as NaN."""
    table = np.append(facts.numbers, np.nan) if facts.column.has_null else facts.numbers
    codes = facts.column.codes if rows is None else facts.column.codes[rows]
    return np.asarray(table[codes], dtype=np.float64)


def _agrees(left: NDArray[np.float64], right: NDArray[np.float64]) -> bool:
    both = np.isfinite(left) & np.isfinite(right)
    if both.sum() < max(_LEAST_VALUES, 0.5 * len(left)):
        return False
    return bool(np.allclose(left[both], right[both], rtol=_TOLERANCE, atol=1e-6))


def _apply(words: str, source: NDArray[np.float64]) -> NDArray[np.float64]:
    """A function of the values; a multiple is compared after division by the median size."""
    with np.errstate(all="ignore"):
        if words == "the square of":
            return np.square(source)
        if words == "the logarithm of":
            return np.log(np.where(source > 0, source, np.nan))
        if words == "the logarithm of 1 plus":
            return np.log1p(np.where(source > -1, source, np.nan))
        if words == "the decimal logarithm of":
            return np.log10(np.where(source > 0, source, np.nan))
        sizes = np.abs(source[(source != 0) & np.isfinite(source)])
        return source / np.median(sizes) if len(sizes) else source * np.nan


_FUNCTIONS = ("the square of", "the logarithm of", "the logarithm of 1 plus", "the decimal logarithm of", "a multiple of")


def _rows_that_agree(matrix: NDArray[np.float64], image: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rows of a matrix that hold the image, as far as both have a value."""
    with np.errstate(all="ignore"):
        apart = np.abs(matrix - image) > _TOLERANCE * np.abs(image) + 1e-6
    return np.flatnonzero(~apart.any(axis=1))


def _find_functions(facts: Sequence[Facts], rows: NDArray[np.int64], derived: dict[str, Derivation]) -> None:
    numeric = [
        candidate
        for candidate in facts
        if candidate.is_number and candidate.distinct >= _LEAST_VALUES and candidate.top_share < _MOST_SHARE
    ]
    if len(numeric) < 2:
        return
    samples = np.stack([values_per_record(candidate, rows) for candidate in numeric])
    scaled = np.stack([_apply("a multiple of", values_per_record(candidate)[rows]) for candidate in numeric])
    for index, source in enumerate(numeric):
        for words in _FUNCTIONS:
            is_multiple = words == "a multiple of"
            image = scaled[index] if is_multiple else _apply(words, samples[index])
            for place in _rows_that_agree(scaled if is_multiple else samples, image):
                target = numeric[int(place)]
                if place == index or {source.name, target.name} & set(derived) or (is_multiple and place < index):
                    continue
                other = values_per_record(target)
                other = _apply(words, other) if is_multiple else other
                if _agrees(_apply(words, values_per_record(source)), other):
                    derived[target.name] = Derivation((source.name,), f"{words} '{source.name}'")


def _find_sums(facts: Sequence[Facts], rows: NDArray[np.int64], derived: dict[str, Derivation]) -> None:
    """Sums and products of two columns, and sums of columns side by side."""
    numeric = [
        candidate for candidate in facts if candidate.is_number and candidate.distinct >= 2 and candidate.top_share < _MOST_SHARE
    ][:_MOST_SUMMED]
    if len(numeric) < 3:
        return
    few = np.stack([values_per_record(candidate, rows[:: max(1, len(rows) // 32)]) for candidate in numeric])
    for first in range(len(numeric)):
        for second in range(first + 1, len(numeric)):
            for words, combined in (("sum", few[first] + few[second]), ("product", few[first] * few[second])):
                for third in _rows_that_agree(few, combined):
                    if int(third) not in (first, second):
                        _check_pair(numeric, (first, second, int(third)), words, derived)
    for start in range(len(numeric)):
        total = few[start].copy()
        for end in range(start + 1, min(start + 12, len(numeric))):
            total = total + few[end]
            for third in _rows_that_agree(few, total) if end - start >= 2 else ():
                if not start <= int(third) <= end and numeric[int(third)].name not in derived:
                    _check_total(numeric, range(start, end + 1), int(third), derived)


def _check_pair(numeric: Sequence[Facts], places: tuple[int, int, int], words: str, derived: dict[str, Derivation]) -> None:
    first, second, third = (numeric[index] for index in places)
    # a = b + c can be read in three ways: the last column is the computed one
    target = numeric[max(places)] if words == "sum" else third
    sources = [candidate for candidate in (first, second, third) if candidate is not target]
    if {target.name, *(candidate.name for candidate in sources)} & set(derived) or target.distinct < (3 if words == "sum" else 2):
        return
    if words == "product" and (first.top_share > _MOST_PRODUCT_SHARE or second.top_share > _MOST_PRODUCT_SHARE):
        return
    step = max(1, target.records // _MEDIUM)
    for rows in (np.arange(0, target.records, step), None):  # refuted on some thousand records, verified on all
        left, right, result = (values_per_record(candidate, rows) for candidate in (first, second, third))
        if not _agrees(left + right if words == "sum" else left * right, result):
            return
    if not _agrees(left, result) and not _agrees(right, result):
        how = "product" if words == "product" else "sum" if target is third else "difference"
        named = tuple(candidate.name for candidate in sources)
        derived[target.name] = Derivation(named, f"the {how} of '{named[0]}' and '{named[1]}'")


def _check_total(numeric: Sequence[Facts], parts: range, third: int, derived: dict[str, Derivation]) -> None:
    target = numeric[third]
    total = np.sum([values_per_record(numeric[part]) for part in parts], axis=0)
    if target.distinct >= 3 and _agrees(total, values_per_record(target)):
        sources = tuple(numeric[part].name for part in parts)
        listed = ", ".join(f"'{name}'" for name in sources[:4]) + (", …" if len(sources) > 4 else "")
        derived[target.name] = Derivation(sources, f"the sum of {listed}")


def _find_recodes(facts: Sequence[Facts], rows: NDArray[np.int64], derived: dict[str, Derivation]) -> None:
    """Columns of few values that another column of more values determines, such as an age group by the age."""
    sources = [
        (place, candidate, candidate.column.codes[rows].astype(np.int64))
        for place, candidate in enumerate(facts)
        if candidate.present - candidate.distinct >= _LEAST_REPEATS
        and 3 <= candidate.distinct <= _MOST_RECODED
        and candidate.top_share <= _MOST_SHARE
    ]
    for index, target in enumerate(facts):
        if target.name in derived or target.distinct < 2 or target.top_share > _MOST_SHARE:
            continue
        codes = target.column.codes[rows].astype(np.int64)
        for _, source, source_codes in sorted(sources, key=lambda entry: abs(entry[0] - index)):
            if source.distinct <= target.distinct or source.name in derived or source.name == target.name:
                continue
            if _determines(source_codes, codes) and _is_recode(source, target):
                derived[target.name] = Derivation((source.name,), f"a recode of '{source.name}'")
                break


def _determines(source: NDArray[np.int64], target: NDArray[np.int64]) -> bool:
    image = np.full(int(source.max()) + 1, -1, dtype=np.int64)
    image[source] = target
    return bool((image[source] == target).all())


def _is_recode(source: Facts, target: Facts) -> bool:
    """Whether all records agree, each value of the target stands for several, and numbers are cut into few pieces."""
    column = source.column
    if len(refined_class_sizes(column.codes.astype(np.int64), column.cardinality, target.column)) != column.cardinality:
        return False
    image = np.zeros(column.cardinality, dtype=np.int64)
    image[column.codes] = target.column.codes
    if not source.is_number:
        return source.distinct <= 60
    pieces = 1 + int((np.diff(image[: source.distinct]) != 0).sum())
    return pieces <= max(2 * target.distinct, 3) and source.distinct >= 3


def _find_date_parts(facts: Sequence[Facts], derived: dict[str, Derivation]) -> None:
    dates = [candidate for candidate in facts if candidate.dtype == pl.Date or isinstance(candidate.dtype, pl.Datetime)]
    for source in dates:
        days = source.column.values
        parts = {"year": days.dt.year(), "month": days.dt.month(), "day": days.dt.day(), "weekday": days.dt.weekday()}
        for target in facts:
            if not target.is_whole or target.name in derived or target.distinct < 2 or source.distinct < _LEAST_VALUES:
                continue
            measured = values_per_record(target)
            for part, numbers in parts.items():
                table = np.append(numbers.cast(pl.Float64).to_numpy(), np.nan)
                if float(numbers.min()) == float(target.extremes[0]) and _agrees(table[source.column.codes], measured):  # type: ignore[arg-type]
                    derived[target.name] = Derivation((source.name,), f"the {part} of '{source.name}'")
                    break
