"""Exact relations: a masked column that equals another one, a sum, a difference, a product or a ratio of released columns.

A relation is learnt from true values (whoever made the table knows that the claims add up), and judged by what the *released*
values give: a term that was masked itself restores nothing. Learnt on one half of a sample and tried on the other; what is found
is then counted on every masked cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.risks.coverage.pairing import Paired, numbers_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST_ROWS = 12
_MOST_ROWS = 1_000
_HOLDS = 0.9
"""Share of the tried records for which a relation must hold to be one."""
_FEW_TERMS = 3
_FACTORS, _FACTOR_ROWS = 80, 128
_DIGITS = 6


@dataclass(frozen=True, eq=False)
class Term:
    """A released column as numbers, the year of a released date, or the day of a moment."""

    label: str
    source: str
    numbers: Callable[[pl.Series], NDArray[np.float64] | None]
    empty_is_zero: bool = False

    def read(self, series: pl.Series) -> NDArray[np.float64]:
        numbers = self.numbers(series)
        if numbers is None:
            return np.full(len(series), np.nan)
        return np.nan_to_num(numbers, nan=0.0) if self.empty_is_zero else numbers


@dataclass(frozen=True, eq=False)
class Relation:
    """A formula that gives a column's value from terms, and how far a result may be from the value to print the same."""

    terms: tuple[Term, ...]
    compute: Callable[[Sequence[NDArray[np.float64]]], NDArray[np.float64]]
    tolerance: float
    label: str

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(term.source for term in self.terms))

    def restores(self, paired: Paired, target: str) -> NDArray[np.bool_]:
        """For each paired record whether the released terms give the true value."""
        return self._matches([term.read(paired.released_values(term.source)) for term in self.terms], paired, target)

    def _matches(self, values: list[NDArray[np.float64]], paired: Paired, target: str) -> NDArray[np.bool_]:
        truth = numbers_of(paired.true_values(target))
        assert truth is not None
        return _close(self.compute(values), truth, self.tolerance)


@dataclass(frozen=True, eq=False)
class Numbers:
    """The released columns that are numbers or dates and vary: their true values [records, terms] at some sampled records.

    A number that is empty is 0, as in a sum of amounts. A date that is empty is ``missing``, and in the table their mean.
    """

    terms: list[Term]
    table: NDArray[np.float64]
    missing: NDArray[np.bool_]
    places: NDArray[np.int64]


def read_numbers(paired: Paired, sample: NDArray[np.int64], names: Sequence[str] | None = None) -> Numbers:
    """The terms that relations are looked for among, at some thousands of the sampled records in a fixed random order.

    ``names`` are the released columns that they are taken from; default: all.
    """
    places = sample[np.argsort(paired.order()[sample], kind="stable")]
    terms: list[Term] = []
    columns: list[NDArray[np.float64]] = []
    empty: list[NDArray[np.bool_]] = []
    for name in paired.data.columns if names is None else names:
        if numbers_of(paired.released_values(name, places[:0])) is None:
            continue
        # a column that the original does not have is what it is released as
        series = (paired.true_values if name in paired.original.columns else paired.released_values)(name, places)
        for label, read in ((name, numbers_of), (f"year of {name}", _years_of), (f"day of {name}", _days_of)):
            values = read(series)
            if values is None:
                continue
            null = np.isnan(values)
            filled = np.where(null, values[~null].mean() if _is_date(series) and not null.all() else 0.0, values)
            if len(filled) and filled.min() < filled.max():
                terms.append(Term(label, name, read, bool(null.any()) and not _is_date(series)))
                columns.append(filled)
                empty.append(null & _is_date(series))
    none = np.zeros((len(places), 0))
    return Numbers(
        terms, np.stack(columns, axis=1) if columns else none, np.stack(empty, axis=1) if empty else none.astype(np.bool_), places
    )


def find_relation(paired: Paired, target: str, numbers: Numbers) -> Relation | None:
    """The simplest arithmetic relation between a masked number or date and released ones, if there is one."""
    truth = numbers_of(paired.true_values(target, numbers.places))
    if truth is None:
        return None
    usable = [at for at, term in enumerate(numbers.terms) if term.source != target]
    rows = np.flatnonzero(~np.isnan(truth))[: max(_MOST_ROWS, 4 * len(usable))]
    terms, table, truth = [numbers.terms[at] for at in usable], numbers.table[rows][:, usable], truth[rows]
    missing = numbers.missing[rows][:, usable]
    if not terms or len(truth) < _LEAST_ROWS or len(np.unique(truth)) < 3:
        return None
    tolerance = _tolerance(truth)
    half = len(truth) // 2
    relation = _sparse(terms, table, missing, truth, half, tolerance) or _factors(terms, table, truth, tolerance)
    if relation is None and len(terms) > _FEW_TERMS and len(truth) - len(terms) >= _LEAST_ROWS:
        fit = max(half, min(len(truth) - _LEAST_ROWS // 2, 2 * len(terms) + _LEAST_ROWS))
        relation = _linear(terms, table, missing, truth, fit, tolerance)
    return relation


def _is_date(series: pl.Series) -> bool:
    return series.dtype == pl.Date or isinstance(series.dtype, pl.Datetime)


def _years_of(series: pl.Series) -> NDArray[np.float64] | None:
    return series.dt.year().cast(pl.Float64).to_numpy() if _is_date(series) else None


def _days_of(series: pl.Series) -> NDArray[np.float64] | None:
    """The days of moments, because a length of stay is often a difference of calendar days."""
    return series.dt.date().to_physical().cast(pl.Float64).to_numpy() if isinstance(series.dtype, pl.Datetime) else None


def _tolerance(truth: NDArray[np.float64]) -> float:
    """Half a unit of the last digit that the values are written with; a millionth of their size where they have many."""
    largest = float(np.abs(truth).max())
    for digits in range(_DIGITS + 1):
        scaled = truth * 10.0**digits
        if float(np.abs(scaled).max()) < 1e12 and bool((np.abs(scaled - np.round(scaled)) < 1e-6).all()):
            return 0.5 * 10.0**-digits * (1 - 1e-9)
    return 1e-6 * max(largest, 1e-300)


def _close(result: NDArray[np.float64], truth: NDArray[np.float64], tolerance: float) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(result - truth) <= tolerance + 1e-12 * np.abs(truth))


def _tells(result: NDArray[np.float64], truth: NDArray[np.float64], tolerance: float) -> bool:
    """Whether a result is right for nearly all records, and for nearly all of those that do not hold the commonest value."""
    close = _close(result, truth, tolerance)
    values, counts = np.unique(truth, return_counts=True)
    rare = truth != values[counts.argmax()]
    return bool(close.mean() >= _HOLDS and rare.sum() >= 3 and close[rare].mean() >= _HOLDS)


def _sparse(
    terms: list[Term], table: NDArray[np.float64], missing: NDArray[np.bool_], truth: NDArray[np.float64], half: int,
    tolerance: float,
) -> Relation | None:  # fmt: skip
    """Up to three terms, chosen one by one by their correlation with what is left (orthogonal matching pursuit)."""
    centred = table[:half] - table[:half].mean(axis=0)
    norms = np.sqrt(np.square(centred).sum(axis=0))
    norms[norms == 0] = np.inf
    rest = truth[:half] - truth[:half].mean()
    chosen: list[int] = []
    for _ in range(min(_FEW_TERMS, len(terms))):
        scores = np.abs(rest @ centred) / norms
        scores[chosen] = -1.0
        chosen.append(int(scores.argmax()))
        relation = _linear([terms[at] for at in chosen], table[:, chosen], missing[:, chosen], truth, half, tolerance)
        if relation is not None:
            return relation
        basis = np.column_stack((np.ones(half), table[:half, chosen]))
        rest = truth[:half] - basis @ _least_squares(basis, truth[:half])
    return None


def _linear(
    terms: list[Term], table: NDArray[np.float64], missing: NDArray[np.bool_], truth: NDArray[np.float64], fit: int,
    tolerance: float,
) -> Relation | None:  # fmt: skip
    """Least squares on the first ``fit`` records, tried on the others; whole coefficients where they do as well.

    Records of which a date is missing are left out.
    """
    present: NDArray[np.bool_] = np.asarray(~missing.any(axis=1))
    fit, table, truth = int(present[:fit].sum()), table[present], truth[present]
    if fit <= table.shape[1] or len(truth) - fit < _LEAST_ROWS // 2:
        return None
    scale = np.maximum(np.abs(table).max(axis=0), 1e-300)
    basis = np.column_stack((np.ones(len(table)), table / scale))
    solved = _least_squares(basis[:fit], truth[:fit])
    constant, factors = float(solved[0]), solved[1:] / scale
    whole, start = np.round(factors), float(np.round(constant))
    if float(np.abs(whole - factors).max()) < 0.01 and _tells(start + table[fit:] @ whole, truth[fit:], tolerance):
        constant, factors = start, whole
    elif not _tells(constant + table[fit:] @ factors, truth[fit:], tolerance):
        return None
    used = np.flatnonzero(np.abs(factors) * scale > max(tolerance, 1e-9) * 1e-3)
    if not len(used):
        return None
    weights = factors[used]

    def compute(values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        result = np.full(len(values[0]), constant)
        for weight, numbers in zip(weights, values, strict=True):
            result = result + weight * numbers
        return result

    kept = tuple(terms[at] for at in used)
    return Relation(kept, compute, tolerance, _sum_text(kept, weights, constant))


def _least_squares(basis: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normal equations with a trace of ridge, so that columns that say the same share a weight, and three refinements."""
    scale = np.maximum(np.abs(basis).max(axis=0), 1e-300)
    scaled = basis / scale
    gram = scaled.T @ scaled
    gram[np.diag_indices_from(gram)] += 1e-11 * float(np.trace(gram))
    try:
        root = np.linalg.inv(np.linalg.cholesky(gram))  # the refinements below make up for the inverse
    except np.linalg.LinAlgError:  # not positive definite to the last bit: columns that hardly vary
        return np.asarray(np.linalg.lstsq(scaled, truth, rcond=None)[0] / scale)
    solved = root.T @ (root @ (scaled.T @ truth))
    for _ in range(3):
        solved = solved + root.T @ (root @ (scaled.T @ (truth - scaled @ solved)))
    return np.asarray(solved / scale)


def _sum_text(terms: Sequence[Term], weights: NDArray[np.float64], constant: float) -> str:
    if len(terms) > 6:
        named = ", ".join(term.label for term in terms[:3])
        kind = "the sum" if bool((weights == 1).all()) and constant == 0 else "a weighted sum"
        return f"{kind} of {len(terms)} released columns ({named}, …)"
    text = ""
    for weight, term in sorted(zip(weights, terms, strict=True), key=lambda weighted: weighted[0] < 0):
        sign = "-" if weight < 0 else "+"
        size = "" if abs(weight) == 1 else f"{abs(weight):.6g} x "
        text += f" {sign} {size}{term.label}" if text else f"{'-' if weight < 0 else ''}{size}{term.label}"
    return text if abs(constant) < 1e-9 else f"{text} {'-' if constant < 0 else '+'} {abs(constant):.6g}"


def _factors(terms: list[Term], table: NDArray[np.float64], truth: NDArray[np.float64], tolerance: float) -> Relation | None:
    """A term times or over another one or its square, times a constant: every pair on some records, the best on all."""
    rows = np.flatnonzero(truth != 0)[:_FACTOR_ROWS]
    width = min(len(terms), _FACTORS)
    if len(rows) < _LEAST_ROWS or len(np.unique(truth[rows])) < 3:
        return None
    values, sought = np.ascontiguousarray(table[rows, :width].T), truth[rows]  # [terms, records]: medians run along the records
    for power, text in ((1, "x"), (-1, "/"), (-2, "/"), (2, "x")):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            results = values[:, None, :] * (values**power)[None, :, :]
            results[~np.isfinite(results)] = np.nan
            scales = np.nan_to_num(_medians(sought / results), nan=0.0, posinf=0.0, neginf=0.0)
            scales = np.where(np.abs(scales - 1) < 0.02, 1.0, scales)
            close = (np.abs(results * scales[:, :, None] - sought) <= tolerance).mean(axis=2)
        for flat in np.argsort(-close, axis=None, kind="stable")[:3]:
            first, second = divmod(int(flat), width)
            if first == second or close[first, second] < _HOLDS:
                continue
            compute = _product(float(scales[first, second]), power)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                known = np.nan_to_num(compute([table[:, first], table[:, second]]), nan=0.0, posinf=0.0, neginf=0.0)
            if _tells(known, truth, tolerance):
                scale = "" if scales[first, second] == 1 else f"{scales[first, second]:.6g} x "
                square = "^2" if abs(power) == 2 else ""
                label = f"{scale}{terms[first].label} {text} {terms[second].label}{square}"
                return Relation((terms[first], terms[second]), compute, tolerance, label)
    return None


def _medians(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Upper medians over the last axis, NaN where half of the values or more are NaN; reorders ``values``."""
    middle = values.shape[-1] // 2
    values.partition(middle, axis=-1)  # NaN comes last
    return values[..., middle]


def _product(scale: float, power: int) -> Callable[[Sequence[NDArray[np.float64]]], NDArray[np.float64]]:
    def compute(values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return scale * values[0] * values[1].astype(np.float64) ** power

    return compute
