"""Distance-based record linkage of masked records to their originals (maximum-knowledge intruder)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.cells.hierarchies import usable_hierarchy
from discreet.engine.cells.midpoints import is_number, released_numbers
from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.encoding.record_links import require_original_rows
from discreet.engine.statistics.wilson import wilson_interval
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.extras import require_libraries
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.record_linkage.distances import NeighbourRank, Space, affordable_attacks, build_space, rank_originals

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NOT_COMPARED = (Role.IDENTIFIER, Role.PERSON, Role.WEIGHT)


@dataclass(frozen=True)
class _Attack:
    data: Microdata
    original: Microdata
    names: list[str]
    links: NDArray[np.int64]
    rows: NDArray[np.int64]


class RecordLinkage(RiskMeasure):
    """An intruder who has the whole original table links each masked record to the nearest original.

    A link is correct where the nearest original is the record's own; ties are broken at random, so ``correct`` is an expectation.
    ``baseline_share`` is the share expected from random matching, 1/n. ``lower`` and ``upper`` are the bounds of Wilson's score
    interval of the share.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 44, 55], "income": [1, 2, 3]}, key=["age"])
    >>> RecordLinkage().measure(data, original=data).summary["correct"]
    3.0
    """

    name: ClassVar[str] = "record_linkage"
    citation: ClassVar[str] = (
        "Domingo-Ferrer, J. & Torra, V. (2001). A quantitative comparison of disclosure control methods for microdata, in "
        "Doyle et al. (eds), Confidentiality, Disclosure and Data Access. North-Holland; Domingo-Ferrer, J., Ricci, S. & "
        "Soria-Comas, J. (2015). Disclosure risk assessment via record linkage by a maximum-knowledge intruder. PST."
    )
    better: ClassVar[Mapping[str, Direction]] = {
        "correct": "low", "correct_share": "low", "lower": "low", "upper": "low", "within_2": "low", "within_5": "low",
        "within_10": "low", "interval_disclosure": "low", "excess": "low",
    }  # fmt: skip
    worst: ClassVar[Mapping[str, float]] = {
        "correct_share": 1.0, "lower": 1.0, "upper": 1.0, "within_2": 1.0, "within_5": 1.0, "within_10": 1.0,
        "interval_disclosure": 1.0, "excess": 1.0,
    }  # fmt: skip
    original_use: ClassVar[Literal["none", "optional", "required"]] = "required"
    neutral: ClassVar[Collection[str]] = ("baseline_share", "control_share", "attacks")
    meaning: ClassVar[Mapping[str, str]] = {
        "correct": "expected number of masked records linked to their own original",
        "correct_share": "share of masked records linked to their own original",
        "baseline_share": "baseline: share expected from random matching",
        "control_share": "control attack: share linked to a randomly chosen original",
        "lower": "lower confidence bound of correct_share",
        "upper": "upper confidence bound of correct_share",
        "excess": "correct_share in excess of the baseline, 0 to 1",
        "within_2": "share of records whose original is among the 2 nearest",
        "within_5": "share of records whose original is among the 5 nearest",
        "within_10": "share of records whose original is among the 10 nearest",
        "interval_disclosure": "interval disclosure: share of original numbers close to their masked value",
        "attacks": "number of masked records attacked",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "correct": "probability that the nearest original is the record's own",
        "distance": "distance to the record's own original",
    }

    attributes: tuple[str, ...] = Field(default=(), description="attributes compared; default: all that both tables have")
    attacks: Annotated[int, Field(ge=1)] | None = Field(default=None, description="masked records to attack, drawn at random")
    confidence: Annotated[float, Field(gt=0, lt=1)] = Field(default=0.95, description="confidence of the bounds")
    interval: Annotated[float, Field(ge=0)] = Field(
        default=0.05, description="standard deviations within which an original number counts as disclosed by its masked value"
    )

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        if original is None:
            raise DataError("record_linkage links masked records to originals, so it needs the original table")
        require_libraries("the measure record_linkage", "scipy")
        names = self._names(data, original)
        links = require_original_rows(data, original, self.name)
        trees = {name: hierarchy for name in names if (hierarchy := usable_hierarchy(original, name)) is not None}
        coordinates = build_space(original.frame, data.frame, names, trees, data.cells)
        rows = self._attacked(data, links, coordinates)
        # the control attack: the same, with a random original taken as the record's own
        control_rows = (KeyedDraw(0).uniform(data.records[rows], "control") * len(original)).astype(np.int64)
        near, control = rank_originals(coordinates, rows, links[rows], control_rows)
        return self._score(_Attack(data, original, names, links, rows), near, control)

    def examines(self, data: Microdata) -> list[str]:
        return list(self.attributes) or [name for name in data.columns if data.attribute(name).role not in _NOT_COMPARED]

    def _names(self, data: Microdata, original: Microdata) -> list[str]:
        for name in self.attributes:
            data.attribute(name)
            original.attribute(name)
        known = [name for name in original.columns if original.attribute(name).role not in _NOT_COMPARED]
        shared = [name for name in known if name in data.columns]
        names = list(self.attributes) or shared
        if not names:
            raise DataError(f"record_linkage: {data.source} and {original.source} share no attribute to compare")
        return names

    def _attacked(self, data: Microdata, links: NDArray[np.int64], coordinates: Space) -> NDArray[np.int64]:
        real = np.flatnonzero(links >= 0)
        number = min(len(real), self.attacks or affordable_attacks(coordinates, real, links[real]))
        if number == len(real):
            return real
        return np.sort(real[KeyedDraw(0).order(data.records[real], self.name)[:number]])

    def _score(self, attack: _Attack, near: NeighbourRank, control: NeighbourRank) -> Score:
        data, original, links, rows = attack.data, attack.original, attack.links, attack.rows
        attacked, right = len(rows), near.within(1)
        real = int((links >= 0).sum())
        share = float(right.mean()) if attacked else 0.0
        lower, upper = wilson_interval(float(right.sum()), attacked, self.confidence)
        baseline = 1 / len(original) if len(original) else 0.0
        disclosed = self._disclosed(attack)
        summary = {
            "correct": share * real,
            "correct_share": share,
            "baseline_share": baseline,
            "control_share": float(control.within(1).mean()) if attacked else 0.0,
            "lower": lower,
            "upper": upper,
            "excess": max(0.0, (share - baseline) / (1 - baseline)) if baseline < 1 else 0.0,
            **{f"within_{number}": float(near.within(number).mean()) if attacked else 0.0 for number in (2, 5, 10)},
            "interval_disclosure": float(disclosed["disclosed"].mean() or 0.0) if disclosed.height else 0.0,  # type: ignore[arg-type]
            "attacks": attacked,
        }
        correct, distance = np.full(len(data), np.nan), np.full(len(data), np.nan)
        correct[rows], distance[rows] = right, near.distance
        per_record = pl.DataFrame({"correct": correct, "distance": distance}).fill_nan(None)
        notes = () if attacked == real else (f"{attacked:,} of {real:,} masked records, drawn at random, were attacked",)
        return Score(self.name, summary, per_record, disclosed, (lower, upper), notes)

    def _disclosed(self, attack: _Attack) -> pl.DataFrame:
        """Interval disclosure, one row per attribute: the share of original numbers close to their masked value."""
        data, original, links = attack.data, attack.original, attack.links
        rows = np.flatnonzero(links >= 0)
        shares: list[dict[str, object]] = []
        for name in attack.names:
            if not is_number(original.frame[name]) or not len(rows):
                continue
            original_numbers, masked_numbers = released_numbers(original, data, name)
            deviation = float(np.nanstd(original_numbers)) if not np.isnan(original_numbers).all() else 0.0
            difference = np.abs(original_numbers[links[rows]] - masked_numbers[rows])
            close = difference <= self.interval * deviation * (1 + 1e-12)
            known = ~np.isnan(original_numbers[links[rows]])
            shares.append({"attribute": name, "disclosed": float(close[known].mean()) if known.any() else 0.0})
        return pl.DataFrame(shares, schema={"attribute": pl.String, "disclosed": pl.Float64})
