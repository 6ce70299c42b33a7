"""Linkability: whether two parts of a person's values can be linked through the release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from discreet.engine.attacks.distances import compare_column
from discreet.engine.attacks.parameters import ControlledAttack, score_rates, spread_over_records
from discreet.engine.attacks.people import comparable_columns, gather_people
from discreet.engine.attacks.rates import Rates
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.linkability.links import blind_probability, link_probabilities


class Linkability(ControlledAttack):
    """The success of linking two files with different columns of the same people through the release, in excess of the control.

    The intruder has two files: the columns ``first`` of a person in one, the columns ``second`` in the other. Both are searched
    for in the release; they are linked where the same released record is among the ``neighbours`` nearest ones of both searches.
    Risk = (attack - control) / (1 - control), the control being the same attack on people who are not in the release; without
    such people it is the probability that two random draws of records meet.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 45, 55], "sick": ["a", "b", "c"]}, key=["age"], confidential=["sick"])
    >>> score = Linkability().measure(data, original=data)
    >>> score["attack"], round(score["blind"], 3)
    (1.0, 0.333)
    """

    name: ClassVar[str] = "linkability"
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "risk": "at most {percent} % of attempts to link two parts of a record succeed because of the release",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "linked": "probability that both parts of the record's person are linked through the release; empty if not attacked"
    }

    first: tuple[str, ...] = Field(default=(), description="columns of the first file; default: role key")
    second: tuple[str, ...] = Field(
        default=(), description="columns of the second file; default: the other columns, or half of the keys where there are none"
    )
    neighbours: Annotated[int, Field(ge=1, le=100)] = Field(
        default=1, description="nearest released records of each search; ties are drawn at random"
    )

    def examines(self, data: Microdata) -> list[str]:
        named = [*self.first, *self.second]
        return named or data.named(Role.KEY, Role.CONFIDENTIAL)

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        original = self.require_original(original)
        first, second = self._parts(data, original)
        people = gather_people(data, original, [*first, *second], self.name, self.attacks, self.control)
        first_columns, second_columns = (
            [compare_column(data, original, people.frame, name) for name in part] for part in (first, second)
        )
        links = link_probabilities(first_columns, second_columns, len(data), self.neighbours)
        attack, control = people.split(links)
        rates = Rates(attack, control, blind_probability(len(data), self.neighbours), self.confidence)
        note = f"linked {', '.join(first)} with {', '.join(second)}"
        return score_rates(self.name, rates, {"linked": spread_over_records(people, links, len(data))}, notes=(note,))

    def _parts(self, data: Microdata, original: Microdata) -> tuple[list[str], list[str]]:
        """The columns of the two files."""
        for name in (*self.first, *self.second):
            data.attribute(name)
            original.attribute(name)
        both = set(self.first) & set(self.second)
        if both:
            raise DataError(f"linkability: '{min(both)}' is in first and in second; a column belongs to one file")
        comparable = comparable_columns(data, original)
        keys = [name for name in original.named(Role.KEY) if name in comparable and name not in self.second]
        first = list(self.first) or keys
        second = list(self.second) or [name for name in comparable if name not in first]
        if not self.second and not second and not self.first:
            first, second = keys[: (len(keys) + 1) // 2], keys[(len(keys) + 1) // 2 :]
        if not first or not second:
            raise DataError("linkability needs two sets of columns that both tables have: give first and second")
        return first, second
