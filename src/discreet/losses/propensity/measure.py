"""Propensity: whether a classifier can distinguish masked records from original ones."""

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
_CHUNK_ROWS = 50_000


class Propensity(LossMeasure):
    """The propensity score mean squared error of a logistic regression of 'is masked' on all attributes.

    Original and masked records are stacked, c is the share of masked records, and pMSE = mean (p_i - c)^2 (Woo et al. 2009).
    ``loss`` is pMSE divided by its largest value c(1 - c): 0 if the tables cannot be distinguished, 1 if they can entirely.
    ``ratio`` divides pMSE by its expectation for two independent samples of one population, (k - 1) c (1 - c)/N for k
    coefficients (Snoke et al. 2018).

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
        "loss": "mean squared error of the propensity scores, divided by its maximum",
        "pmse": "mean squared error of the propensity scores",
        "ratio": "pmse divided by its expectation for two samples of one population",
        "auc": "how often a masked record has a larger score than an original one: area under the ROC curve",
        "coefficients": "coefficients of the classifier",
    }

    attributes: tuple[str, ...] = Field(default=(), description="attributes to compare; default: all that both tables have")
    squares: bool = Field(default=True, description="also use the squares of numbers, so that a change of variance is detected")
    categories: Annotated[int, Field(ge=2)] = Field(
        default=20, description="most frequent categories of an attribute with an indicator each; the others share one"
    )

    def measure(self, original: Microdata, masked: Microdata) -> Score:
        candidates = [name for name in original.columns if original.attribute(name).role not in _LEFT_OUT]
        names = list(self.attributes) or [name for name in candidates if name in masked.columns]
        if not names:
            raise DataError(f"propensity: {original.source} and {masked.source} have no attribute in common to compare")
        design = self._make_design(original, masked, names)
        size, share = len(original) + len(masked), len(masked) / max(1, len(original) + len(masked))
        if not len(original) or not len(masked):
            return Score(self.name, {"loss": 0.0, "pmse": 0.0, "ratio": 0.0, "auc": 0.5, "coefficients": design.features})
        beta = fit(design.chunks, design.features)
        scores = np.concatenate([probability(x @ beta) for x, _ in design.chunks()])
        pmse = float(((scores - share) ** 2).mean())
        if pmse < 1e-20:  # rounding errors of the coefficients
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

    def _make_design(self, original: Microdata, masked: Microdata, names: list[str]) -> _Design:
        design = _Design(len(original), len(masked), [], [])
        for name in names:
            if is_number(original.frame[name]):
                both = np.concatenate(released_numbers(original, masked, name))
                design.numbers.extend(_numeric_features(both, self.squares))
            else:
                (shared,) = encode_shared(original.frame, masked.frame, [(name, name)])
                both = np.concatenate((shared.left, shared.right)).astype(np.int64)
                counts = np.bincount(both, minlength=shared.cardinality)
                common = np.argsort(-counts, kind="stable")[: self.categories]
                # the most frequent categories keep a code of their own, by frequency; all others share the last code
                pooled = np.full(shared.cardinality, min(len(common), self.categories), dtype=np.int64)
                pooled[common] = np.arange(len(common))
                design.codes.append((pooled[both], int(pooled.max(initial=0)) + 1))
        return design


@dataclass(frozen=True)
class _Design:
    """The stacked tables as features: a constant, numeric features, and indicators of all categories but the most frequent."""

    originals: int
    masked: int
    numbers: list[NDArray[np.float64]]
    """One array per feature, over the records of both tables."""
    codes: list[tuple[NDArray[np.int64], int]]
    """Per categorical attribute the codes of the records of both tables, 0 for the most frequent, and the number of codes."""

    @property
    def features(self) -> int:
        return 1 + len(self.numbers) + sum(size - 1 for _, size in self.codes)

    def chunks(self) -> Iterator[Chunk]:
        """The rows of the design matrix in parts, each with y: 1 for masked records, 0 for original ones."""
        size = self.originals + self.masked
        for start in range(0, size, _CHUNK_ROWS):
            rows = slice(start, min(start + _CHUNK_ROWS, size))
            x = np.zeros((rows.stop - rows.start, self.features))
            x[:, 0] = 1.0
            feature = 1
            for column in self.numbers:
                x[:, feature] = column[rows]
                feature += 1
            for codes, number in self.codes:
                indicated = np.flatnonzero(codes[rows] > 0)
                x[indicated, feature + codes[rows][indicated] - 1] = 1.0
                feature += number - 1
            yield x, (np.arange(rows.start, rows.stop) >= self.originals).astype(np.float64)


def _numeric_features(both: NDArray[np.float64], squares: bool) -> list[NDArray[np.float64]]:
    """The standardised number, its square, and an indicator of missing values; each only if it varies."""
    missing = np.isnan(both)
    mean = float(both[~missing].mean()) if not missing.all() else 0.0
    spread = float(both[~missing].std()) if not missing.all() else 0.0
    features = []
    if spread > 1e-12 * max(abs(mean), 1e-300):
        scaled = np.where(missing, 0.0, (both - mean) / spread)
        features.append(scaled)
        if squares and len(np.unique(scaled[~missing])) > 2:
            features.append(scaled**2)
    if missing.any() and not missing.all():
        features.append(missing.astype(np.float64))
    return features


def _auc(scores: NDArray[np.float64], originals: int) -> float:
    """The probability that a random masked record has a larger score than a random original one; ties count half."""
    ranks = pl.Series(scores.round(12)).rank("average").to_numpy()
    masked = len(scores) - originals
    return float((ranks[originals:].sum() - masked * (masked + 1) / 2) / (originals * masked))
