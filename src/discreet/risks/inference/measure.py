"""Inference: how well an intruder who knows some values of a person guesses another one with the release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.attacks.distances import compare_column
from discreet.engine.attacks.parameters import ControlledAttack, score_rates, spread_over_records
from discreet.engine.attacks.people import People, gather_people, known_columns
from discreet.engine.attacks.rates import Rates
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.inference.attack import attack_secret

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COLUMNS = ("risk", "lower", "upper", "attack", "control", "blind")


class Inference(ControlledAttack):
    """The success of guessing a secret of a person from the nearest released records, in excess of the control.

    The intruder knows the columns ``known`` of a person, looks for the nearest released records and names the value of the secret
    that most of them have. Risk = (attack - control) / (1 - control), the control being the same attack on people who are not in
    the release; without such people it is the best blind guess. Of several secrets the one at the largest risk counts.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 44, 55, 66], "sick": ["a", "a", "b", "c"]}, key=["age"], confidential=["sick"])
    >>> score = Inference().measure(data, original=data)
    >>> score["attack"], score["blind"], score["risk"]
    (1.0, 0.5, 1.0)
    """

    name: ClassVar[str] = "inference"
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "risk": "at most {percent} % of guesses of a confidential value succeed because of the release",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "success": "largest probability over the secrets that the secret of the record's person is guessed; empty if not attacked"
    }

    known: tuple[str, ...] = Field(default=(), description="columns that the intruder knows; default: role key")
    secret: tuple[str, ...] = Field(default=(), description="columns that the intruder guesses; default: role confidential")
    neighbours: Annotated[int, Field(ge=1)] = Field(
        default=1, description="nearest released records that vote for a guess; all that are as near as the last one vote too"
    )
    tolerance: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.05, description="a guessed number is right where it differs by at most this share of the truth; dates are exact"
    )

    def examines(self, data: Microdata) -> list[str]:
        return [*(self.known or data.named(Role.KEY)), *(self.secret or data.named(Role.CONFIDENTIAL))]

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        original = self.require_original(original)
        known = known_columns(self.known, data, original, self.name)
        secrets = [name for name in self._secrets(data, original) if name not in known]
        if not secrets:
            raise DataError(
                "inference needs a secret besides the known columns: give secret, or an attribute the role confidential"
            )
        people = gather_people(data, original, [*known, *secrets], self.name, self.attacks, self.control)
        compared = [compare_column(data, original, people.frame, name) for name in known]
        rates: dict[str, Rates] = {}
        successes = np.full((len(secrets), len(people.frame)), np.nan)
        for index, name in enumerate(secrets):
            exact = not original.schema[name].is_numeric()
            secret = compare_column(data, original, people.frame, name)
            success, blind = attack_secret(compared, secret, len(data), self.neighbours, 0.0 if exact else self.tolerance)
            successes[index] = success
            rates[name] = _rates(people, success, blind, self.confidence)
        return self._score(data, people, rates, successes)

    def _secrets(self, data: Microdata, original: Microdata) -> list[str]:
        for name in self.secret:
            data.attribute(name)
            original.attribute(name)
        return list(self.secret) or [name for name in original.named(Role.CONFIDENTIAL) if name in data.columns]

    def _score(self, data: Microdata, people: People, rates: Mapping[str, Rates], successes: NDArray[np.float64]) -> Score:
        summaries = {name: rate.summary() for name, rate in rates.items()}
        worst = max(summaries, key=lambda name: (summaries[name]["risk"] or 0.0, summaries[name]["upper"] or 0.0))
        table = pl.DataFrame(
            [{"attribute": name} | {field: summary[field] for field in _COLUMNS} for name, summary in summaries.items()],
            schema={"attribute": pl.String, **dict.fromkeys(_COLUMNS, pl.Float64)},
        )
        largest = np.fmax.reduce(successes, axis=0)
        by_record = {"success": spread_over_records(people, largest, len(data))}
        notes = (f"the secret at the largest risk is '{worst}'",) if len(rates) > 1 else ()
        return score_rates(self.name, rates[worst], by_record, per_attribute=table, notes=notes)


def _rates(people: People, success: NDArray[np.float64], blind: NDArray[np.float64], confidence: float) -> Rates:
    """The rates over the people whose secret is known."""
    (members, strangers), (blind_members, _) = people.split(success), people.split(blind)
    guessed = blind_members[~np.isnan(blind_members)]
    return Rates(
        members[~np.isnan(members)], strangers[~np.isnan(strangers)], float(guessed.mean()) if len(guessed) else 0.0, confidence
    )
