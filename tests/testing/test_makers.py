"""The generators of test data: the same seed gives the same table, with the properties that benchmarks and papers need."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.testing import hospital, items, patients, phonebook, students
from discreet.testing.draws import SampleDraw
from discreet.testing.sampler import Sampler, inverse_cdf_slots, zipf_weights

MAKERS: dict[str, Callable[..., Microdata]] = {
    "students": students, "patients": patients, "items": items, "phonebook": phonebook, "hospital": hospital,
}  # fmt: skip

DIGESTS = {
    "students": "9840f1041fdf3912",
    "patients": "ffd9b705bdac42ae",
    "items": "4f9c515f5e05e9b9",
    "phonebook": "7dbfd90f07faed14",
    "hospital": "63267577bfd74b39",
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_seed_gives_the_same_table_on_every_machine(name: str) -> None:
    text = MAKERS[name](200, seed=3).frame.write_csv()
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == DIGESTS[name]


@pytest.mark.parametrize("name", MAKERS)
def test_another_seed_gives_another_table(name: str) -> None:
    assert not MAKERS[name](50, seed=1).frame.equals(MAKERS[name](50, seed=2).frame)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_the_smallest_tables_have_the_columns_and_types_of_large_ones(name: str, n: int) -> None:
    data = MAKERS[name](n)
    assert len(data) == n
    assert data.frame.schema == MAKERS[name](100).frame.schema


@pytest.mark.parametrize("name", MAKERS)
def test_the_policy_names_every_column_in_the_tables_order(name: str) -> None:
    data = MAKERS[name](5)
    assert list(data.policy.attributes) == data.columns


@pytest.mark.parametrize("name", ["students", "items", "phonebook", "hospital"])
def test_a_shorter_table_is_the_beginning_of_a_longer_one(name: str) -> None:
    assert MAKERS[name](300).frame.head(40).equals(MAKERS[name](40).frame)


def _has_sensitive_value(data: Microdata) -> np.ndarray:
    sensitive = [name for name, attribute in data.policy.attributes.items() if attribute.sensitivity > 0]
    weight = np.zeros(len(data))
    for name in sensitive:
        attribute = data.attribute(name)
        weight += [attribute.value_weight(value) for value in data.frame[name].to_list()]
    return weight > 0


@pytest.mark.parametrize("seed", [0, 1])
def test_about_one_and_a_half_percent_of_the_students_have_a_flag(seed: int) -> None:
    assert 0.012 < _has_sensitive_value(students(40_000, seed)).mean() < 0.018


def test_most_of_the_dense_students_have_a_flag() -> None:
    assert _has_sensitive_value(students(5_000, dense=True)).mean() > 0.6


def test_the_students_policy_keeps_111_known_sets_and_19_sensitive_attributes() -> None:
    attributes = students(0).policy.attributes
    assert len(attributes) == 27
    assert sorted(a.known for a in attributes.values())[-10:] == [0.04, 0.04, 0.05, 0.08, 0.15, 0.2, 0.3, 0.6, 0.8, 0.9]
    assert sum(a.known <= 0.005 for a in attributes.values()) == 17
    known = [a.known for a in attributes.values() if a.known > 0.01]
    # {grade, age} has 0.2 x 0.05, which lies above 0.01 in floating point, as the count of the paper needs
    known_sets = [
        known_set
        for size in range(len(known) + 1)
        for known_set in itertools.combinations(known, size)
        if math.prod(known_set) > 0.01
    ]
    assert len(known_sets) == 111
    sensitive = [a for a in attributes.values() if a.sensitivity > 0]
    assert len(sensitive) == 19
    assert all(a.sensitivity == 1 and a.values == {"yes": 1, "no": 0} for a in sensitive)


def test_exactly_the_records_with_a_flag_are_high_risk_as_in_the_paper() -> None:
    data = students(20_000)
    known = {name: a.known for name, a in data.policy.attributes.items() if a.known > 0.01}
    likelihood = np.zeros(len(data))
    for size in range(len(known) + 1):
        for known_set in itertools.combinations(known, size):
            chance = math.prod(known[name] for name in known_set)
            if chance > 0.01:
                count = data.frame.select(
                    pl.len().over(list(known_set)) if known_set else pl.lit(len(data)).repeat_by(1).explode()
                )
                likelihood += chance / count.to_series().to_numpy()
    flags = [name for name, a in data.policy.attributes.items() if a.role is Role.CONFIDENTIAL]
    consequence = data.frame.select(pl.sum_horizontal(pl.col(flags) == "yes")).to_series().to_numpy()
    high = 100 * likelihood * consequence > 0.01
    assert (high == (consequence > 0)).all()


def test_attributes_of_students_are_consistent() -> None:
    frame = students(60_000).frame
    assert frame.group_by("school").agg(pl.col("parish").n_unique())["parish"].max() == 1
    assert (frame["school"].n_unique(), frame["parish"].n_unique(), frame["grade"].n_unique()) == (1280, 64, 14)
    assert (frame["language"].n_unique(), frame["ethnicity"].n_unique()) == (30, 6)
    kinds = frame.group_by(pl.col("school").str.extract(r"(Elementary|Middle|High) \d+$")).agg(pl.col("grade").n_unique())
    assert sorted(kinds["grade"].to_list()) == [3, 4, 7]
    start = frame["grade"].replace_strict({"PK": "-1", "K": "0"}, default=frame["grade"]).cast(pl.Int64) + 5
    assert ((frame["age"] - start).is_between(0, 4)).all()
    # age on the first of October lies in the years in which the records were taken
    year = frame["birth_year"] + frame["age"] + (frame["birth_month"] > 9).cast(pl.Int64)
    assert year.is_between(1999, 2011).all()


def test_patients_have_several_stays_and_stable_demographics() -> None:
    frame = patients(30_000).frame
    stays = frame.group_by("patient").agg(pl.len(), pl.struct("birth_year", "sex", "race", "zip").n_unique().alias("people"))
    assert 3.0 < frame.height / stays.height < 3.7
    assert stays["len"].max() == 40
    assert stays["people"].max() == 1


def test_patients_have_the_keys_and_confidential_attributes_that_the_methods_need() -> None:
    data = patients(10)
    assert data.named(Role.PERSON) == ["patient"]
    assert len(data.named(Role.KEY)) >= 6
    assert len(data.named(Role.CONFIDENTIAL)) >= 2


def test_the_phonebook_has_missing_values_and_the_names_of_the_hospital_patients() -> None:
    book, admitted = phonebook(2_000).frame, hospital(2_000).frame
    assert 0 < book["phone"].null_count() < 400
    assert book["surname"].null_count() == 0
    both = book["first_name"] + " " + book["surname"]
    assert (both.eq(admitted["name"]) | both.is_null()).all()
    assert (book["zip"].eq(admitted["zip"]) | book["zip"].is_null()).all()


def test_draws_are_proportional_to_the_weights() -> None:
    weights = zipf_weights(7)
    draws = Sampler(SampleDraw(5), np.arange(200_000)).pick("x", weights)
    assert np.allclose(np.bincount(draws) / len(draws), np.array(weights) / sum(weights), atol=0.005)
    assert np.bincount(inverse_cdf_slots([1, 2, 1])).tolist() == [16384, 32768, 16384]


def test_amounts_have_the_requested_quantiles() -> None:
    amounts = Sampler(SampleDraw(5), np.arange(100_000)).amount("x", (0, 10, 100, 1000, 10_000))
    assert np.allclose(np.quantile(amounts, [0.25, 0.5, 0.75]), [10, 100, 1000], rtol=0.05)
    assert amounts.max() < 10_000
