"""k-anonymity: how many records share each record's key values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.classes.groups import class_sizes, group_columns
from discreet.engine.encoding.columns import encode
from discreet.engine.spark.gaps import PATTERNS
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.k_anonymity.summary import THRESHOLDS, ClassStatistics, summarize


class KAnonymity(RiskMeasure):
    """The size of each record's class: the records that agree with it on all key attributes.

    A table is k-anonymous where the smallest class has k records. ``unique`` counts records alone in their class,
    ``violating_5`` those in classes of fewer than 5. The intruder is one who knows every key of his target.

    Under ``missing: wildcard`` an intruder who knows the original values is stronger than one who has the release alone: beside
    the original, the class of a record is all released records that agree with its true values. Under ``category`` he is not:
    the true values of a record agree with its own released cells, so with those of its whole class.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 44, 55], "state": ["MI", "MI", "IN"]}, key=["age", "state"])
    >>> KAnonymity().measure(data).summary["k"]
    1
    """

    name: ClassVar[str] = "k_anonymity"
    citation: ClassVar[str] = "Sweeney, L. (2002). k-anonymity: a model for protecting privacy. IJUFKS 10(5), 557-570."
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.risks.k_anonymity.spark:k_anonymity", (PATTERNS,))
    better: ClassVar[Mapping[str, Direction]] = {
        "k": "high", "classes": "low", "unique": "low", "violating_2": "low", "violating_3": "low", "violating_5": "low",
    }  # fmt: skip
    worst: ClassVar[Mapping[str, float]] = {"k": 1.0}
    descriptive: ClassVar[Collection[str]] = ("classes",)
    meaning: ClassVar[Mapping[str, str]] = {
        "k": "records in the smallest class",
        "classes": "different combinations of key values",
        "unique": "records that share their key values with nobody",
        "violating_2": "records in classes of fewer than 2",
        "violating_3": "records in classes of fewer than 3",
        "violating_5": "records in classes of fewer than 5",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "class_size": "records in the record's equivalence class",
    }

    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"

    keys: tuple[str, ...] = Field(default=(), description="attributes to group by; those with the role key where empty")
    missing: Literal["category", "wildcard"] = Field(
        default="category", description="a null is one more value, or agrees with anything on either side"
    )

    def uses_original(self, data: Microdata) -> bool:
        """Only nulls that agree with anything give an intruder who knows the original values more than the release."""
        return self.missing == "wildcard"

    def reads(self, data: Microdata) -> list[str]:
        return list(self.keys) or data.named(Role.KEY)

    def working_bytes(self, sample: Microdata, records: int, *, by_record: bool = False) -> float:
        return 50.0 * records  # 32 where there are few classes, 73 where nearly everyone is one

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        keys = list(self.keys) or data.named(Role.KEY)
        if not keys:
            raise DataError(f"k_anonymity needs at least one attribute with the role key in {data.source}")
        columns = encode(data, keys)
        wildcard = self.missing == "wildcard"
        if original is not None and wildcard and any(column.has_null for column in columns):
            from discreet.risks.k_anonymity.informed import informed_class_sizes

            rows, sizes = informed_class_sizes(data, original, keys)
            spread = np.full(len(data), np.nan)
            spread[rows] = sizes
            per_record = pl.DataFrame({"class_size": pl.Series(spread).fill_nan(None).cast(pl.Int64)})
        else:
            sizes = class_sizes(columns, len(data), wildcard=wildcard)
            per_record = pl.DataFrame({"class_size": sizes.astype(np.int64)})
        statistics = ClassStatistics(
            smallest=int(sizes.min()) if len(sizes) else 0,
            classes=group_columns(columns, len(data))[1],
            violating={k: int((sizes < k).sum()) for k in THRESHOLDS},
        )
        return Score(self.name, summarize(statistics), per_record)
