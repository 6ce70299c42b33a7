"""known_sets: the risk of every record under every state of an intruder's knowledge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.known_explain import explain
from discreet.engine.known_refine import refine
from discreet.engine.known_sets import KnownSets as Sums
from discreet.engine.known_sets import known_sets
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.score import Score

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999)


class KnownSets(RiskMeasure):
    """Likelihood times consequence, summed over every split of the attributes into known and unknown.

    D(r) = sum over known sets S of  PK(S) / count(r(S))  x  alpha  x  sum over A outside S of W(A) W(r(A)).

    ``risk`` is the sum over the sets with PK(S) > epsilon. ``lower`` and ``upper`` hold the sum over all 2^m sets for certain,
    whatever epsilon is; ``tolerance`` and ``decide`` narrow them.

    >>> from discreet.testing import table
    >>> data = table({"age": [34, 34, 51], "disease": ["Flu", "Cancer", "Flu"]}, known={"age": 0.5}, sensitivity={"disease": 1.0})
    >>> KnownSets(alpha=1, epsilon=0).measure(data).per_record["risk"].round(4).to_list()
    [0.5833, 0.5833, 0.8333]
    """

    name: ClassVar[str] = "known_sets"
    citation: ClassVar[str] = (
        "Orooji, M. & Knapp, G. M. (2018). A novel microdata privacy disclosure risk measure. Proc. IISE Annual Conference."
    )
    better: ClassVar[Mapping[str, Direction]] = {
        "sets": "low", "high_risk": "low", "high_risk_share": "low", "mean": "low", "max": "low", "undecided": "low",
    }  # fmt: skip
    meaning: ClassVar[Mapping[str, str]] = {
        "sets": "known sets with a probability above epsilon, the empty set included",
        "high_risk": "records whose risk is greater than the threshold",
        "high_risk_share": "their share of all records",
        "mean": "average risk of a record",
        "max": "largest risk of a record",
        "undecided": "records whose interval holds the threshold: high-risk or not is not certain over all sets",
        "widest": "largest width of an interval, as a share of its lower end",
        "quantiles": "risk that this share of the records does not exceed",
        "histogram": "records with a risk of at least this power of ten, and below the next",
    }
    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"

    alpha: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=100.0, description="consequence coefficient, above 1 in the paper"
    )
    epsilon: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.01, description="known sets are kept where their probability is greater"
    )
    threshold: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0.01, description="a record is high-risk where its risk is greater"
    )
    missing: Literal["category", "wildcard"] = Field(
        default="category", description="a null is one more value, or agrees with anything on either side"
    )
    tolerance: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="narrow every interval until its width is at most this share of its lower end"
    )
    decide: bool = Field(default=False, description="narrow the intervals until no record's side of the threshold is in doubt")
    max_sets: Annotated[int, Field(ge=1)] = Field(
        default=1_000_000, description="most known sets to keep, and most counts to take when narrowing"
    )

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        sums = self._sums(data, original)
        lower, upper = sums.found.lower * self.alpha, sums.found.upper * self.alpha
        notes: tuple[str, ...] = ()
        if self.tolerance is not None or self.decide:
            lower, upper, notes = refine(
                data, sums, lower, upper, alpha=self.alpha, tolerance=self.tolerance,
                threshold=self.threshold if self.decide else None, budget=self.max_sets, missing=self.missing, original=original,
            )  # fmt: skip
        risk = sums.found.risk * self.alpha
        return Score(
            self.name,
            self._summary(len(data), sums, risk, lower, upper),
            lambda: self._records(data, sums, lower, upper, original),
            notes=notes,
            riskiest=lambda number: self._riskiest(sums, risk, number),
        )

    def explain(self, data: Microdata, record: int, *, original: Microdata | None = None) -> list[str]:
        return explain(
            data, record, alpha=self.alpha, epsilon=self.epsilon, max_sets=self.max_sets, missing=self.missing, original=original
        )

    def _sums(self, data: Microdata, original: Microdata | None, *, everyone: bool = False) -> Sums:
        return known_sets(
            data, epsilon=self.epsilon, max_sets=self.max_sets, missing=self.missing, original=original, everyone=everyone
        )

    def _summary(
        self, records: int, sums: Sums, risk: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]
    ) -> dict[str, Any]:
        high = int((risk > self.threshold).sum())
        doubt = (lower <= self.threshold) & (upper > self.threshold)
        positive = lower > 0
        width = (upper[positive] - lower[positive]) / lower[positive]
        return {
            "sets": len(sums.tree),
            "high_risk": high,
            "high_risk_share": high / records if records else 0.0,
            "mean": float(risk.sum()) / records if records else 0.0,
            "max": float(risk.max(initial=0.0)),
            "undecided": int(doubt.sum()),
            "widest": float(width.max(initial=0.0)),
            "quantiles": {str(share): _quantile(risk, records, share) for share in QUANTILES},
            "histogram": histogram(risk, records),
        }

    def _records(
        self, data: Microdata, sums: Sums, lower: NDArray[np.float64], upper: NDArray[np.float64], original: Microdata | None
    ) -> pl.DataFrame:
        """A row a record; the likelihood of records with nothing to learn is counted only now that somebody asks."""
        everybody = sums if len(sums.slots) == len(data) else self._sums(data, original, everyone=True)
        found, slots = everybody.found, everybody.slots
        names = pl.Series("top_set", [everybody.set_name(node) for node in range(len(everybody.tree))], dtype=pl.String)
        risk = found.risk * self.alpha
        share = np.divide(found.top * self.alpha, risk, out=np.zeros_like(risk), where=risk > 0)

        def spread(values: NDArray[np.float64], at: NDArray[np.int64] = slots) -> NDArray[np.float64]:
            made = np.zeros(len(data))
            made[at] = values
            return made

        top = np.zeros(len(data), dtype=np.int64)
        top[slots] = np.where(found.top > 0, found.top_node, 0)  # nothing to learn: every set ties, the smallest is none
        return pl.DataFrame(
            {
                "risk": spread(risk),
                "lower": spread(lower, sums.slots),
                "upper": spread(upper, sums.slots),
                "top_set": names[top],
                "top_share": spread(share),
                "likelihood": spread(found.likelihood),
                "consequence": spread(everybody.consequence),
            }
        )

    def _riskiest(self, sums: Sums, risk: NDArray[np.float64], number: int) -> pl.DataFrame:
        """The records with the largest risk; nobody without something to learn is among them, so nothing is counted again."""
        order = np.lexsort((sums.slots, -risk))[:number]
        order = order[risk[order] > 0]
        return pl.DataFrame(
            {
                "record": sums.slots[order],
                "risk": risk[order],
                "top_set": pl.Series([sums.set_name(int(node)) for node in sums.found.top_node[order]], dtype=pl.String),
                "top_share": sums.found.top[order] * self.alpha / risk[order],
            }
        )


def _quantile(risk: NDArray[np.float64], records: int, share: float) -> float:
    """The smallest risk that at least this share of all records does not exceed; records without a sum have risk 0."""
    if not records:
        return 0.0
    place = int(np.ceil(share * records)) - 1 - (records - len(risk))
    return float(np.partition(risk, place)[place]) if place >= 0 else 0.0


def histogram(risk: NDArray[np.float64], records: int) -> dict[str, int]:
    """Records by power of ten, those without risk under '0'."""
    positive = risk[risk > 0]
    powers, counts = np.unique(np.floor(np.log10(positive)).astype(int), return_counts=True)
    made = {"0": records - len(positive)}
    if len(powers):
        table = dict(zip(powers.tolist(), counts.tolist(), strict=True))
        made.update({f"1e{power:+03d}": table.get(power, 0) for power in range(powers[0], powers[-1] + 1)})
    return made
