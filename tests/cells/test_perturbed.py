"""What an intruder asks for who applies the masking's rule to the original values that he knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from discreet.engine.cells.perturbed import with_perturbed_values
from discreet.model.microdata import Microdata
from discreet.testing import table

ages = st.one_of(st.none(), st.integers(20, 24))
towns = st.one_of(st.none(), st.sampled_from(["A", "B", "C"]))
people = st.lists(st.tuples(ages, towns), min_size=1, max_size=12)


def people_table(rows: list[tuple[Any, ...]]) -> Microdata:
    frame = pl.DataFrame(rows, schema={"age": pl.Int64, "town": pl.String}, orient="row")
    return table(frame, key=["age", "town"])


def asked_values(original: Microdata, release: Microdata, name: str) -> list[Any]:
    """Value by value: the released one where it is not null and another than the original, which is not null either."""
    values = original.frame[name].to_list()
    for record, released in zip(release.records.tolist(), release.frame[name].to_list(), strict=True):
        if record >= 0 and released is not None and values[record] is not None:
            values[record] = released
    return values


@given(people, st.data())
def test_a_false_value_is_replaced_by_the_released_one_of_its_own_record(
    rows: list[tuple[Any, ...]], drawn: st.DataObject
) -> None:
    original = people_table(rows)
    records = drawn.draw(st.permutations(range(len(rows))))[: drawn.draw(st.integers(1, len(rows)))]
    simulated = drawn.draw(st.integers(0, 2))
    released = [drawn.draw(st.tuples(ages, towns)) for _ in range(len(records) + simulated)]
    # simulated rows stand between the others
    numbers = np.array(drawn.draw(st.permutations([*records, *range(-simulated, 0)])), dtype=np.int64)
    release = original.replace(people_table(released).frame, numbers)
    asked = with_perturbed_values(original, release, ["age", "town"])
    for name in ("age", "town"):
        assert asked.frame[name].to_list() == asked_values(original, release, name), name
        assert asked.frame[name].dtype == original.frame[name].dtype
    assert original.frame.equals(people_table(rows).frame), "what came in is not changed"
    only_town = with_perturbed_values(original, release, ["town"])
    assert only_town.frame["age"].equals(original.frame["age"], null_equal=True), "a column that is not asked for stays"


def test_numbers_of_another_type_are_compared_as_numbers_and_keep_their_fraction() -> None:
    original = table({"age": [20, 31, 40], "pay": [1.5, 2.5, 3.0]}, key=["age", "pay"])
    release = original.replace(pl.DataFrame({"age": [20.0, 30.5, 40.0], "pay": [1, None, 4]}), original.records)
    asked = with_perturbed_values(original, release, ["age", "pay"])
    assert asked.frame["age"].to_list() == [20, 30.5, 40]
    assert asked.frame["pay"].to_list() == [1, 2.5, 4]


def test_labels_of_another_type_leave_the_column_and_not_the_next_one() -> None:
    original = table({"age": [20, 31], "sex": ["f", "m"], "town": ["A", "B"]}, key=["age", "sex", "town"])
    columns = {"age": ["50..60", "20..40"], "sex": ["f", "m"], "town": ["A", "C"]}
    release = original.replace(pl.DataFrame(columns), original.records)
    asked = with_perturbed_values(original, release, ["age", "sex", "town"])
    assert asked.frame.rows() == [(20, "f", "A"), (31, "m", "C")]


def test_a_table_is_itself_where_nothing_is_false_or_nothing_links_it_to_the_release() -> None:
    original = table({"age": [20, 31, 40]}, key=["age"])
    assert with_perturbed_values(original, original, ["age"]) is original
    stranger = Microdata(pl.DataFrame({"age": [50, 51]}), original.policy, "another file")
    assert with_perturbed_values(original, stranger, ["age"]) is original
