"""The adversaries side by side: whose numbers are taken, and what is said of tables on which some cannot be measured."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from discreet.assessment.adversaries import side_by_side
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.testing import table


def people(**more: Any) -> Microdata:
    columns = {"age": [34, 34, 51], "disease": ["Flu", "Cancer", "Flu"]}
    return table(columns, **{"confidential": ["disease"], "sensitivity": {"disease": 1.0}, "known": {"age": 0.5}, **more})


def score(name: str, **columns: list[Any]) -> Score:
    return Score(name, {}, per_record=pl.DataFrame(columns))


def test_scores_that_were_measured_before_are_not_measured_again() -> None:
    data = people(key=["age"])
    beside = side_by_side(data, data, {"k_anonymity": score("k_anonymity", class_size=[2, 4, 5])})
    assert beside["k_anonymity"].to_list() == [0.5, 0.25, 0.2]


def test_scores_of_other_records_say_nothing() -> None:
    data = people(key=["age"])
    beside = side_by_side(data, data, {"k_anonymity": score("k_anonymity", class_size=[2, 4])})
    assert beside["k_anonymity"].to_list() == [None, None, None]


def test_a_probability_of_identification_is_taken_where_knowledge_is_independent() -> None:
    data = people(key=["age"])
    scores = score("known_sets", likelihood=[0.9, 0.9, 0.9], reidentification=[0.1, 0.2, 0.3], top_set=["", "age", "age"])
    beside = side_by_side(data, data, {"known_sets": scores})
    assert beside["known_sets"].to_list() == [0.1, 0.2, 0.3]


def test_a_record_that_is_consistent_with_nobody_is_found_by_nobody() -> None:
    data = people(key=["age"])
    beside = side_by_side(data, data, {"decision": score("decision", rho=[0, 1, 4])})
    assert beside["decision"].to_list() == [0.0, 1.0, 0.25]


def test_without_keys_a_dictionary_is_one_of_all_attributes() -> None:
    data = people()
    beside = side_by_side(data, data, {"known_sets": score("known_sets", likelihood=[0.0] * 3, top_set=[""] * 3)})
    assert beside["k_anonymity"].null_count() == 3
    assert beside["takes"].to_list()[2] == "a dictionary with all attributes: 1 fit"


@pytest.mark.parametrize(("top", "text"), [("", "to know nothing but that it is there"), ("age", "to know age")])
def test_what_it_takes_is_the_known_set_with_the_largest_part(top: str, text: str) -> None:
    data = people(key=["age"])
    beside = side_by_side(data, data, {"known_sets": score("known_sets", likelihood=[1.0] * 3, top_set=[top] * 3)})
    assert beside["worst"].to_list() == ["known_sets"] * 3
    assert beside["takes"].to_list() == [text] * 3
