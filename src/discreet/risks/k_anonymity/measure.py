"""k-anonymity: the sizes of the equivalence classes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.classes.groups import class_sizes, number_classes
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
    """The size of each record's equivalence class: the records that agree with it on all quasi-identifiers (role key).

    A table is k-anonymous if its smallest equivalence class has k records. ``unique`` counts sample uniques, ``violating_5`` the
    records in classes of fewer than 5. The intruder knows every key of the target (prosecutor: risk 1 / class size).

    Under ``missing: wildcard`` an intruder who knows the original values is stronger than one who has the release only: with the
    original, the class of a record is all released records that agree with its original values. Under ``category`` this makes no
    difference: the original values of a record agree with its own released cells, and so with those of its whole class.

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
        "k": "records in the smallest equivalence class",
        "classes": "equivalence classes: distinct combinations of key values",
        "unique": "sample uniques: records alone in their equivalence class",
        "violating_2": "records that violate 2-anonymity: class of fewer than 2",
        "violating_3": "records that violate 3-anonymity: class of fewer than 3",
        "violating_5": "records that violate 5-anonymity: class of fewer than 5",
    }
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "k": "no record is easier to find than one in {number}",
        "unique": "there are at most {number} records alone in their equivalence class",
        "violating_5": "there are at most {number} records in equivalence classes of fewer than 5",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "class_size": "records in the record's equivalence class",
    }

    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"

    keys: tuple[str, ...] = Field(
        default=(), description="quasi-identifiers that form the equivalence classes; default: role key"
    )
    missing: Literal["category", "wildcard"] = Field(
        default="category", description="a null is one more value, or agrees with anything on either side"
    )

    def uses_original(self, data: Microdata) -> bool:
        """Only wildcard nulls give an intruder who knows the original values more than the release does."""
        return self.missing == "wildcard"

    def reads(self, data: Microdata) -> list[str]:
        return list(self.keys) or data.named(Role.KEY)

    def working_bytes(self, sample: Microdata, records: int, *, by_record: bool = False) -> float:
        return 50.0 * records  # measured: 32 with few classes, 73 where nearly every record is a class

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        keys = list(self.keys) or data.named(Role.KEY)
        if not keys:
            raise DataError(f"k_anonymity needs at least one attribute with the role key in {data.source}")
        columns = encode(data, keys)
        ids, by_class = number_classes(columns, len(data))
        sizes, weights = by_class, by_class  # of each class, with its number of records
        if self.missing == "wildcard" and any(column.has_null for column in columns):
            if original is not None:
                from discreet.risks.k_anonymity.informed import informed_class_sizes

                rows, sizes = informed_class_sizes(data, original, keys)
                by_row = np.full(len(data), np.nan)
                by_row[rows] = sizes
                per_record = pl.DataFrame({"class_size": pl.Series(by_row).fill_nan(None).cast(pl.Int64)})
            else:
                sizes = class_sizes(columns, len(data), wildcard=True)
                per_record = pl.DataFrame({"class_size": sizes})
            weights = np.ones(len(sizes), dtype=np.int64)
        else:
            per_record = pl.DataFrame({"class_size": by_class[ids]})
        statistics = ClassStatistics(
            smallest=int(sizes.min()) if len(sizes) else 0,
            classes=len(by_class),
            violating={k: int(weights[sizes < k].sum()) for k in THRESHOLDS},
        )
        return Score(self.name, summarize(statistics), per_record)
