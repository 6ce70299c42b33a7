"""Detection of the column that stands for persons, and columns whose values merely repeat."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.analysis.analyzer import profile_table
from discreet.analysis.persons import stability
from discreet.engine.encoding.columns import encode_series
from discreet.model.microdata import Microdata


@given(st.lists(st.tuples(st.integers(0, 3) | st.none(), st.integers(0, 2) | st.none()), max_size=12))
@settings(deadline=None, max_examples=200)
def test_stability_agrees_with_its_definition(rows):
    with_person = [row for row in rows if row[0] is not None]
    pairs = list(combinations(with_person, 2))
    same_person = [pair for pair in pairs if pair[0][0] == pair[1][0]]
    separated = [pair for pair in pairs if pair[0][1] != pair[1][1]]
    person, key = (encode_series(pl.Series("x", [row[position] for row in rows], dtype=pl.Int64)) for position in (0, 1))
    measured = stability(person, key)
    if not same_person or not separated:
        assert measured == 0
        return
    within_person = sum(first[1] != second[1] for first, second in same_person) / len(same_person)
    assert measured == pytest.approx(1 - within_person / (len(separated) / len(pairs)))


def people(n=900, each=3, changes=0.0, seed=0):
    draw = np.random.default_rng(seed)
    ids = draw.integers(0, n // each, n)
    columns = {
        "age": draw.integers(18, 80, n // each)[ids],
        "sex": draw.choice(["F", "M"], n // each)[ids],
        "county": draw.integers(0, 30, n // each)[ids],
    }
    loose = {name: np.where(draw.random(n) < changes, draw.permutation(values), values) for name, values in columns.items()}
    return ids, loose


@pytest.mark.parametrize("name", ["patient_nbr", "person_id", "id", "v17"])
def test_an_id_with_stable_demographics_is_a_person(name):
    ids, keys = people()
    assert profile_table(Microdata(pl.DataFrame({name: ids * 7 + 100, **keys}))).named("person") == [name]


def test_a_named_id_is_a_person_despite_a_few_changes_of_the_keys():
    ids, keys = people(changes=0.05)
    assert profile_table(Microdata(pl.DataFrame({"patient_id": ids, **keys}))).named("person") == ["patient_id"]


def test_an_id_whose_demographics_vary_is_no_person():
    _, keys = people()
    draw = np.random.default_rng(9)
    proposal = profile_table(
        Microdata(pl.DataFrame({"household_id": draw.integers(0, 300, 900), "v17": draw.integers(0, 300, 900), **keys}))
    )
    assert proposal.named("person") == []
    assert proposal["household_id"].attribute.role == "household"
    assert proposal["v17"].attribute.role == "other"


def test_an_amount_that_is_mostly_zero_is_not_taken_for_a_person():
    draw = np.random.default_rng(9)
    _, keys = people()
    amount = np.where(draw.random(900) < 0.9, 0, draw.integers(1, 9000, 900))
    assert profile_table(Microdata(pl.DataFrame({"e03300": amount, **keys}))).named("person") == []


def test_a_unique_id_is_an_identifier_and_only_one_column_a_person():
    ids, keys = people()
    proposal = profile_table(
        Microdata(pl.DataFrame({"visit_id": np.arange(900), "patient_id": ids, "other_id": ids * 3, **keys}))
    )
    assert proposal["visit_id"].attribute.role == "identifier"
    assert len(proposal.named("person")) == 1


@given(st.integers(0, 50))
@settings(deadline=None, max_examples=10)
def test_the_person_column_of_generated_data_is_found(seed):
    ids, keys = people(seed=seed)
    assume(len(set(ids)) < 900)
    proposal = profile_table(Microdata(pl.DataFrame({"subject_no": ids, **keys})))
    assert proposal.named("person") == ["subject_no"]
