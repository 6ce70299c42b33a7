"""Several records a person: re-identification by share of a group, g-balance and h-affiliation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from discreet.engine.classes.groups import group_columns
from discreet.engine.encoding.columns import Column, encode
from discreet.engine.spark.gaps import WILDCARD
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.repeated_records.summary import (
    NO_CONFIDENTIAL,
    GroupStatistics,
    PersonStatistics,
    summarize,
    tabulate_attributes,
)

if TYPE_CHECKING:
    from discreet.engine.classes.persons import PersonCounts, Persons


class RepeatedRecords(RiskMeasure):
    """What an intruder finds where a person has several records.

    In a group of equal key values the person i with f_i records is found with probability f_i / sum f; the group's
    g-balance is g = 1 - sum (f_i / sum f)^2, equation (1), and its h-affiliation h = max_j s_j / n, equation (3), s_j being
    the persons of n who have the sensitive value j. Stronger intruders tell finer groups apart: ``knows: count`` groups by
    the key values and the person's number of records, ``knows: linked`` puts together only persons whose multisets of key
    values are the same.

    >>> from discreet.testing import table
    >>> data = table({"name": ["Bob", *["Charlie"] * 5], "age": ["36-49"] * 6}, person=["name"], key=["age"])
    >>> score = RepeatedRecords().measure(data)
    >>> score["k"], score["min_persons"], round(score["min_g"], 4), score["over_threshold"]
    (6, 2, 0.2778, 1)
    """

    name: ClassVar[str] = "repeated_records"
    citation: ClassVar[str] = (
        "Kartal, H. B. & Li, X.-B. (2016). Assessing and mitigating disclosure risk with multiple record linkage. "
        "Pre-ICIS SIGDSA/IFIP WG8.3 Symposium, paper 11."
    )
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.risks.repeated_records.spark:repeated_records", (WILDCARD,))
    better: ClassVar[Mapping[str, Direction]] = {
        "k": "high", "min_persons": "high", "min_g": "high", "mean_g": "high", "max_h": "low", "over_threshold": "low",
        "over_threshold_share": "low", "max_probability": "low", "mean_probability": "low",
    }  # fmt: skip
    worst: ClassVar[Mapping[str, float]] = {
        "k": 1.0, "min_persons": 1.0, "min_g": 0.0, "mean_g": 0.0, "max_h": 1.0, "over_threshold_share": 1.0,
        "max_probability": 1.0, "mean_probability": 1.0,
    }  # fmt: skip
    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"
    neutral: ClassVar[Collection[str]] = ("persons", "groups")
    meaning: ClassVar[Mapping[str, str]] = {
        "k": "records in the smallest group of equal keys, as k-anonymity counts",
        "min_persons": "persons in the smallest group (distinct K)",
        "min_g": "least g-balance of a group, 0 to 1",
        "mean_g": "mean g-balance over records",
        "max_h": "largest h-affiliation of a group and confidential attribute, 0 to 1",
        "persons": "persons in the table",
        "over_threshold": "persons found with a probability above the threshold",
        "over_threshold_share": "their share of all persons",
        "max_probability": "largest probability of a person",
        "mean_probability": "mean over persons of their largest probability",
        "groups": "groups that the intruder tells apart",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "probability": "probability that the record is re-identified: its person's share of the group",
        "persons": "persons in the record's group",
        "g": "g-balance of the group, 0 to 1",
        "h": "largest h-affiliation of the group, 0 to 1",
    }

    threshold: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.5, description="a person found with a probability greater than this is counted"
    )
    knows: Literal["nothing", "count", "linked"] = Field(
        default="nothing",
        description="beyond the key values: nothing, the number of the person's records, or which records are one person's",
    )
    keys: tuple[str, ...] = Field(default=(), description="attributes to group by; those with the role key where empty")
    confidential: tuple[str, ...] = Field(
        default=(), description="attributes whose h is taken; those with the role confidential where empty"
    )
    missing: Literal["category", "wildcard"] = Field(
        default="category", description="a null is one more value, or agrees with anything on either side"
    )

    @model_validator(mode="after")
    def _a_composite_key_has_no_wildcards(self) -> RepeatedRecords:
        if self.knows == "linked" and self.missing == "wildcard":
            raise ValueError("knows: linked compares whole sets of records and needs missing: category")
        return self

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        persons, sensitive, found, k = self._count(data, original)
        balance, most = found.balance, _most(found.affiliation)
        probability = found.probability
        largest = _largest(persons.codes, persons.number, probability)
        by_record = balance[found.group]
        groups = GroupStatistics(
            k=k,
            groups=len(balance),
            records=len(data),
            fewest_persons=int(found.persons.min(initial=len(data))),
            balance_least=float(balance.min()) if len(balance) else 0.0,
            balance_total=float(by_record.sum()),
            confidential=[column.name for column in sensitive],
            affiliation_largest=found.affiliation.max(axis=1, initial=0.0).tolist(),
            affiliation_total=[float(by_group[found.group].sum()) for by_group in found.affiliation],
        )
        over = int((largest > self.threshold).sum())
        people = PersonStatistics(persons.number, over, float(largest.max(initial=0.0)), float(largest.sum()))
        per_record = pl.DataFrame(
            {
                "probability": probability,
                "persons": found.persons[found.group],
                "g": by_record,
                "h": pl.Series(most[found.group] if sensitive else [None] * len(data), dtype=pl.Float64),
            }
        )
        notes = () if sensitive else (NO_CONFIDENTIAL,)
        return Score(self.name, summarize(groups, people), per_record, tabulate_attributes(groups), notes=notes)

    def persons(self, data: Microdata, *, original: Microdata | None = None) -> pl.DataFrame:
        """A row a person: its records and groups, its largest probability, and the least persons and largest h it meets."""
        persons, sensitive, found, _ = self._count(data, original)
        most = _most(found.affiliation)
        by_record = pl.DataFrame(
            {
                "code": persons.codes.astype(np.int64),
                "group": found.group,
                "probability": found.probability,
                "persons": found.persons[found.group],
                "h": pl.Series(most[found.group] if sensitive else [None] * len(data), dtype=pl.Float64),
            }
        )
        made = by_record.group_by("code").agg(
            pl.len().cast(pl.Int64).alias("records"),
            pl.col("group").n_unique().cast(pl.Int64).alias("groups"),
            pl.col("probability").max(),
            pl.col("persons").min().alias("min_persons"),
            pl.col("h").max().alias("max_h"),
        )
        made = made.sort("code")
        return made.select(
            persons.names[made["code"].to_numpy()].alias("person"), "records", "groups", "probability",
            (pl.col("probability") > self.threshold).alias("over_threshold"), "min_persons", "max_h",
        )  # fmt: skip

    def groups(self, data: Microdata, *, original: Microdata | None = None) -> pl.DataFrame:
        """A row a group, the first record's first: its key values, records, persons, g, largest probability, and h by attribute.

        Key values are those of the group's first record (under ``knows: linked`` persons share several, and none are told).
        """
        _, sensitive, found, _ = self._count(data, original)
        first = np.full(len(found.records), len(data), dtype=np.int64)
        np.minimum.at(first, found.group, np.arange(len(data)))
        order = np.argsort(first, kind="stable")
        keys = [] if self.knows == "linked" else list(self.keys) or data.named(Role.KEY)
        numbers = pl.DataFrame(
            {
                "records": found.records[order],
                "persons": found.persons[order],
                "g": found.balance[order],
                "probability": _largest(found.group, len(order), found.probability)[order],
                **{f"h.{column.name}": one[order] for column, one in zip(sensitive, found.affiliation, strict=True)},
            }
        )
        return pl.concat([data.frame.select(keys)[first[order]], numbers], how="horizontal") if keys else numbers

    def needs_original(self, data: Microdata) -> bool:
        """A release without the person attribute is counted by the persons of its original."""
        return not any(name in data.columns for name in data.policy.named(Role.PERSON))

    def explain(self, data: Microdata, record: int, *, original: Microdata | None = None) -> list[str]:
        _, sensitive, found, _ = self._count(data, original)
        group = found.group[record]
        own, records, number = int(found.own[record]), int(found.records[group]), int(found.persons[group])
        told = [
            f"its person has {own} of the {records} records that look alike to this intruder: {own / records:.1%}",
            f"the {records} records belong to {number} persons, g-balance {found.balance[group]:.4g}",
        ]
        for column, by_group in zip(sensitive, found.affiliation, strict=True):
            told.append(f"one value of '{column.name}' is that of {by_group[group]:.1%} of these persons")
        return told

    def _count(self, data: Microdata, original: Microdata | None) -> tuple[Persons, list[Column], PersonCounts, int]:
        """The persons, the sensitive columns, the counts in the intruder's groups, and the plain k of the keys."""
        from discreet.engine.classes.persons import PersonCounts, count_persons, persons_of
        from discreet.risks.repeated_records.intruders import agreeing_entries, by_all_records, by_count, count_column

        keys = list(self.keys) or data.named(Role.KEY)
        if not keys:
            raise DataError(f"repeated_records needs at least one attribute with the role key in {data.source}")
        confidential = list(self.confidential) or data.named(Role.CONFIDENTIAL)
        encode(data, [*keys, *confidential, *data.named(Role.PERSON)])  # all at once, so that threads share the work
        persons, columns, sensitive = persons_of(data, original), encode(data, keys), encode(data, confidential)
        group, groups = group_columns(columns, len(data))
        if self.missing == "category" or not any(column.has_null for column in [*columns, *sensitive]):
            k = int(np.bincount(group, minlength=groups).min(initial=len(data)))
            if self.knows == "count":
                group, groups = by_count(group, groups, persons)
            elif self.knows == "linked":
                group, groups = by_all_records(group, persons)
            return persons, sensitive, count_persons(group, groups, persons, sensitive), k
        where, rows = agreeing_entries(columns, group)
        k = int(np.bincount(where, minlength=groups).min(initial=len(data)))
        if self.knows == "count":
            columns = [*columns, count_column(persons)]
            group, groups = group_columns(columns, len(data))
            where, rows = agreeing_entries(columns, group)
        found = count_persons(where, groups, persons, sensitive, rows=rows, wildcard=True)
        own = np.empty(len(data), dtype=np.int64)
        mine = group[rows] == where
        own[rows[mine]] = found.own[mine]
        return persons, sensitive, PersonCounts(group, own, found.records, found.persons, found.squares, found.affiliation), k


def _most(affiliation: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """For each group the largest h over the sensitive attributes."""
    return np.asarray(affiliation.max(axis=0, initial=0.0))


def _largest(
    codes: np.ndarray[tuple[int], np.dtype[np.int64]], number: int, probability: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """For each person the largest probability over all its records, so over all its groups."""
    found = np.zeros(number)
    np.maximum.at(found, codes, probability)
    return found
