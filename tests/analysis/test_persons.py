"""The person behind several records, and columns that only repeat."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.analysis.analyzer import profile
from discreet.analysis.persons import stability
from discreet.engine.encoding.columns import encode_series
from discreet.model.microdata import Microdata


@given(st.lists(st.tuples(st.integers(0, 3) | st.none(), st.integers(0, 2) | st.none()), max_size=12))
@settings(deadline=None, max_examples=200)
def test_stability_is_that_of_the_definition(rows):
    held = [row for row in rows if row[0] is not None]
    pairs = list(combinations(held, 2))
    alike = [pair for pair in pairs if pair[0][0] == pair[1][0]]
    apart = [pair for pair in pairs if pair[0][1] != pair[1][1]]
    person, key = (encode_series(pl.Series("x", [row[at] for row in rows], dtype=pl.Int64)) for at in (0, 1))
    found = stability(person, key)
    if not alike or not apart:
        assert found == 0
        return
    inside = sum(one[1] != other[1] for one, other in alike) / len(alike)
    assert found == pytest.approx(1 - inside / (len(apart) / len(pairs)))


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
    assert profile(Microdata(pl.DataFrame({name: ids * 7 + 100, **keys}))).named("person") == [name]


def test_a_few_changes_do_not_hide_a_named_person():
    ids, keys = people(changes=0.05)
    assert profile(Microdata(pl.DataFrame({"patient_id": ids, **keys}))).named("person") == ["patient_id"]


def test_an_id_whose_demographics_vary_is_no_person():
    _, keys = people()
    draw = np.random.default_rng(9)
    found = profile(
        Microdata(pl.DataFrame({"household_id": draw.integers(0, 300, 900), "v17": draw.integers(0, 300, 900), **keys}))
    )
    assert found.named("person") == []
    assert found["household_id"].attribute.role == "identifier"
    assert found["v17"].attribute.role == "other"


def test_a_mostly_zero_amount_is_no_person():
    draw = np.random.default_rng(9)
    _, keys = people()
    amount = np.where(draw.random(900) < 0.9, 0, draw.integers(1, 9000, 900))
    assert profile(Microdata(pl.DataFrame({"e03300": amount, **keys}))).named("person") == []


def test_a_unique_id_is_an_identifier_and_only_one_column_a_person():
    ids, keys = people()
    found = profile(Microdata(pl.DataFrame({"visit_id": np.arange(900), "patient_id": ids, "other_id": ids * 3, **keys})))
    assert found["visit_id"].attribute.role == "identifier"
    assert len(found.named("person")) == 1


@given(st.integers(0, 50))
@settings(deadline=None, max_examples=10)
def test_generated_truth_is_recovered(seed):
    ids, keys = people(seed=seed)
    assume(len(set(ids)) < 900)
    found = profile(Microdata(pl.DataFrame({"subject_no": ids, **keys})))
    assert found.named("person") == ["subject_no"]
