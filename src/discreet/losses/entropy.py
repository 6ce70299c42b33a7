"""Entropy: how much of the original value remains unknown given the masked value."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.cells.midpoints import is_number
from discreet.engine.encoding.columns import encode_series
from discreet.engine.encoding.record_links import require_original_rows
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.contracts import LossMeasure
from discreet.model.microdata import Microdata
from discreet.model.score import Score

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEFT_OUT = (Role.IDENTIFIER, Role.PERSON, Role.WEIGHT)


class Entropy(LossMeasure):
    """The conditional entropy H(X | Y) of the original value given the masked one, in bits per record.

    With n(x, y) the number of records whose value x became y, H(X | Y) = - sum n(x, y)/n log2(n(x, y)/n(y)). ``loss`` is the sum
    over attributes divided by the sum of H(X): 0 if every masked value determines its original, 1 if none carries information.
    It needs the link of the records, and works for any masking. Numbers with many values are first cut into equally filled bins.

    >>> from discreet.testing import table
    >>> before = table({"sex": ["f", "f", "m", "m"]}, key=["sex"])
    >>> after = before.with_columns({"sex": pl.Series([None, None, None, None], dtype=pl.String)})
    >>> Entropy().measure(before, after).summary
    {'loss': 1.0, 'bits_lost': 1.0, 'bits': 1.0}
    """

    name: ClassVar[str] = "entropy"
    citation: ClassVar[str] = (
        "de Waal, A. G. & Willenborg, L. C. R. J. (1999). Information loss through global recoding and local suppression. "
        "Netherlands Official Statistics 14, 17-20."
    )
    neutral: ClassVar[Collection[str]] = ("bits_lost", "bits")
    meaning: ClassVar[Mapping[str, str]] = {
        "loss": "share of the information in the original values that is lost",
        "bits_lost": "bits per record that are lost: conditional entropy of the original given the masked values",
        "bits": "bits per record in the original values: their entropy",
    }

    attributes: tuple[str, ...] = Field(default=(), description="attributes to compare; default: all that both tables have")
    bins: Annotated[int, Field(ge=2)] = Field(
        default=20, description="numbers with more distinct values are cut into this many bins"
    )

    def measure(self, original: Microdata, masked: Microdata) -> Score:
        candidates = [name for name in original.columns if original.attribute(name).role not in _LEFT_OUT]
        names = list(self.attributes) or [name for name in candidates if name in masked.columns]
        if not names:
            raise DataError(f"entropy: {original.source} and {masked.source} have no attribute in common to compare")
        links = require_original_rows(masked, original, self.name)
        rows = np.flatnonzero(links >= 0)
        labelled = [name in masked.cells for name in names]
        entropies = [
            self._entropies(original.frame[name], masked.frame[name], links[rows], rows, labels)
            for name, labels in zip(names, labelled, strict=True)
        ]
        table = pl.DataFrame(
            {"attribute": names, "bits_lost": [lost for lost, _ in entropies], "bits": [bits for _, bits in entropies]},
        ).with_columns(loss=pl.when(pl.col("bits") > 0).then(pl.col("bits_lost") / pl.col("bits")).otherwise(0.0))
        lost, bits = sum(lost for lost, _ in entropies), sum(bits for _, bits in entropies)
        summary = {"loss": lost / bits if bits > 0 else 0.0, "bits_lost": lost, "bits": bits}
        return Score(self.name, summary, None, table)

    def _entropies(
        self, before: pl.Series, after: pl.Series, original_rows: NDArray[np.int64], rows: NDArray[np.int64], labels: bool
    ) -> tuple[float, float]:
        """H(X | Y) and H(X) of one attribute over the linked records.

        ``original_rows`` and ``rows`` are their rows in the original and in the masked table. With ``labels`` the masked values
        are labels: they are not cut into bins even if they look like numbers.
        """
        if is_number(before) and before.n_unique() > self.bins:
            numbers = before.to_physical().cast(pl.Float64)
            cuts = np.unique(np.nanquantile(numbers.to_numpy(), np.arange(1, self.bins) / self.bins))
            before = _cut_into_bins(numbers, cuts)
            if is_number(after) and not labels:
                after = _cut_into_bins(after.to_physical().cast(pl.Float64), cuts)
        x, y = encode_series(before), encode_series(after)
        x_codes, y_codes = x.codes[original_rows].astype(np.int64), y.codes[rows].astype(np.int64)
        joint = _entropy(np.unique(x_codes * y.cardinality + y_codes, return_counts=True)[1]) if len(rows) else 0.0
        # H(X | Y) = H(X, Y) - H(Y); rounding may leave it slightly negative
        return max(0.0, joint - _entropy(np.bincount(y_codes))), _entropy(np.bincount(x_codes))


def _cut_into_bins(numbers: pl.Series, cuts: NDArray[np.float64]) -> pl.Series:
    bins = pl.Series(np.searchsorted(cuts, numbers.fill_null(0.0).to_numpy(), side="right"))
    return bins.set(numbers.is_null(), None)


def _entropy(counts: NDArray[np.int64]) -> float:
    """The entropy, in bits, of a distribution given by counts."""
    shares = counts[counts > 0] / counts.sum() if counts.sum() else np.ones(1)
    return float(-(shares * np.log2(shares)).sum()) + 0.0
