"""Singling out: whether statements made from released records hold for exactly one person."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from discreet.engine.attacks.distances import ComparedColumn, compare_column
from discreet.engine.attacks.parameters import ControlledAttack, score_rates
from discreet.engine.attacks.people import People, comparable_columns, gather_people
from discreet.engine.attacks.rates import BETTER, MEANING, NEUTRAL, WORST, Rates
from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.contracts import Direction
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.singling_out.predicates import ComparedPeople, Matches, count_statements, draw_column_sets

if TYPE_CHECKING:
    from numpy.typing import NDArray


class SinglingOut(ControlledAttack):
    """The success of statements that hold for exactly one person, in excess of the control.

    From a released record the intruder makes a statement on ``size`` random columns: 'age is 40..50 and city is Bonn'. It singles
    out a person where it holds for exactly one of the people in the release. The control counts the same statements among the
    same people without the statement's own person: by chance it holds for exactly one of the others. Statements of simulated
    records, which are nobody's, are counted among as many people who are not in the release; without such people the control
    are statements of cells that are drawn independently.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 44, 55], "sex": ["f", "m", "m"]}, key=["age", "sex"])
    >>> SinglingOut(size=2).measure(data, original=data)["singled_out"]
    1.0
    """

    name: ClassVar[str] = "singling_out"
    better: ClassVar[Mapping[str, Direction]] = {**BETTER, "singled_out": "low"}
    neutral: ClassVar[Collection[str]] = (*NEUTRAL, "people")
    worst: ClassVar[Mapping[str, float]] = {**WORST, "singled_out": 1.0}
    meaning: ClassVar[Mapping[str, str]] = {
        **MEANING,
        "control": "share of the same statements that hold for exactly one person without their own; empty where unknown",
        "controls": "statements that were counted for the control",
        "attacks": "statements that were made from released records",
        "singled_out": "share of statements that hold for exactly one of all people in the release",
        "people": "people among whom attack and control are counted",
    }
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "risk": "at most {percent} % of attempts to single somebody out succeed because of the release",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "matches": "people in the release for whom the statement made from this record holds; empty if none was made"
    }

    columns: tuple[str, ...] = Field(
        default=(), description="columns that statements are about; default: all but identifiers, persons and weights"
    )
    size: Annotated[int, Field(ge=1)] = Field(default=3, description="number of columns of a statement")

    def examines(self, data: Microdata) -> list[str]:
        """Columns that nobody decided on stay a matter of coverage, although statements may be about them."""
        return list(self.columns) or data.named(Role.KEY, Role.CONFIDENTIAL)

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        original = self.require_original(original)
        for name in self.columns:
            data.attribute(name)
            original.attribute(name)
        names = list(self.columns) or comparable_columns(data, original)
        if not names:
            raise DataError(f"singling_out: {data.source} and {original.source} share no column to make statements about")
        people = gather_people(data, original, names, self.name, "all", self.control)
        compared = [compare_column(data, original, people.frame, name) for name in names]
        statements = _choose_rows(data, people, self.attacks if self.attacks != "all" else len(data))
        sets = draw_column_sets(data.records[statements], len(names), self.size)
        own = np.zeros(sets.shape, dtype=np.int64)
        for place, column in enumerate(compared):
            own[sets == place] = np.broadcast_to(column.released.codes[statements][:, None], sets.shape)[sets == place]
        groups, matches = ComparedPeople(people.members, people.frame.height), Matches(compared)
        persons = _persons_of(people, statements)
        counted = count_statements(matches, groups, persons, sets, own)
        mixed = self._mixed_cells(data, compared, statements, sets)
        blind = count_statements(matches, groups, np.full(len(statements), -1), sets, mixed)
        if (persons >= 0).any():  # then every statement is made from the record of a member
            attack, control, number = counted.members, counted.others, people.members
        else:
            attack, control, number = counted.chosen, counted.strangers, groups.size
            control = control if people.frame.height > people.members else control[:0]
        blind_rate = float((blind.members == 1).mean()) if len(statements) else 0.0
        alone, alone_control = ((count == 1).astype(np.float64) for count in (attack, control))
        rates = Rates(alone, alone_control, blind_rate, self.confidence, len(statements))
        by_record = np.full(len(data), np.nan)
        by_record[statements] = counted.members
        more = {"singled_out": float((counted.members == 1).mean()) if len(statements) else 0.0, "people": number}
        return score_rates(self.name, rates, {"matches": by_record}, more=more)

    def _mixed_cells(
        self, data: Microdata, compared: list[ComparedColumn], statements: NDArray[np.int64], sets: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """For each statement cells of other records, drawn independently column by column."""
        mixed = np.zeros(sets.shape, dtype=np.int64)
        order = np.argsort(data.records, kind="stable")
        for place in range(sets.shape[1]):
            draws = KeyedDraw(0).uniform(data.records[statements], f"mixed {place}")
            rows = order[(draws * len(data)).astype(np.int64)] if len(data) else statements
            for column, codes in enumerate(column.released.codes for column in compared):
                used = sets[:, place] == column
                mixed[used, place] = codes[rows[used]]
        return mixed


def _choose_rows(data: Microdata, people: People, attacks: int) -> NDArray[np.int64]:
    """The released rows that statements are made from: those of members, else any."""
    rows = people.rows[people.rows >= 0] if (people.rows >= 0).any() else np.arange(len(data))
    if len(rows) <= attacks:
        return np.sort(rows)
    return np.sort(rows[KeyedDraw(0).order(data.records[rows], "statements")[:attacks]])


def _persons_of(people: People, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The person behind each of these released rows, -1 where it is not known."""
    person_of = np.full(int(max(people.rows.max(initial=-1), rows.max(initial=-1))) + 1, -1, dtype=np.int64)
    person_of[people.rows[people.rows >= 0]] = np.flatnonzero(people.rows >= 0)
    return person_of[rows]
