"""The strength of association of two attributes, from 0 (none) to 1, by the kinds of the attributes.

Two categories: Cramér's V. A category and a number: the correlation ratio. Two numbers: Pearson's correlation, with its sign. V
and the correlation ratio are corrected for the number of categories, because in a sample independent attributes with many
categories seem to be associated. A record whose category is one of several counts for each of them in part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEWEST = 3
"""Records in which both values are present that are needed to speak of an association."""
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Variable:
    """One attribute of one table: numbers (NaN where missing), or codes of categories (-1 where missing)."""

    values: NDArray[np.float64] | NDArray[np.int64]
    categories: int = 0
    """The number of codes; 0 for numbers."""
    shares: NDArray[np.float64] | None = None
    """[code, category] The shares of a code's records that count for each category; None where codes are categories."""

    @property
    def is_number(self) -> bool:
        return self.categories == 0

    @property
    def present(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.values) if self.is_number else np.asarray(self.values >= 0)


def association(first: Variable, second: Variable) -> float:
    """The association over the records in which both values are present; 0 where there are too few.

    >>> sex = Variable(np.array([0, 0, 1, 1, 0, 1]), 2)
    >>> association(sex, Variable(np.array([10.0, 11.0, 20.0, 21.0, 10.5, 20.5]))) > 0.99
    True
    """
    both = first.present & second.present
    if int(both.sum()) < _FEWEST:
        return 0.0
    left, right = first.values[both], second.values[both]
    if first.is_number and second.is_number:
        return _correlation(left.astype(np.float64), right.astype(np.float64))
    if not first.is_number and not second.is_number:
        return _cramers_v(_contingency_table(first, left.astype(np.int64), second, right.astype(np.int64)), len(left))
    if first.is_number:
        return _correlation_ratio(second, right.astype(np.int64), left.astype(np.float64))
    return _correlation_ratio(first, left.astype(np.int64), right.astype(np.float64))


def _correlation(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    left, right = left - left.mean(), right - right.mean()
    scale = float(np.sqrt((left @ left) * (right @ right)))
    return float(np.clip(left @ right / scale, -1.0, 1.0)) if scale > 0 and np.isfinite(scale) else 0.0


def _contingency_table(
    first: Variable, left: NDArray[np.int64], second: Variable, right: NDArray[np.int64]
) -> NDArray[np.float64]:
    """[category of the first, category of the second] The number of records; a group counts for its members in part."""
    if first.shares is None and second.shares is None:
        return _count_pairs(left, first.categories, right, second.categories)
    if first.shares is None:
        return _contingency_table(second, right, first, left).T
    if second.shares is None:
        return np.asarray(first.shares.T @ _count_pairs(left, first.categories, right, second.categories))
    # two attributes of groups have many labels, of which few pairs occur
    pairs, counts = np.unique(left * second.categories + right, return_counts=True)
    rows = pairs // second.categories
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    inner = np.add.reduceat(second.shares[pairs % second.categories] * counts[:, None], starts, axis=0)
    return np.asarray(first.shares[rows[starts]].T @ inner)


def _count_pairs(left: NDArray[np.int64], rows: int, right: NDArray[np.int64], columns: int) -> NDArray[np.float64]:
    return np.bincount(left * columns + right, minlength=rows * columns).reshape(rows, columns).astype(np.float64)


def _cramers_v(table: NDArray[np.float64], records: int) -> float:
    """Cramér's V of a contingency table, with the correction of Bergsma (2013)."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    rows, columns = table.shape
    if min(rows, columns) < 2:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / records
    phi2 = float(((table - expected) ** 2 / expected).sum()) / records
    phi2 = _without_rounding(phi2 - (rows - 1) * (columns - 1) / (records - 1))
    row_size, column_size = rows - (rows - 1) ** 2 / (records - 1), columns - (columns - 1) ** 2 / (records - 1)
    smaller = min(row_size, column_size) - 1
    return float(min(1.0, np.sqrt(phi2 / smaller))) if smaller > 0 else 0.0


def _correlation_ratio(variable: Variable, codes: NDArray[np.int64], numbers: NDArray[np.float64]) -> float:
    """The correlation ratio: the root of the share of variance between categories, corrected for their number (Kelley 1935)."""
    counts = np.bincount(codes, minlength=variable.categories).astype(np.float64)
    sums = np.bincount(codes, weights=numbers - numbers.mean(), minlength=variable.categories)
    if variable.shares is not None:
        counts, sums = np.asarray(counts @ variable.shares), np.asarray(sums @ variable.shares)
    groups = int((counts > 0).sum())
    spread = float(((numbers - numbers.mean()) ** 2).sum())
    if groups < 2 or len(numbers) <= groups or spread <= 0:
        return 0.0
    between = float((sums[counts > 0] ** 2 / counts[counts > 0]).sum())
    share = 1 - (1 - between / spread) * (len(numbers) - 1) / (len(numbers) - groups)
    return float(np.sqrt(min(1.0, _without_rounding(share))))


def _without_rounding(share: float) -> float:
    """A share of which rounding errors are taken away: their square root would look like a small association."""
    return share if share > _ROUNDING else 0.0
