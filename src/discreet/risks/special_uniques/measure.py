"""Special uniques: records that are alone on few of their key values (SUDA2), and their risk by data intrusion simulation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import comb
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.classes.groups import class_sizes
from discreet.engine.encoding.columns import Column, encode
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.special_uniques.explain import describe_minimal_uniques, list_minimal_uniques
from discreet.risks.special_uniques.scores import Pairs, Scores, score_of_size, simulate_intrusion
from discreet.risks.special_uniques.walk import DistinctKeys, MinimalUniques, Missing, count_minimal_uniques, list_distinct_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_SETS = 100_000
_MOST_WILDCARD_KEYS = 62
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
    better: ClassVar[Mapping[str, Direction]] = {
        "records": "low", "minimal_uniques": "low", "score_sum": "low", "score_max": "low", "dis_mean": "low", "dis_max": "low",
    }  # fmt: skip
    worst: ClassVar[Mapping[str, float]] = {"dis_mean": 1.0, "dis_max": 1.0}
    descriptive: ClassVar[Collection[str]] = ("minimal_uniques",)
    meaning: ClassVar[Mapping[str, str]] = {
        "records": "special uniques: records with at least one minimal sample unique of at most max_size keys",
        "minimal_uniques": "minimal sample uniques of all records",
        "by_size": "minimal sample uniques by the number of their keys",
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
    }
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
        bits = sum(comb(keys, size) for size in range(1, deepest))
        return records * (60.0 + 4 * keys + 12 * deepest + bits / 8)

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        columns = self._encode_keys(data, original)
        distinct, counts = self._count(columns, len(data))
        weights = self._weigh_sizes(len(columns))
        by_row = np.zeros(len(distinct.records), dtype=np.float64)
        sets_by_row = np.zeros(len(distinct.records), dtype=np.int64)
        smallest = np.zeros(len(distinct.records), dtype=np.int64)
        for size in range(len(weights), 0, -1):
            number = counts.by_record[size - 1]
            by_row[: distinct.candidates] += number * weights[size - 1]
            sets_by_row[: distinct.candidates] += number
            smallest[: distinct.candidates][number > 0] = size
        # without scores every DIS is 0, and agreement with nulls takes long to count
        uniques, in_pairs = self._count_uniques_and_pairs(columns, len(data)) if by_row.any() else (0, 0)
        dis = simulate_intrusion(by_row, len(columns), uniques, in_pairs, self.sampling_fraction, self.pairs)
        by_size = counts.by_record.sum(axis=1, dtype=np.int64)
        summary: dict[str, int | float | Mapping[str, int | float] | None] = {
            "records": int((sets_by_row > 0).sum()),
            "minimal_uniques": int(by_size.sum()),
            "by_size": {str(size): int(number) for size, number in enumerate(by_size.tolist(), start=1)},
            "score_sum": float(by_size @ weights),
            "score_max": float(by_row.max(initial=0.0)),
            "dis_mean": float(np.sort(dis).sum() / len(data)) if len(data) else 0.0,
            "dis_max": float(dis.max(initial=0.0)),
        }

        def list_records() -> pl.DataFrame:
            rows = distinct.rows
            sizes = pl.Series(smallest[rows])
            return pl.DataFrame(
                {
                    "dis": dis[rows],
                    "score": by_row[rows],
                    "minimal_uniques": sets_by_row[rows],
                    "smallest": pl.select(pl.when(sizes > 0).then(sizes)).to_series(),
                }
            )

        return Score(self.name, summary, list_records, _tabulate_attributes(columns, counts, weights))

    def contributions_by_value(self, data: Microdata) -> pl.DataFrame:
        """What each value of each key contributes to the scores: one row per value in a minimal sample unique, largest first."""
        columns = self._encode_keys(data, None)
        _, counts = self._count(columns, len(data))
        weights = self._weigh_sizes(len(columns))
        total = _sum_scores(counts, weights)
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
        weights = self._weigh_sizes(len(columns))
        scores = [float(weights[len(chosen) - 1]) for chosen in sets]
        number = f"{len(sets):,} minimal sample unique{'s' if len(sets) > 1 else ''}"
        head = f"{of}: score {sum(scores):g} ({self.scores}) from {number}"
        return [head, *describe_minimal_uniques([column.name for column in columns], sets, scores, _SHOWN)]

    def _encode_keys(self, data: Microdata, original: Microdata | None) -> list[Column]:
        keys = self.reads(data)
        if not keys:
            raise DataError(f"special_uniques needs at least one attribute with the role key in {data.source}")
        if len(set(keys)) < len(keys):
            twice = next(name for name in keys if keys.count(name) > 1)
            raise DataError(f"special_uniques names the key '{twice}' twice; name each key once")
        number = sum(comb(len(keys), size) for size in range(1, min(self.max_size, len(keys)) + 1))
        if number > _MOST_SETS:
            raise DataError(
                f"special_uniques would search {number:,} sets of up to {self.max_size} of {len(keys)} keys, more than "
                f"{_MOST_SETS:,}; use a smaller max_size or fewer keys"
            )
        columns = encode(data, keys)
        blank = [column.name for column in columns if column.has_null]
        if self.missing != "category" and original is not None and blank:
            raise DataError(
                f"special_uniques is not defined for an intruder who knows the original values where '{blank[0]}' is suppressed "
                f"and missing: {self.missing} takes a null for no value; use missing: category, or a limit on known_sets"
            )
        if self.missing == "wildcard" and len(keys) > _MOST_WILDCARD_KEYS:
            raise DataError(
                f"special_uniques takes at most {_MOST_WILDCARD_KEYS} keys with missing: wildcard, not {len(keys)}; "
                "use missing: category, or fewer keys"
            )
        return columns

    def _count(self, columns: list[Column], size: int) -> tuple[DistinctKeys, MinimalUniques]:
        distinct = list_distinct_keys(columns, size)
        return distinct, count_minimal_uniques(distinct, self.max_size, self.missing)

    def _weigh_sizes(self, keys: int) -> NDArray[np.float64]:
        """The score of a minimal sample unique of 1, 2, ... keys."""
        sizes = range(1, min(self.max_size, keys) + 1)
        return np.array([score_of_size(self.scores, keys, size, self.max_size) for size in sizes])

    def _count_uniques_and_pairs(self, columns: list[Column], size: int) -> tuple[int, int]:
        """Records that are alone on all keys, and records in classes of exactly two."""
        sizes = class_sizes(columns, size, wildcard=self.missing == "wildcard")
        return int((sizes == 1).sum()), int((sizes == 2).sum())


def _sum_scores(counts: MinimalUniques, weights: NDArray[np.float64]) -> float:
    return float(counts.by_record.sum(axis=1, dtype=np.int64) @ weights)


def _tabulate_attributes(columns: list[Column], counts: MinimalUniques, weights: NDArray[np.float64]) -> pl.DataFrame:
    """What each key contributes: the minimal sample uniques that contain it, their scores, and the share of all scores."""
    total = _sum_scores(counts, weights)
    by_key = np.array([by_value.sum(axis=1) for by_value in counts.by_value])
    contribution = by_key @ weights
    return pl.DataFrame(
        {
            "attribute": [column.name for column in columns],
            "minimal_uniques": by_key.sum(axis=1),
            "contribution": contribution,
            "share": contribution / total if total else np.zeros(len(columns)),
        }
    )
