"""Propensity: whether a classifier can tell masked records from original ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.cells.midpoints import is_number, released_numbers
from discreet.engine.encoding.shared_codes import encode_shared
from discreet.errors import DataError
from discreet.losses.propensity.logistic import Chunk, fit, probability
from discreet.model.attribute import Role
from discreet.model.contracts import Direction, LossMeasure
from discreet.model.microdata import Microdata
from discreet.model.score import Score

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEFT_OUT = (Role.IDENTIFIER, Role.PERSON, Role.WEIGHT)
_ROWS = 50_000


class Propensity(LossMeasure):
    """The propensity score mean squared error of a logistic regression of 'is masked' on all attributes.

    Original and masked records are stacked, c being the masked share, and pMSE = mean (p_i - c)^2. ``loss`` is pMSE over
    its largest value c(1 - c): 0 where nothing tells the tables apart, 1 where everything does. ``ratio`` compares pMSE
    with what two independent samples of one population would give, (k - 1) c (1 - c)/N for k coefficients.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 45, 55, 56]}, key=["age"])
    >>> Propensity().measure(data, data).summary["loss"]
    0.0
    """

    name: ClassVar[str] = "propensity"
    citation: ClassVar[str] = (
        "Woo, M.-J., Reiter, J. P., Oganian, A. & Karr, A. F. (2009). Global measures of data utility for microdata masked for "
        "disclosure limitation. J. Privacy and Confidentiality 1(1), 111-124; Snoke, J. et al. (2018). JRSS A 181, 663-688."
    )
    better: ClassVar[Mapping[str, Direction]] = {"loss": "low", "pmse": "low", "ratio": "low", "auc": "low"}
    neutral: ClassVar[Collection[str]] = ("coefficients",)
    meaning: ClassVar[Mapping[str, str]] = {
        "loss": "mean squared error of the propensity scores over its maximum",
        "pmse": "mean squared error of the propensity scores",
        "ratio": "pmse over that of two samples of one population",
        "auc": "how often a masked record scores above an original one",
        "coefficients": "coefficients of the classifier",
    }

    attributes: tuple[str, ...] = Field(default=(), description="attributes looked at; all that both tables have where empty")
    squares: bool = Field(default=True, description="use the squares of numbers as well, so that a change of spread is seen")
    categories: Annotated[int, Field(ge=2)] = Field(default=20, description="categories of an attribute; rarer ones are one")

    def measure(self, original: Microdata, masked: Microdata) -> Score:
        known = [name for name in original.columns if original.attribute(name).role not in _LEFT_OUT]
        names = list(self.attributes) or [name for name in known if name in masked.columns]
        if not names:
            raise DataError(f"propensity: {original.source} and {masked.source} share no attribute to compare")
        design = self._design(original, masked, names)
        size, share = len(original) + len(masked), len(masked) / max(1, len(original) + len(masked))
        if not len(original) or not len(masked):
            return Score(self.name, {"loss": 0.0, "pmse": 0.0, "ratio": 0.0, "auc": 0.5, "coefficients": design.features})
        beta = fit(design.chunks, design.features)
        scores = np.concatenate([probability(x @ beta) for x, _ in design.chunks()])
        pmse = float(((scores - share) ** 2).mean())
        if pmse < 1e-20:  # the coefficients are rounding noise
            pmse = 0.0
        expected = (design.features - 1) * share * (1 - share) / size
        summary: dict[str, int | float] = {
            "loss": min(1.0, pmse / (share * (1 - share))),
            "pmse": pmse,
            "ratio": pmse / expected if expected > 0 else 0.0,
            "auc": _auc(scores, len(original)),
            "coefficients": design.features,
        }
        return Score(self.name, summary)

    def _design(self, original: Microdata, masked: Microdata, names: list[str]) -> _Design:
        made = _Design(len(original), len(masked), [], [])
        for name in names:
            if is_number(original.frame[name]):
                both = np.concatenate(released_numbers(original, masked, name))
                made.numbers.extend(_standardised(both, self.squares))
            else:
                (shared,) = encode_shared(original.frame, masked.frame, [(name, name)])
                both = np.concatenate((shared.left, shared.right)).astype(np.int64)
                counts = np.bincount(both, minlength=shared.cardinality)
                common = np.argsort(-counts, kind="stable")[: self.categories]
                place = np.full(shared.cardinality, min(len(common), self.categories), dtype=np.int64)
                place[common] = np.arange(len(common))
                made.codes.append((place[both], int(place.max(initial=0)) + 1))
        return made


@dataclass(frozen=True)
class _Design:
    """The stacked tables as features: a constant, numbers as they are, categories as indicators (the most frequent left out)."""

    first: int
    second: int
    numbers: list[NDArray[np.float64]]
    codes: list[tuple[NDArray[np.int64], int]]

    @property
    def features(self) -> int:
        return 1 + len(self.numbers) + sum(size - 1 for _, size in self.codes)

    def chunks(self) -> Iterator[Chunk]:
        size = self.first + self.second
        for start in range(0, size, _ROWS):
            rows = slice(start, min(start + _ROWS, size))
            x = np.zeros((rows.stop - rows.start, self.features))
            x[:, 0] = 1.0
            at = 1
            for column in self.numbers:
                x[:, at] = column[rows]
                at += 1
            for codes, number in self.codes:
                here = np.flatnonzero(codes[rows] > 0)
                x[here, at + codes[rows][here] - 1] = 1.0
                at += number - 1
            yield x, (np.arange(rows.start, rows.stop) >= self.first).astype(np.float64)


def _standardised(both: NDArray[np.float64], squares: bool) -> list[NDArray[np.float64]]:
    """A number, its square, and whether it is missing; each only where it varies."""
    missing = np.isnan(both)
    middle = float(both[~missing].mean()) if not missing.all() else 0.0
    spread = float(both[~missing].std()) if not missing.all() else 0.0
    made = []
    if spread > 1e-12 * max(abs(middle), 1e-300):
        scaled = np.where(missing, 0.0, (both - middle) / spread)
        made.append(scaled)
        if squares and len(np.unique(scaled[~missing])) > 2:
            made.append(scaled**2)
    if missing.any() and not missing.all():
        made.append(missing.astype(np.float64))
    return made


def _auc(scores: NDArray[np.float64], first: int) -> float:
    """The probability that a random masked record scores above a random original one, ties counting half."""
    ranks = pl.Series(scores.round(12)).rank("average").to_numpy()
    second = len(scores) - first
    return float((ranks[first:].sum() - second * (second + 1) / 2) / (first * second))
