"""Special uniques: records that are alone on few of their key values (SUDA2), and their risk by data intrusion simulation."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.classes.distinct_classes import DistinctClasses, list_classes
from discreet.engine.classes.key_sets import Missing, count_key_sets, encode_keys
from discreet.engine.encoding.columns import Column
from discreet.engine.spark.gaps import MANY_CLASSES
from discreet.engine.special_uniques.scores import Scores, weigh_sizes
from discreet.engine.special_uniques.walk import check_search, count_minimal_uniques, list_distinct_keys
from discreet.model.attribute import Role
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.special_uniques.explain import describe_minimal_uniques, list_minimal_uniques
from discreet.risks.special_uniques.intrusion import Pairs
from discreet.risks.special_uniques.listing import list_sets_in_batches
from discreet.risks.special_uniques.scoring import score_classes, sum_all_scores

_SHOWN = 5


class SpecialUniques(RiskMeasure):
    """Records that are alone on few of their key values, scored by how few (special uniques detection algorithm, SUDA2).

    A minimal sample unique of a record is a set of key values that no other record has, while every proper subset of it occurs in
    other records. The fewer and the smaller such sets an intruder needs, the more special the record: its score is the sum of the
    scores of its minimal sample uniques. ``dis`` turns scores into the probability that a match with the record is correct.

    >>> from discreet.testing import table
    >>> rows = {"age": [44, 44, 55, 55], "sex": ["f", "m", "f", "f"], "job": ["nurse", "nurse", "nurse", "judge"]}
    >>> score = SpecialUniques().measure(table(rows, key=["age", "sex", "job"]))
    >>> score["minimal_uniques"], score.per_record["score"].to_list()
    (4, [1.0, 2.0, 1.0, 2.0])
    """

    name: ClassVar[str] = "special_uniques"
    citation: ClassVar[str] = (
        "Elliot, M. J., Manning, A. M. & Ford, R. W. (2002). A computational algorithm for handling the special uniques problem. "
        "IJUFKS 10(5), 493-509; Manning, A. M., Haglin, D. J. & Keane, J. A. (2008). A recursive search algorithm for "
        "statistical disclosure assessment. Data Mining and Knowledge Discovery 16(2), 165-196; Skinner, C. J. & Elliot, M. J. "
        "(2002). A measure of disclosure risk for microdata. JRSS B 64(4), 855-867."
    )
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.engine.spark.collected:measure_collected_classes", (MANY_CLASSES,))
    better: ClassVar[Mapping[str, Direction]] = {
        "records": "low", "minimal_uniques": "low", "high_risk": "low", "score_sum": "low", "score_max": "low", "dis_mean": "low",
        "dis_max": "low",
    }  # fmt: skip
    worst: ClassVar[Mapping[str, float]] = {"dis_mean": 1.0, "dis_max": 1.0}
    descriptive: ClassVar[Collection[str]] = ("minimal_uniques",)
    meaning: ClassVar[Mapping[str, str]] = {
        "records": "special uniques: records with at least one minimal sample unique of at most max_size keys",
        "minimal_uniques": "minimal sample uniques of all records",
        "by_size": "minimal sample uniques by the number of their keys",
        "high_risk": "records whose score is greater than threshold",
        "score_sum": "sum of the scores of all records",
        "score_max": "largest score of a record",
        "dis_mean": "mean DIS over all records; 0 for records that are not special",
        "dis_max": "largest DIS of a record: probability that a match with it is correct",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "dis": "probability that a match with the record is correct, by data intrusion simulation",
        "score": "sum of the scores of its minimal sample uniques",
        "minimal_uniques": "number of its minimal sample uniques",
        "smallest": "number of keys of its smallest minimal sample unique; empty where it has none",
        "sets": "its minimal sample uniques, small sets first; in files only",
    }
    contribution: ClassVar[tuple[str, str] | None] = (
        "contribution",
        "sum of the scores of minimal sample uniques with the attribute",
    )
    at_risk: ClassVar[tuple[str, str] | None] = ("high_risk", "{number} of {records} records with a score above its threshold")
    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"

    keys: tuple[str, ...] = Field(default=(), description="quasi-identifiers whose sets are searched; default: role key")
    max_size: Annotated[int, Field(ge=1)] = Field(default=3, description="largest number of keys of a minimal sample unique")
    missing: Missing = Field(
        default="category",
        description="a null is one more value, agrees with anything (wildcard), or is no value and agrees with nothing (ignore)",
    )
    scores: Scores = Field(
        default="elliot", description="score of a set of k of m keys: published product, (m - k)!, or the scaling of sdcMicro"
    )
    threshold: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=0.0, description="a record is high-risk if its score is greater"
    )
    sampling_fraction: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.01, description="share of the population that is in the sample, for the data intrusion simulation"
    )
    pairs: Pairs = Field(
        default="records", description="P of the data intrusion simulation: records in classes of two, or these classes"
    )

    def uses_original(self, data: Microdata) -> bool:
        """Only where nulls are no values does an intruder who knows the original values learn more than the release shows."""
        return self.missing != "category"

    def reads(self, data: Microdata) -> list[str]:
        return list(self.keys) or data.named(Role.KEY)

    def working_bytes(self, sample: Microdata, records: int, *, by_record: bool = False) -> float:
        keys = max(1, len(self.reads(sample)))
        deepest = min(self.max_size, keys)
        bits = count_key_sets(keys, deepest if by_record else deepest - 1)
        return records * (60.0 + 4 * keys + 12 * deepest + bits / 8)

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        columns = self._encode_keys(data, original)
        return self.score_classes(columns, list_classes(columns, len(data)))

    def score_classes(self, columns: Sequence[Column], classes: DistinctClasses) -> Score:
        """The score of the records of these classes, on either engine."""
        names = [column.name for column in columns]
        scored = score_classes(self, names, classes, [column.null_code for column in columns])

        def list_all_sets() -> Iterator[pl.DataFrame]:
            begin = 0
            for sets in list_sets_in_batches(names, scored.distinct, self.max_size, self.missing):
                yield scored.list_values(scored.distinct.rows[begin : begin + len(sets)]).with_columns(sets)
                begin += len(sets)

        return Score(
            self.name, scored.summary, lambda: scored.list_values(scored.distinct.rows), scored.per_attribute,
            record_batches=list_all_sets,
        )  # fmt: skip

    def contributions_by_value(self, data: Microdata) -> pl.DataFrame:
        """What each value of each key contributes to the scores: one row per value in a minimal sample unique, largest first."""
        columns = self._encode_keys(data, None)
        counts = count_minimal_uniques(list_distinct_keys(columns, len(data)), self.max_size, self.missing)
        weights = weigh_sizes(self.scores, len(columns), self.max_size)
        total = sum_all_scores(counts, weights)
        tables = []
        for column, by_value in zip(columns, counts.by_value, strict=True):
            sets = by_value.sum(axis=0)
            present = np.flatnonzero(sets)
            values = [*column.values.cast(pl.String).to_list(), None]
            contribution = (weights @ by_value)[present]
            tables.append(
                pl.DataFrame(
                    {
                        "attribute": [column.name] * len(present),
                        "value": [values[code] for code in present.tolist()],
                        "minimal_uniques": sets[present],
                        "contribution": contribution,
                        "share": contribution / total if total else np.zeros(len(present)),
                    },
                    schema_overrides={"attribute": pl.String, "value": pl.String},
                )
            )
        return pl.concat(tables).sort("contribution", descending=True, maintain_order=True)

    def explain(self, data: Microdata, record: int, *, original: Microdata | None = None) -> list[str]:
        columns = self._encode_keys(data, original)
        sets = list_minimal_uniques(columns, record, self.max_size, self.missing)
        of = f"record {record + 1:,} of {len(data):,}"
        if not sets:
            return [
                f"{of}: not special, because others share each set of up to {min(self.max_size, len(columns))} of its key values"
            ]
        weights = weigh_sizes(self.scores, len(columns), self.max_size)
        scores = [float(weights[len(chosen) - 1]) for chosen in sets]
        number = f"{len(sets):,} minimal sample unique{'s' if len(sets) > 1 else ''}"
        head = f"{of}: score {sum(scores):g} ({self.scores}) from {number}"
        return [head, *describe_minimal_uniques([column.name for column in columns], sets, scores, _SHOWN)]

    def _encode_keys(self, data: Microdata, original: Microdata | None) -> list[Column]:
        keys = self.reads(data)
        self.check_sets(keys, data.source)
        return encode_keys(self.name, data, keys, self.missing, original)

    def check_sets(self, keys: Sequence[str], source: str) -> None:
        """Raise DataError where these keys cannot be searched."""
        check_search(self.name, keys, source, self.max_size, self.missing)
