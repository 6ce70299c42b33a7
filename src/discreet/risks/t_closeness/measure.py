"""t-closeness: the distance between the sensitive values of each equivalence class and those of the whole table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.classes.closeness import Distance, choose_ground_distance
from discreet.engine.classes.diversity import histograms_by_agreement, overall_distribution
from discreet.engine.classes.groups import number_classes, refuse_nulls_beside_original
from discreet.engine.classes.sensitive_cells import read_sensitive_cells
from discreet.engine.encoding.columns import encode
from discreet.engine.spark.gaps import PATTERNS
from discreet.errors import DataError, ParameterError, nearest
from discreet.model.attribute import Role
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.engine_work import EngineWork, Gap
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.t_closeness.summary import ClosenessStatistics, summarize, tabulate_attributes

MANY_VALUES = Gap("sensitive attributes of more than a million values", "their distribution is sent to every worker")

_OVERLAP = (
    "t_closeness takes '{one}' and '{other}' of '{name}' for different values, but both may stand for the same, so that a class "
    "may be farther from the table than it says"
)


class TCloseness(RiskMeasure):
    """The earth mover's distance between the sensitive values of each equivalence class and of the table; ``t`` is the largest.

    The ground distance is ``ordered`` (rank difference over m - 1) for numbers, dates and ordinal values, ``hierarchical``
    (level of the lowest common label over height) for nominal values with a hierarchy, ``equal`` for others.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 44, 55, 55], "pay": [1, 2, 2, 3]}, key=["age"], confidential=["pay"])
    >>> TCloseness().measure(data).summary["t"]
    0.25
    """

    name: ClassVar[str] = "t_closeness"
    citation: ClassVar[str] = (
        "Li, N., Li, T. & Venkatasubramanian, S. (2007). t-closeness: privacy beyond k-anonymity and l-diversity. ICDE, 106-115."
    )
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.risks.t_closeness.spark:t_closeness", (PATTERNS, MANY_VALUES))
    better: ClassVar[Mapping[str, Direction]] = {"t": "low", "mean_t": "low"}

    worst: ClassVar[Mapping[str, float]] = {"t": 1.0, "mean_t": 1.0}
    meaning: ClassVar[Mapping[str, str]] = {
        "t": "largest earth mover's distance of a class from the whole table, 0 to 1",
        "mean_t": "mean over records of the distance of their class",
    }
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "t": "no equivalence class differs from the whole table by more than {percent} % in its sensitive values",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "t": "earth mover's distance of the record's equivalence class from the whole table, 0 to 1",
    }

    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"

    keys: tuple[str, ...] = Field(
        default=(), description="quasi-identifiers that form the equivalence classes; default: role key"
    )
    sensitive: tuple[str, ...] = Field(default=(), description="sensitive attributes; default: role confidential")
    distance: dict[str, Distance] = Field(
        default_factory=dict, description="ground distance by attribute: equal, ordered or hierarchical; default: by level"
    )
    missing: Literal["category", "wildcard"] = Field(
        default="category", description="a null in a key is one more value, or agrees with anything on either side"
    )

    def uses_original(self, data: Microdata) -> bool:
        """Only wildcard nulls give an intruder who knows the original values more than the release does."""
        return self.missing == "wildcard"

    def reads(self, data: Microdata) -> list[str]:
        return [*(self.keys or data.named(Role.KEY)), *(self.sensitive or data.named(Role.CONFIDENTIAL))]

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        keys = list(self.keys) or data.named(Role.KEY)
        sensitive = list(self.sensitive) or data.named(Role.CONFIDENTIAL)
        for columns_of_role, role in ((keys, "key"), (sensitive, "confidential")):
            if not columns_of_role:
                raise DataError(f"t_closeness needs at least one attribute with the role {role} in {data.source}")
        for name in self.distance:
            if name not in sensitive:
                raise ParameterError(f"t_closeness.distance names '{name}', which is not sensitive; {nearest(name, sensitive)}")
        if both := set(keys) & set(sensitive):
            raise DataError(f"t_closeness: '{sorted(both)[0]}' cannot be a key and sensitive at once")
        columns = encode(data, keys)
        refuse_nulls_beside_original(self.name, columns, self.missing, original)
        ids, sizes = number_classes(columns, len(data))
        number = len(sizes)
        worst = np.zeros(number)
        table = []
        gaps = []
        for encoded in encode(data, sensitive):
            cells = read_sensitive_cells(data, encoded)
            column = cells.column
            if (pair := cells.overlapping_pair()) is not None:
                gaps.append(_OVERLAP.format(name=column.name, one=pair[0], other=pair[1]))
            ground = choose_ground_distance(data, column, self.distance.get(column.name))
            classes = histograms_by_agreement(columns, column, ids, number, wildcard=self.missing == "wildcard")
            whole = overall_distribution(column.codes, len(column.values))
            distances = np.nan_to_num(ground.emd(classes, whole))  # a class without a value discloses nothing
            worst = np.maximum(worst, distances)
            table.append((column.name, ground.kind, float(distances.max()) if number else 0.0))
        records = worst[ids]
        statistics = ClosenessStatistics(float(worst.max(initial=0.0)), float(records.sum()), len(records), table)
        per_record, per_attribute = pl.DataFrame({"t": records}), tabulate_attributes(statistics)
        return Score(self.name, summarize(statistics), per_record, per_attribute, notes=tuple(gaps), gaps=tuple(gaps))
