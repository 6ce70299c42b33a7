"""Released columns that hold the true values of a masked one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.risks.coverage.pairing import Paired

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Copies:
    """The released columns at the sampled records, as numbers [records, columns] and as texts, to look for copies in."""

    sample: NDArray[np.int64]
    numeric: list[str]
    table: NDArray[np.float64]
    others: dict[str, pl.Series]

    def find(self, paired: Paired, target: str, hidden: NDArray[np.bool_]) -> str | None:
        """The released column that holds the true values of at least half of the masked cells of a column, if one does."""
        truth = paired.true_values(target, self.sample)
        masked = hidden[self.sample]
        number = int(masked.sum())
        shares: dict[str, float] = {}
        if truth.dtype.is_numeric():
            values = truth.cast(pl.Float64).to_numpy()[masked]
            same = (self.table[masked] == values[:, None]).sum(axis=0)
            shares = {name: int(count) / number for name, count in zip(self.numeric, same, strict=True)}
        elif truth.dtype != pl.Boolean:
            known = pl.select(pl.when(pl.Series(masked)).then(pl.lit(truth)))[:, 0]
            shares = {
                name: int((column == known).sum()) / number for name, column in self.others.items() if column.dtype == truth.dtype
            }
        shares.pop(target, None)
        best = max(shares, key=lambda name: shares[name], default=None)
        return best if best is not None and shares[best] >= 0.5 else None


def read_copies(paired: Paired, sample: NDArray[np.int64]) -> Copies:
    """Gather the released columns once for all masked ones."""
    numeric, columns, others = [], [], {}
    for name in paired.data.columns:
        series = paired.released_values(name, sample)
        if series.dtype.is_numeric():
            numeric.append(name)
            columns.append(series.cast(pl.Float64).to_numpy())
        else:
            others[name] = series
    return Copies(sample, numeric, np.stack(columns, axis=1) if columns else np.zeros((len(sample), 0)), others)


def equal_cells(left: pl.Series, right: pl.Series) -> NDArray[np.bool_]:
    """Where two columns say the same; nulls say nothing."""
    if left.dtype.is_numeric() and right.dtype.is_numeric():
        left, right = left.cast(pl.Float64), right.cast(pl.Float64)
    return (left == right).fill_null(value=False).to_numpy()
