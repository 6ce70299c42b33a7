"""Membership: whether an intruder can tell that a person is in the data behind a release."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from discreet.engine.attacks.distances import compare_column
from discreet.engine.attacks.parameters import ControlledAttack, score_rates, spread_over_records
from discreet.engine.attacks.people import comparable_columns, gather_people
from discreet.engine.attacks.rates import BETTER, MEANING, NEUTRAL, WORST, Rates
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.contracts import Direction
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.membership.ratio import area_under_curve, likelihood_ratios, nearest_records, true_positive_rate

_RATES = {"tpr_0_1": 0.001, "tpr_1": 0.01, "tpr_10": 0.1}
_NOBODY = (
    "membership was not measured: nobody is known to be outside the data; set holdout in the plan, or give a control table with "
    "the parameter control"
)


class Membership(ControlledAttack):
    """The success of telling people in the data from people who are not, by a likelihood-ratio attack.

    The intruder knows the columns ``known`` of a person, looks for the nearest released records, and says 'member' where their
    distance and number are likelier of a member than of somebody else. The attack is the share of members called so, the control
    that of other people. The ratios are estimated from half of the people and used on the other half.

    >>> from discreet.testing import table
    >>> data = table({"age": [20, 30, 40, 50], "sex": ["f", "m", "f", "m"]}, key=["age", "sex"])
    >>> Membership().measure(data, original=data)["risk"] is None  # nobody is outside the data
    True
    """

    name: ClassVar[str] = "membership"
    citation: ClassVar[str] = (
        "Shokri, R., Stronati, M., Song, C. & Shmatikov, V. (2017). Membership inference attacks against machine learning "
        "models. IEEE S&P; Carlini, N. et al. (2022). Membership inference attacks from first principles. IEEE S&P "
        "(true-positive rates at low false-positive rates)."
    )
    better: ClassVar[Mapping[str, Direction]] = {**BETTER, **dict.fromkeys((*_RATES, "auc"), "low")}
    neutral: ClassVar[Collection[str]] = (*NEUTRAL, "distance_members", "distance_others")
    worst: ClassVar[Mapping[str, float]] = {**WORST, **dict.fromkeys((*_RATES, "auc"), 1.0)}
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "risk": "at most {percent} % of the people in the release are recognised as being in it because of the release",
    }
    meaning: ClassVar[Mapping[str, str]] = {
        **MEANING,
        "attack": "share of people in the release who are called members",
        "control": "share of people outside the release who are called members",
        "blind": "share of members called so by a coin",
        "tpr_0_1": "share of members recognised where 0.1 % of the others are taken for members",
        "tpr_1": "share of members recognised where 1 % of the others are taken for members",
        "tpr_10": "share of members recognised where 10 % of the others are taken for members",
        "auc": "probability that a member scores higher than somebody else; 0.5 is chance",
        "distance_members": "mean distance of members to the closest released record; describes, and protects nobody",
        "distance_others": "mean distance of other people to the closest released record",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "ratio": "how much likelier the nearest records are of a member than of somebody else; empty if not attacked"
    }

    known: tuple[str, ...] = Field(
        default=(), description="columns that the intruder knows; default: all but identifiers, persons and weights"
    )

    def examines(self, data: Microdata) -> list[str]:
        """Columns that nobody decided on stay a matter of coverage, although distances may be about them."""
        return list(self.known) or data.named(Role.KEY, Role.CONFIDENTIAL)

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        original = self.require_original(original)
        for name in self.known:
            data.attribute(name)
            original.attribute(name)
        known = list(self.known) or comparable_columns(data, original)
        if not known:
            raise DataError(f"membership: {data.source} and {original.source} share no column to compare")
        people = gather_people(data, original, known, self.name, self.attacks, self.control)
        number = people.frame.height
        if number == people.members:
            empty = dict.fromkeys([*MEANING, *self.meaning], None)
            return Score(self.name, empty | {"attacks": people.members, "controls": 0}, notes=(_NOBODY,), gaps=(_NOBODY,))
        compared = [compare_column(data, original, people.frame, name) for name in known]
        distance, nearest = nearest_records(compared, len(data), number)
        is_member = np.arange(number) < people.members
        ratios = likelihood_ratios(distance, nearest, is_member)
        members, others = people.split(ratios)
        rates = Rates((members > 1).astype(np.float64), (others > 1).astype(np.float64), 0.5, self.confidence)
        more = {field: true_positive_rate(members, others, share) for field, share in _RATES.items()}
        more |= {
            "auc": area_under_curve(members, others),
            "distance_members": float(distance[is_member].mean()) if people.members else 0.0,
            "distance_others": float(distance[~is_member].mean()),
        }
        return score_rates(self.name, rates, {"ratio": spread_over_records(people, ratios, len(data))}, more=more)
