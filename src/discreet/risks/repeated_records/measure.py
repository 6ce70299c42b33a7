"""Several records per person: re-identification by share of a group, g-balance and h-affiliation (Kartal & Li 2016)."""

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
    """Re-identification risk where a person has several records.

    In a group of equal key values, person i with f_i records is re-identified with probability f_i / sum f; the group's g-balance
    is g = 1 - sum (f_i / sum f)^2 (Kartal & Li 2016, eq. 1), and its h-affiliation h = max_j s_j / n (eq. 3), where s_j of its n
    persons have the sensitive value j. Stronger intruders distinguish finer groups: ``knows: count`` groups by the key values and
    the person's number of records, ``knows: linked`` by the multiset of the key values of all records of the person.

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
    at_risk: ClassVar[tuple[str, str] | None] = (
        "over_threshold",
        "{number} of the persons with a re-identification probability above its threshold",
    )
    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"
    neutral: ClassVar[Collection[str]] = ("persons", "groups")
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "min_persons": "every group of records alike has at least {number} persons",
        "over_threshold_share": "at most {percent} % of the people are found with a probability above the threshold",
    }
    meaning: ClassVar[Mapping[str, str]] = {
        "k": "records in the smallest equivalence class (k-anonymity)",
        "min_persons": "persons in the smallest group (distinct k)",
        "min_g": "least g-balance of a group, 0 to 1",
        "mean_g": "mean g-balance over records",
        "max_h": "largest h-affiliation of a group and confidential attribute, 0 to 1",
        "persons": "persons in the table",
        "over_threshold": "persons with a re-identification probability above the threshold",
        "over_threshold_share": "their share of all persons",
        "max_probability": "largest re-identification probability of a person",
        "mean_probability": "mean over persons of their largest re-identification probability",
        "groups": "groups that the intruder can distinguish",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "probability": "probability that the record is re-identified: its person's share of the group",
        "persons": "persons in the record's group",
        "g": "g-balance of the group, 0 to 1",
        "h": "largest h-affiliation of the group, 0 to 1",
    }

    threshold: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.5, description="re-identification probability above which a person is counted"
    )
    knows: Literal["nothing", "count", "linked"] = Field(
        default="nothing",
        description="what the intruder knows beyond the key values: nothing, the person's number of records, or all of them",
    )
    keys: tuple[str, ...] = Field(
        default=(), description="quasi-identifiers that form the equivalence classes; default: role key"
    )
    confidential: tuple[str, ...] = Field(default=(), description="attributes for h-affiliation; default: role confidential")
    missing: Literal["category", "wildcard"] = Field(
        default="category", description="a null is one more value, or agrees with anything on either side"
    )

    @model_validator(mode="after")
    def _a_composite_key_has_no_wildcards(self) -> RepeatedRecords:
        if self.knows == "linked" and self.missing == "wildcard":
            raise ValueError("knows: linked compares whole sets of records and needs missing: category")
        return self

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        persons, sensitive, counts, k = self._count(data, original)
        balance, affiliation = counts.balance, _largest_affiliation(counts.affiliation)
        probability = counts.probability
        largest = _largest_probability(persons.codes, persons.number, probability)
        by_record = balance[counts.group]
        group_statistics = GroupStatistics(
            k=k,
            groups=len(balance),
            records=len(data),
            fewest_persons=int(counts.persons.min(initial=len(data))),
            balance_least=float(balance.min()) if len(balance) else 0.0,
            balance_total=float(by_record.sum()),
            confidential=[column.name for column in sensitive],
            affiliation_largest=counts.affiliation.max(axis=1, initial=0.0).tolist(),
            affiliation_total=[float(by_group[counts.group].sum()) for by_group in counts.affiliation],
        )
        over = int((largest > self.threshold).sum())
        person_statistics = PersonStatistics(persons.number, over, float(largest.max(initial=0.0)), float(largest.sum()))
        per_record = pl.DataFrame(
            {
                "probability": probability,
                "persons": counts.persons[counts.group],
                "g": by_record,
                "h": pl.Series(affiliation[counts.group] if sensitive else [None] * len(data), dtype=pl.Float64),
            }
        )
        notes = () if sensitive else (NO_CONFIDENTIAL,)
        return Score(
            self.name,
            summarize(group_statistics, person_statistics),
            per_record,
            tabulate_attributes(group_statistics),
            notes=notes,
        )

    def persons(self, data: Microdata, *, original: Microdata | None = None) -> pl.DataFrame:
        """One row per person: records, groups, largest probability, and the fewest persons and the largest h over its groups."""
        persons, sensitive, counts, _ = self._count(data, original)
        affiliation = _largest_affiliation(counts.affiliation)
        by_record = pl.DataFrame(
            {
                "code": persons.codes.astype(np.int64),
                "group": counts.group,
                "probability": counts.probability,
                "persons": counts.persons[counts.group],
                "h": pl.Series(affiliation[counts.group] if sensitive else [None] * len(data), dtype=pl.Float64),
            }
        )
        by_person = by_record.group_by("code").agg(
            pl.len().cast(pl.Int64).alias("records"),
            pl.col("group").n_unique().cast(pl.Int64).alias("groups"),
            pl.col("probability").max(),
            pl.col("persons").min().alias("min_persons"),
            pl.col("h").max().alias("max_h"),
        )
        by_person = by_person.sort("code")
        return by_person.select(
            persons.names[by_person["code"].to_numpy()].alias("person"), "records", "groups", "probability",
            (pl.col("probability") > self.threshold).alias("over_threshold"), "min_persons", "max_h",
        )  # fmt: skip

    def groups(self, data: Microdata, *, original: Microdata | None = None) -> pl.DataFrame:
        """One row per group, in order of first records: key values, records, persons, g, largest probability, and h by attribute.

        Key values are those of the group's first record; there are none under ``knows: linked``, where persons share several.
        """
        _, sensitive, counts, _ = self._count(data, original)
        first = np.full(len(counts.records), len(data), dtype=np.int64)
        np.minimum.at(first, counts.group, np.arange(len(data)))
        order = np.argsort(first, kind="stable")
        keys = [] if self.knows == "linked" else list(self.keys) or data.named(Role.KEY)
        numbers = pl.DataFrame(
            {
                "records": counts.records[order],
                "persons": counts.persons[order],
                "g": counts.balance[order],
                "probability": _largest_probability(counts.group, len(order), counts.probability)[order],
                **{f"h.{column.name}": by_group[order] for column, by_group in zip(sensitive, counts.affiliation, strict=True)},
            }
        )
        return pl.concat([data.frame.select(keys)[first[order]], numbers], how="horizontal") if keys else numbers

    def needs_original(self, data: Microdata) -> bool:
        """A release without the person attribute can be counted only with the persons of its original."""
        return not any(name in data.columns for name in data.policy.named(Role.PERSON))

    def explain(self, data: Microdata, record: int, *, original: Microdata | None = None) -> list[str]:
        _, sensitive, counts, _ = self._count(data, original)
        group = counts.group[record]
        own, records, number = int(counts.own[record]), int(counts.records[group]), int(counts.persons[group])
        sentences = [
            f"its person has {own} of the {records} records that this intruder cannot distinguish: {own / records:.1%}",
            f"the {records} records belong to {number} persons, g-balance {counts.balance[group]:.4g}",
        ]
        for column, by_group in zip(sensitive, counts.affiliation, strict=True):
            sentences.append(f"one value of '{column.name}' is shared by {by_group[group]:.1%} of these persons")
        return sentences

    def _count(self, data: Microdata, original: Microdata | None) -> tuple[Persons, list[Column], PersonCounts, int]:
        """The persons, the sensitive columns, the counts in the intruder's groups, and the k of k-anonymity."""
        from discreet.engine.classes.persons import PersonCounts, count_persons, persons_of
        from discreet.risks.repeated_records.attacker_groups import (
            agreeing_entries,
            group_by_all_records,
            record_count_column,
            split_by_record_count,
        )

        keys = list(self.keys) or data.named(Role.KEY)
        if not keys:
            raise DataError(f"repeated_records needs at least one attribute with the role key in {data.source}")
        confidential = list(self.confidential) or data.named(Role.CONFIDENTIAL)
        encode(data, [*keys, *confidential, *data.named(Role.PERSON)])  # all at once, so that they are encoded in parallel
        persons, columns, sensitive = persons_of(data, original), encode(data, keys), encode(data, confidential)
        group, groups = group_columns(columns, len(data))
        if self.missing == "category" or not any(column.has_null for column in [*columns, *sensitive]):
            k = int(np.bincount(group, minlength=groups).min(initial=len(data)))
            if self.knows == "count":
                group, groups = split_by_record_count(group, groups, persons)
            elif self.knows == "linked":
                group, groups = group_by_all_records(group, persons)
            return persons, sensitive, count_persons(group, groups, persons, sensitive), k
        group_of_entry, rows = agreeing_entries(columns, group)
        k = int(np.bincount(group_of_entry, minlength=groups).min(initial=len(data)))
        if self.knows == "count":
            columns = [*columns, record_count_column(persons)]
            group, groups = group_columns(columns, len(data))
            group_of_entry, rows = agreeing_entries(columns, group)
        counts = count_persons(group_of_entry, groups, persons, sensitive, rows=rows, wildcard=True)
        own = np.empty(len(data), dtype=np.int64)
        in_own_group = group[rows] == group_of_entry
        own[rows[in_own_group]] = counts.own[in_own_group]
        return persons, sensitive, PersonCounts(group, own, counts.records, counts.persons, counts.squares, counts.affiliation), k


def _largest_affiliation(
    affiliation: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """For each group the largest h over the sensitive attributes."""
    return np.asarray(affiliation.max(axis=0, initial=0.0))


def _largest_probability(
    codes: np.ndarray[tuple[int], np.dtype[np.int64]], number: int, probability: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The largest probability of each person (or group) over all its records."""
    largest = np.zeros(number)
    np.maximum.at(largest, codes, probability)
    return largest
