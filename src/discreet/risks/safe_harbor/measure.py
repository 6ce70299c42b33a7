"""HIPAA Safe Harbor as a checklist: which released columns hold one of the 18 identifiers."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping
from typing import Annotated, ClassVar

import polars as pl
from pydantic import Field

from discreet.engine.encoding.policy_tables import load_table
from discreet.engine.recognition.value_facts import Facts, facts_of
from discreet.errors import DataError, nearest
from discreet.model.attribute import Role
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.safe_harbor.coarse_enough import finer_than_year, small_place, too_old
from discreet.risks.safe_harbor.identifiers import IDENTIFIERS, identify

_NOT_CHECKED = (
    "the checklist recognises columns by their names and values: it does not find what neither shows, and whether somebody knows "
    "that the release could identify a person (45 CFR 164.514(b)(2)(ii)) is for its owner to say"
)


class SafeHarbor(RiskMeasure):
    """The 18 identifiers of HIPAA's Safe Harbor, 45 CFR 164.514(b)(2)(i), looked for in every column of a table.

    A column fails where its name or values show one of the identifiers: names, contacts, numbers of persons and free text; places
    smaller than a state, apart from three-digit ZIP codes of areas with over 20,000 people; dates finer than a year; ages over
    89 other than as one category, and years of birth that imply them.

    >>> from discreet.testing import table
    >>> score = SafeHarbor().measure(table({"age": [44, 93, 55], "sex": ["f", "f", "m"]}, key=["age", "sex"]))
    >>> score["failing"], score.per_attribute["identifier"].to_list()
    (1, ['C', None])
    """

    name: ClassVar[str] = "safe_harbor"
    citation: ClassVar[str] = (
        "45 CFR 164.514(b)(2); US Department of Health and Human Services (2012). Guidance regarding methods for "
        "de-identification of protected health information in accordance with the HIPAA Privacy Rule."
    )
    better: ClassVar[Mapping[str, Direction]] = {"failing": "low"}
    neutral: ClassVar[Collection[str]] = ("columns",)
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "failing": "there are at most {number} columns with one of the 18 identifiers of HIPAA",
    }
    meaning: ClassVar[Mapping[str, str]] = {
        "failing": "columns that hold one of the 18 identifiers, as far as their names and values show it",
        "columns": "columns checked",
        "by_identifier": "failing columns by the letter of the identifier in 45 CFR 164.514(b)(2)(i)",
    }
    judges_written: ClassVar[bool] = True

    zip_population: str | None = Field(
        default=None,
        description="file or table with the population of three-digit ZIP areas: columns zip3, population; default: none passes",
    )
    passed: tuple[str, ...] = Field(
        default=(), description="columns that the owner examined and found to be none of the identifiers; they are not checked"
    )
    year: Annotated[int, Field(ge=1900, le=2200)] | None = Field(
        default=None, description="year in which a year of birth must not imply an age over 89; default: the current year"
    )

    def examines(self, data: Microdata) -> list[str]:
        """No column: a checklist is no intruder model, so coverage does not take its columns as examined."""
        return []

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        for name in self.passed:
            if name not in data.columns and name not in data.policy.attributes:
                raise DataError(f"safe_harbor: there is no column '{name}' to pass; {nearest(name, data.columns)}")
        populations = self._populations(data)
        checked = [facts for facts in facts_of(data) if facts.name not in self.passed]
        findings = {facts.name: self._check(facts, data, populations) for facts in checked}
        rows = [
            {
                "attribute": name,
                "identifier": finding[0] if finding else None,
                "named": IDENTIFIERS[finding[0]] if finding else None,
                "reason": finding[1] if finding else "no identifier recognised",
            }
            for name, finding in findings.items()
        ]
        letters = [finding[0] for finding in findings.values() if finding]
        summary: dict[str, int | Mapping[str, int]] = {
            "failing": len(letters),
            "columns": len(checked),
            "by_identifier": {letter: letters.count(letter) for letter in sorted(set(letters))},
        }
        schema = dict.fromkeys(("attribute", "identifier", "named", "reason"), pl.String)
        notes = [
            f"'{row['attribute']}' fails ({row['identifier']}, {row['named']}): {row['reason']}" for row in rows if row["named"]
        ]
        present = [name for name in self.passed if name in data.columns]
        notes += [f"not checked, because the owner passed them: {', '.join(present)}"] if present else []
        return Score(
            self.name, summary, per_attribute=pl.DataFrame(rows, schema=schema), notes=(*notes, _NOT_CHECKED)
        )  # fmt: skip

    def _check(self, facts: Facts, data: Microdata, populations: Mapping[str, float] | None) -> tuple[str, str] | None:
        """The identifier that a column holds, as its letter, and why; None where none was recognised."""
        if not facts.distinct:
            return None
        cells, year = data.cells.get(facts.name), self.year or datetime.datetime.now(tz=datetime.UTC).year
        role = data.attribute(facts.name).role
        if (reason := finer_than_year(facts, cells) or too_old(facts, cells, year)) is not None:
            return "C", reason
        if (reason := small_place(facts, cells, populations)) is not None:
            return "B", reason
        is_place_or_age = facts.naming.kind is not None and facts.naming.kind.name in ("postal code", "age", "region")
        if role is not Role.WEIGHT and not is_place_or_age and (recognised := identify(facts)) is not None:
            return recognised
        if role in (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD):
            return "R", f"the policy says that it is the {role.value} of a record"
        return None

    def _populations(self, data: Microdata) -> dict[str, float] | None:
        """The population of each three-digit ZIP area; a longer code counts for the area of its first three digits."""
        if self.zip_population is None:
            return None
        table = load_table(self.zip_population, data.policy)
        columns = {name.lower(): name for name in table.columns}
        area = next((columns[name] for name in ("zip3", "zip", "zcta", "zcta3", "zip_code") if name in columns), None)
        if area is None or "population" not in columns:
            raise DataError(
                f"safe_harbor: {self.zip_population} needs the columns zip3 and population; it has {', '.join(columns)}"
            )
        codes = table[area].cast(pl.String).str.strip_chars().str.replace(r"\.0$", "")
        longest = int(codes.str.len_chars().max() or 3)  # type: ignore[arg-type]
        prefixes = codes.str.zfill(5 if longest > 3 else 3).str.slice(0, 3)
        persons = table[columns["population"]].cast(pl.Float64, strict=False)
        sums = pl.DataFrame({"area": prefixes, "persons": persons}).drop_nulls().group_by("area").agg(pl.col("persons").sum())
        return dict(sums.rows())
