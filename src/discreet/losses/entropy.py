"""Entropy: how much of the original value remains unknown when the masked one is seen."""

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
    """The conditional entropy H(X | Y) of the original value given the masked one, in bits a record.

    With n(x, y) the records whose value x became y, H(X | Y) = - sum n(x, y)/n log2(n(x, y)/n(y)). ``loss`` is the sum
    over attributes divided by that of H(X): 0 where every masked value tells its original, 1 where none tells anything.
    It needs the link, and works for any masking. Numbers with many values are first cut into equally filled bins.

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
        "loss": "share of the bits that the masked values do not tell",
        "bits_lost": "bits a record that the masked values leave open",
        "bits": "bits a record that the original values hold",
    }

    attributes: tuple[str, ...] = Field(default=(), description="attributes looked at; all that both tables have where empty")
    bins: Annotated[int, Field(ge=2)] = Field(default=20, description="numbers with more different values are cut into bins")

    def measure(self, original: Microdata, masked: Microdata) -> Score:
        known = [name for name in original.columns if original.attribute(name).role not in _LEFT_OUT]
        names = list(self.attributes) or [name for name in known if name in masked.columns]
        if not names:
            raise DataError(f"entropy: {original.source} and {masked.source} share no attribute to compare")
        links = require_original_rows(masked, original, self.name)
        rows = np.flatnonzero(links >= 0)
        labelled = [name in masked.cells for name in names]
        found = [
            self._bits(original.frame[name], masked.frame[name], links[rows], rows, labels)
            for name, labels in zip(names, labelled, strict=True)
        ]
        table = pl.DataFrame(
            {"attribute": names, "bits_lost": [lost for lost, _ in found], "bits": [bits for _, bits in found]},
        ).with_columns(loss=pl.when(pl.col("bits") > 0).then(pl.col("bits_lost") / pl.col("bits")).otherwise(0.0))
        lost, bits = sum(lost for lost, _ in found), sum(bits for _, bits in found)
        summary = {"loss": lost / bits if bits > 0 else 0.0, "bits_lost": lost, "bits": bits}
        return Score(self.name, summary, None, table)

    def _bits(
        self, before: pl.Series, after: pl.Series, own: NDArray[np.int64], rows: NDArray[np.int64], labels: bool
    ) -> tuple[float, float]:
        """H(X | Y) and H(X) of one attribute over the linked records; ``labels`` are never cut, whatever they look like."""
        if is_number(before) and before.n_unique() > self.bins:
            numbers = before.to_physical().cast(pl.Float64)
            cuts = np.unique(np.nanquantile(numbers.to_numpy(), np.arange(1, self.bins) / self.bins))
            before = _cut(numbers, cuts)
            if is_number(after) and not labels:
                after = _cut(after.to_physical().cast(pl.Float64), cuts)
        x, y = encode_series(before), encode_series(after)
        values, masks = x.codes[own].astype(np.int64), y.codes[rows].astype(np.int64)
        whole = _entropy(np.bincount(values))
        joint = _entropy(np.unique(values * y.cardinality + masks, return_counts=True)[1]) if len(rows) else 0.0
        return max(0.0, joint - _entropy(np.bincount(masks))), whole


def _cut(numbers: pl.Series, cuts: NDArray[np.float64]) -> pl.Series:
    bins = pl.Series(np.searchsorted(cuts, numbers.fill_null(0.0).to_numpy(), side="right"))
    return bins.set(numbers.is_null(), None)


def _entropy(counts: NDArray[np.int64]) -> float:
    """Bits of a distribution given by counts."""
    shares = counts[counts > 0] / counts.sum() if counts.sum() else np.ones(1)
    return float(-(shares * np.log2(shares)).sum()) + 0.0
