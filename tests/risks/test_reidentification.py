"""Prosecutor, journalist and marketer against counting by hand, and membership in a population."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import DataError, ParameterError
from discreet.model.microdata import Microdata
from discreet.risks.delta_presence import DeltaPresence
from discreet.risks.reidentification.measure import Reidentification
from discreet.testing import check_risk, table

PEOPLE = st.lists(
    st.tuples(st.sampled_from([None, 1, 2]), st.sampled_from([None, "x", "y"]), st.booleans()), min_size=1, max_size=20
)


def _agree(left: tuple[Any, ...], right: tuple[Any, ...], *, wildcard: bool) -> bool:
    return all(a == b or (wildcard and None in (a, b)) for a, b in zip(left, right, strict=True))


@settings(max_examples=60, deadline=None)
@given(PEOPLE, st.booleans())
def test_risks_with_a_population_are_counts(tmp_path_factory: pytest.TempPathFactory, people: list[Any], wildcard: bool) -> None:
    persons = [row[:2] for row in people]
    records = [row[:2] for row in people if row[2]] or persons[:1]
    path = tmp_path_factory.mktemp("population") / "people.parquet"
    pl.DataFrame(persons, schema={"a": pl.Int64, "b": pl.String}, orient="row").write_parquet(path)
    missing = "wildcard" if wildcard else "category"
    frame = pl.DataFrame(records, schema={"a": pl.Int64, "b": pl.String}, orient="row")
    data = table(frame.to_dict(as_series=False), key=["a", "b"])
    in_file = [sum(_agree(row, other, wildcard=wildcard) for other in records) for row in records]
    in_population = [sum(_agree(row, person, wildcard=wildcard) for person in persons) for row in records]

    score = Reidentification.model_validate({"population": str(path), "missing": missing, "threshold": 0.4}).measure(data)
    assert score.per_record["prosecutor"].to_list() == pytest.approx([1 / f for f in in_file])
    assert score.per_record["journalist"].to_list() == pytest.approx([1 / size for size in in_population])
    assert score["k_map"] == min(in_population)
    assert score["prosecutor_max"] == 1 / min(in_file)
    assert score["prosecutor_above"] == pytest.approx(np.mean([1 / f > 0.4 for f in in_file]))
    assert score["journalist_mean"] == score["marketer"] == pytest.approx(np.mean([1 / size for size in in_population]))
    assert score["sample_uniques"] == in_file.count(1)
    assert score["population_uniques"] == in_population.count(1)

    presence = DeltaPresence.model_validate({"population": str(path), "missing": missing}).measure(data)
    chances = [
        min(
            1.0,
            sum(_agree(person, row, wildcard=wildcard) for row in records)
            / sum(_agree(person, other, wildcard=wildcard) for other in persons),
        )
        for person in persons
    ]
    assert (presence["min"], presence["max"]) == pytest.approx((min(chances), max(chances)))
    assert presence["certain"] == chances.count(1.0)


def test_without_anything_about_the_population_the_file_is_all_of_it_and_a_note_says_so() -> None:
    score = Reidentification().measure(table({"age": [44, 44, 55]}, key=["age"]))
    assert score["journalist_mean"] == score["prosecutor_mean"] == pytest.approx(2 / 3)
    assert score["k_map"] == 1
    assert "taken to be all of it" in score.notes[0]


def test_with_a_sampling_fraction_the_journalist_is_estimated_with_an_interval() -> None:
    generator = np.random.default_rng(2)
    population = pl.DataFrame(
        {"age": generator.integers(18, 80, 30_000), "town": np.minimum(generator.geometric(0.05, 30_000), 90)}
    )
    sizes = population.select(pl.len().over(population.columns))["len"].to_numpy()
    rows = generator.choice(30_000, 3_000, replace=False)
    data = table(population[rows].to_dict(as_series=False), key=["age", "town"])
    score = discreet.risk(data, {"reidentification": {"size": 30_000}})["reidentification"]
    truth = float((1 / sizes[rows]).mean())
    low, high = score.bounds["journalist_mean"]
    assert low <= truth <= high
    assert score["journalist_mean"] == pytest.approx(truth, rel=0.25)
    assert score["k_map"] is None
    assert score.bounds["journalist_max"] == (0.0, score["prosecutor_max"]), (
        "a limit must not rest on an estimate without an interval"
    )
    assert score.bounds["journalist_above"] == (0.0, score["prosecutor_above"])
    assert score["journalist_mean"] < score["prosecutor_mean"]


def test_the_interval_of_the_marketer_covers_classes_of_several_records_too() -> None:
    """Hardly a sample unique, so that the error is that of larger classes."""
    generator = np.random.default_rng(7)
    held = 0
    for _ in range(15):
        weights = generator.dirichlet(np.full(400, 0.8))
        population = generator.choice(400, 20_000, p=weights)
        sizes = np.bincount(population, minlength=400)[population]
        rows = generator.choice(20_000, 2_000, replace=False)
        data = table({"a": (population[rows] // 20).tolist(), "b": (population[rows] % 20).tolist()}, key=["a", "b"])
        score = Reidentification(sampling_fraction=0.1).measure(data)
        low, high = score.bounds["marketer"]
        assert score["sample_uniques"] < 150
        assert low < score["marketer"] < high
        held += low <= float((1 / sizes[rows]).mean()) <= high
    assert held >= 12


def test_a_record_that_the_population_does_not_hold_is_named(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age\n44\n")
    data = table({"age": [44, 55]}, key=["age"])
    with pytest.raises(DataError, match="nobody of the population has the key values of record 2"):
        Reidentification(population=str(tmp_path / "people.csv")).measure(data)


def test_a_null_that_the_population_does_not_have_is_refused_with_what_would_let_it_agree() -> None:
    data, people = table({"age": [44, None]}, key=["age"]), pl.DataFrame({"age": [44, 44, 55]})
    with pytest.raises(DataError, match="unless the measure has missing: wildcard"):
        discreet.risk(data, {"reidentification": {"population": people}})
    score = discreet.risk(data, {"reidentification": {"population": people, "missing": "wildcard"}})["reidentification"]
    assert score.per_record["journalist"].to_list() == pytest.approx([1 / 2, 1 / 3])


def test_a_population_without_a_key_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("years\n44\n")
    with pytest.raises(DataError, match="the population has no column 'age'"):
        DeltaPresence(population=str(tmp_path / "people.csv")).measure(table({"age": [44]}, key=["age"]))


def _population_as(kind: str, frame: pl.DataFrame, tmp_path: Path) -> Any:
    if kind == "path":
        frame.write_csv(tmp_path / "people.csv")
        return tmp_path / "people.csv"
    as_kind = {"polars": lambda: frame, "pandas": frame.to_pandas, "arrow": frame.to_arrow, "microdata": lambda: Microdata(frame)}
    return as_kind[kind]()


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow", "microdata", "path"])
def test_the_population_can_be_a_frame(kind: str, tmp_path: Path) -> None:
    people = pl.DataFrame(
        {"age": [44, 44, 44, 55, 61], "sex": ["f", "f", "f", "m", "m"], "name": ["Ann", "Bea", "Cid", "Dov", "Eve"]}
    )
    data = table({"age": [44, 44, 55], "sex": ["f", "f", "m"]}, key=["age", "sex"])
    population = _population_as(kind, people, tmp_path)
    scores = discreet.risk(data, {"reidentification": {"population": population}, "delta_presence": {"population": population}})
    assert scores["reidentification"].per_record["journalist"].to_list() == [1 / 3, 1 / 3, 1.0]
    assert scores["reidentification"]["k_map"] == 1
    assert scores["delta_presence"]["max"] == 1.0
    named = Reidentification(population=population)
    assert "Ann" not in str(named.parameters) + repr(named)
    assert ("table in memory" in named.parameters["population"]) == (kind != "path")


def test_what_is_neither_a_name_nor_a_table_is_no_population() -> None:
    data = table({"age": [44]}, key=["age"])
    with pytest.raises(ParameterError, match="population"):
        discreet.risk(data, {"reidentification": {"population": 7}})


@pytest.mark.parametrize("measure", [Reidentification, DeltaPresence])
def test_the_measure_conforms(measure: type[Any]) -> None:
    check_risk(measure)
