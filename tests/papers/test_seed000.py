"""Orooji & Knapp (2018): the numbers of Tables 1 and 2, and the shape of the experiment."""

from __future__ import annotations

import math

import polars as pl
import pytest

from discreet.engine.classes.groups import class_sizes
from discreet.engine.encoding.columns import encode
from discreet.engine.known_sets.family import family
from discreet.engine.known_sets.inputs import weights_of
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.known_sets.measure import KnownSets
from discreet.testing import students

POLICY = {
    "attributes": {
        "Age": {"known": 0.3},
        "Gender": {"known": 0.8},
        "Race": {"known": 0.7},
        "Income": {"known": 0.005, "sensitivity": 0.9, "values": {"<40000": 1.0, "40000..70000": 0.7}},
        "Disease": {"known": 0.001, "sensitivity": 1.0, "values": {"Flu": 0.2, "Cancer": 1.0}},
    }
}
TABLE_1 = pl.DataFrame(
    {
        "Age": [34, 19, 40, 34, 51],
        "Gender": ["Male", "Female", "Male", "Male", "Female"],
        "Race": ["Black", "White", "Asian-Pac-Islander", "Black", "Black"],
        "Income": [60_000, 36_000, 45_000, 50_000, 65_000],
        "Disease": ["Flu", "Flu", "Flu", "Cancer", "Flu"],
    }
)


def data() -> Microdata:
    return Microdata(TABLE_1, Policy.from_dict(POLICY))


def test_likelihood_and_consequence_of_the_fourth_record() -> None:
    table, known = data(), ["Age", "Gender", "Race"]
    chance = math.prod(table.attribute(name).known for name in known)
    count = class_sizes(encode(table, known), len(table))[3]
    assert chance / count == pytest.approx(0.084)
    weights = weights_of(table, table.columns)
    learnt = [weights[column.name][column.codes[3]] for column in encode(table, ["Income", "Disease"])]
    assert learnt == pytest.approx([0.63, 1.0])
    assert sum(learnt) == pytest.approx(1.63)


def test_all_five_records_over_all_32_sets() -> None:
    score = KnownSets(alpha=1, epsilon=0).measure(data())
    assert score["sets"] == 32
    expected = [1.19990914, 3.0623232, 2.20083297, 2.36796614, 1.92394580]
    assert score.per_record["risk"].to_list() == pytest.approx(expected, abs=1e-8)
    assert score.per_record["consequence"].to_list() == pytest.approx([0.83, 1.1, 0.83, 1.63, 0.83])


def test_the_experiment_keeps_111_of_2_to_the_27_sets() -> None:
    known = [attribute.known for attribute in students(10).policy.attributes.values()]
    assert len(known) == 27
    assert len(family(known, 0.01, 1000)) == 111


def test_the_experiment_has_the_papers_shape() -> None:
    """The paper: 15,651 of 1,009,993 records (1.55 %) above 0.01, and a histogram over several powers of ten."""
    score = KnownSets(alpha=100, epsilon=0.01, threshold=0.01).measure(students(200_000))
    assert score["sets"] == 111
    assert 0.012 < score["high_risk_share"] < 0.018
    powers = [power for power, count in score["histogram"].items() if power != "0" and count]
    assert len(powers) >= 3
