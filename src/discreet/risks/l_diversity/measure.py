"""l-diversity: how many sensitive values stand behind each record's keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.classes.diversity import distinct_values, entropy_l, histograms_by_agreement, recursive_l
from discreet.engine.classes.groups import group_columns, refuse_wildcards_beside_original
from discreet.engine.encoding.columns import encode
from discreet.engine.spark.gaps import PATTERNS
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.l_diversity.summary import FIELDS, DiversityStatistics, summarize, tabulate_attributes

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LDiversity(RiskMeasure):
    """The diversity of the sensitive values in each class of records that agree on all keys.

    ``l`` is the number of different values, ``entropy_l`` exp of their entropy, ``recursive_l`` the largest l with
    r_1 < c (r_l + … + r_m), r being their counts from the largest on; each the least over classes and sensitive attributes.
    ``homogeneous`` counts the records of classes that have one value only: who finds the class learns it.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 44, 55, 55], "ill": ["Flu", "Cold", "Flu", None]}, key=["age"], confidential=["ill"])
    >>> LDiversity().measure(data).summary["l"]
    1
    """

    name: ClassVar[str] = "l_diversity"
    citation: ClassVar[str] = (
        "Machanavajjhala, A., Kifer, D., Gehrke, J. & Venkitasubramaniam, M. (2007). l-diversity: privacy beyond "
        "k-anonymity. ACM TKDD 1(1)."
    )
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.risks.l_diversity.spark:l_diversity", (PATTERNS,))
    better: ClassVar[Mapping[str, Direction]] = {"l": "high", "entropy_l": "high", "recursive_l": "high", "homogeneous": "low"}

    worst: ClassVar[Mapping[str, float]] = {"l": 1.0, "entropy_l": 1.0, "recursive_l": 1.0}
    meaning: ClassVar[Mapping[str, str]] = {
        "l": "fewest different sensitive values in a class",
        "entropy_l": "least exp(entropy) of the sensitive values of a class",
        "recursive_l": "largest l for which every class is recursively (c, l)-diverse",
        "homogeneous": "records whose class has one sensitive value only",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "l": "distinct sensitive values in the record's equivalence class",
        "entropy_l": "entropy l-diversity of its class",
        "recursive_l": "recursive (c, l)-diversity of its class",
    }

    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"

    keys: tuple[str, ...] = Field(default=(), description="attributes to group by; those with the role key where empty")
    sensitive: tuple[str, ...] = Field(
        default=(), description="attributes to protect; those with the role confidential where empty"
    )
    c: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(default=3.0, description="c of recursive (c, l)-diversity")
    missing: Literal["category", "wildcard"] = Field(
        default="category", description="a null in a key is one more value, or agrees with anything on either side"
    )

    def uses_original(self, data: Microdata) -> bool:
        """Only nulls that agree with anything give an intruder who knows the original values more than the release."""
        return self.missing == "wildcard"

    def reads(self, data: Microdata) -> list[str]:
        return [*(self.keys or data.named(Role.KEY)), *(self.sensitive or data.named(Role.CONFIDENTIAL))]

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        keys, sensitive = _attributes(self.name, data, self.keys, self.sensitive)
        columns = encode(data, keys)
        refuse_wildcards_beside_original(self.name, columns, self.missing, original)
        ids, number = group_columns(columns, len(data))
        worst = {field: np.full(number, np.inf) for field in FIELDS}
        by_attribute = {}
        for column in encode(data, sensitive):
            found = histograms_by_agreement(columns, column, ids, number, wildcard=self.missing == "wildcard")
            numbers = dict(zip(FIELDS, (distinct_values(found), entropy_l(found), recursive_l(found, self.c)), strict=True))
            for field, values in numbers.items():
                worst[field] = np.fmin(worst[field], values)
            by_attribute[column.name] = {field: _least(values) for field, values in numbers.items()}
        records = {field: values[ids] for field, values in worst.items()}
        least = {field: _least(values) for field, values in worst.items()}
        statistics = DiversityStatistics(least, by_attribute, homogeneous=int((records["l"] == 1).sum()))
        return Score(
            self.name,
            summarize(statistics),
            pl.DataFrame({field: _column(values, field) for field, values in records.items()}),
            tabulate_attributes(statistics),
        )


def _attributes(measure: str, data: Microdata, keys: tuple[str, ...], sensitive: tuple[str, ...]) -> tuple[list[str], list[str]]:
    found_keys = list(keys) or data.named(Role.KEY)
    found = list(sensitive) or data.named(Role.CONFIDENTIAL)
    if not found_keys:
        raise DataError(f"{measure} needs at least one attribute with the role key in {data.source}")
    if not found:
        raise DataError(f"{measure} needs at least one attribute with the role confidential in {data.source}")
    if both := set(found_keys) & set(found):
        raise DataError(f"{measure}: '{sorted(both)[0]}' cannot be a key and sensitive at once")
    return found_keys, found


def _least(values: NDArray[np.float64]) -> float | None:
    """The least over classes; None where no class has a value to be learnt."""
    finite = values[np.isfinite(values)]
    return float(finite.min()) if len(finite) else None


def _column(values: NDArray[np.float64], field: str) -> pl.Series:
    series = pl.Series(field, np.where(np.isfinite(values), values, np.nan)).fill_nan(None)
    return series if field == "entropy_l" else series.cast(pl.Int64)
