"""l-diversity: the number of sensitive values in each equivalence class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.classes.diversity import distinct_values, entropy_l, histograms_by_agreement, recursive_l
from discreet.engine.classes.groups import number_classes, refuse_nulls_beside_original
from discreet.engine.classes.sensitive_cells import read_sensitive_cells
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
    """The diversity of the sensitive values in each equivalence class.

    ``l`` is the number of distinct values, ``entropy_l`` the exponential of their entropy, ``recursive_l`` the largest l with
    r_1 < c (r_l + … + r_m), where r_1 >= r_2 >= … are their counts; each is the minimum over classes and sensitive attributes.
    ``homogeneous`` counts the records of classes with a single value: an intruder who finds the class learns it (attribute
    disclosure). ``*`` is no value, as a null is none; cells that overlap, such as ``HIV`` and ``{HIV|Flu}``, count as one.

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
        "l": "fewest distinct sensitive values in an equivalence class",
        "entropy_l": "least entropy l-diversity of a class: exp(entropy) of its sensitive values",
        "recursive_l": "largest l for which every class is recursively (c, l)-diverse",
        "homogeneous": "records in classes with a single sensitive value (attribute disclosure)",
    }
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "l": "everybody shares an equivalence class with at least {number} different sensitive values",
        "homogeneous": "there are at most {number} records whose class gives their sensitive value away",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "l": "distinct sensitive values in the record's equivalence class",
        "entropy_l": "entropy l-diversity of the record's class",
        "recursive_l": "recursive (c, l)-diversity of the record's class",
    }

    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"

    keys: tuple[str, ...] = Field(
        default=(), description="quasi-identifiers that form the equivalence classes; default: role key"
    )
    sensitive: tuple[str, ...] = Field(default=(), description="sensitive attributes; default: role confidential")
    c: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(default=3.0, description="c of recursive (c, l)-diversity")
    missing: Literal["category", "wildcard"] = Field(
        default="category", description="a null in a key is one more value, or agrees with anything on either side"
    )

    def uses_original(self, data: Microdata) -> bool:
        """Only wildcard nulls give an intruder who knows the original values more than the release does."""
        return self.missing == "wildcard"

    def reads(self, data: Microdata) -> list[str]:
        return [*(self.keys or data.named(Role.KEY)), *(self.sensitive or data.named(Role.CONFIDENTIAL))]

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        keys, sensitive = _attributes(self.name, data, self.keys, self.sensitive)
        columns = encode(data, keys)
        refuse_nulls_beside_original(self.name, columns, self.missing, original)
        ids, sizes = number_classes(columns, len(data))
        number = len(sizes)
        worst = {field: np.full(number, np.inf) for field in FIELDS}
        by_attribute = {}
        for encoded in encode(data, sensitive):
            cells = read_sensitive_cells(data, encoded)
            column = cells.column
            by_class = histograms_by_agreement(columns, column, ids, number, wildcard=self.missing == "wildcard")
            by_class = cells.merge_overlapping(by_class)
            diversity = (distinct_values(by_class), entropy_l(by_class), recursive_l(by_class, self.c))
            numbers = dict(zip(FIELDS, diversity, strict=True))
            for field, values in numbers.items():
                worst[field] = np.fmin(worst[field], values)
            by_attribute[column.name] = {field: _least(values) for field, values in numbers.items()}
        least = {field: _least(values) for field, values in worst.items()}
        statistics = DiversityStatistics(least, by_attribute, homogeneous=int(sizes[worst["l"] == 1].sum()))
        return Score(
            self.name,
            summarize(statistics),
            lambda: pl.DataFrame({field: _column(values, field)[ids] for field, values in worst.items()}),
            tabulate_attributes(statistics),
        )


def _attributes(measure: str, data: Microdata, keys: tuple[str, ...], sensitive: tuple[str, ...]) -> tuple[list[str], list[str]]:
    key_names = list(keys) or data.named(Role.KEY)
    sensitive_names = list(sensitive) or data.named(Role.CONFIDENTIAL)
    if not key_names:
        raise DataError(f"{measure} needs at least one attribute with the role key in {data.source}")
    if not sensitive_names:
        raise DataError(f"{measure} needs at least one attribute with the role confidential in {data.source}")
    if both := set(key_names) & set(sensitive_names):
        raise DataError(f"{measure}: '{sorted(both)[0]}' cannot be a key and sensitive at once")
    return key_names, sensitive_names


def _least(values: NDArray[np.float64]) -> float | None:
    """The minimum over the classes; None where no class has a sensitive value."""
    finite = values[np.isfinite(values)]
    return float(finite.min()) if len(finite) else None


def _column(values: NDArray[np.float64], field: str) -> pl.Series:
    series = pl.Series(field, np.where(np.isfinite(values), values, np.nan)).fill_nan(None)
    return series if field == "entropy_l" else series.cast(pl.Int64)
