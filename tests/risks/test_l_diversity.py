"""l-diversity against counting record by record, in both readings of a missing key."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DataError
from discreet.risks.l_diversity.measure import LDiversity
from discreet.testing import table

keys = st.one_of(st.none(), st.integers(0, 2))
values = st.one_of(st.none(), st.sampled_from("xyz"))


def agree(one, other, wildcard):
    return all((wildcard and (a is None or b is None)) or a == b for a, b in zip(one, other, strict=True))


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(keys, keys, values, values), max_size=12), st.sampled_from(["category", "wildcard"]))
def test_l_is_the_smallest_number_of_values_in_any_class(rows, missing):
    data = table({name: [row[at] for row in rows] for at, name in enumerate("abst")}, key=["a", "b"], confidential=["s", "t"])
    score = LDiversity(missing=missing).measure(data)
    expected = []
    for row in rows:
        found = []
        for at in (2, 3):
            near = {other[at] for other in rows if agree(row[:2], other[:2], missing == "wildcard")} - {None}
            found += [len(near)] if near else []
        expected.append(min(found, default=None))
    assert score.per_record["l"].to_list() == expected
    told = [l for l in expected if l is not None]  # noqa: E741
    assert score["l"] == (min(told) if told else None)
    assert score["homogeneous"] == told.count(1)


def test_nulls_in_a_sensitive_attribute_are_not_values():
    data = table({"a": [1] * 5, "s": ["x", None, None, None, None]}, key=["a"], confidential=["s"])
    assert LDiversity().measure(data)["l"] == 1


def test_the_skewed_class_is_not_recursively_diverse():
    data = table({"a": [1] * 10, "s": ["x"] * 8 + ["y", "z"]}, key=["a"], confidential=["s"])
    assert LDiversity(c=3).measure(data)["recursive_l"] == 1
    assert LDiversity(c=4.1).measure(data)["recursive_l"] == 2
    assert LDiversity(c=8.1).measure(data)["recursive_l"] == 3


def test_missing_roles_are_errors():
    data = table({"a": [1], "s": ["x"]}, key=["a"], confidential=["s"])
    with pytest.raises(DataError, match="role key"):
        LDiversity().measure(table({"a": [1]}))
    with pytest.raises(DataError, match="role confidential"):
        LDiversity().measure(table({"a": [1]}, key=["a"]))
    with pytest.raises(DataError, match="'s' cannot be a key and sensitive"):
        LDiversity(keys=("s",)).measure(data)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [(["HIV", "*", "*"], 1), (["HIV", "{HIV|Flu}", "HIV"], 1), (["{A|B}", "{B|C}", "{C|D}"], 1), (["A", "{A|B}", "C"], 2)],
)
def test_cells_that_may_hide_the_same_value_do_not_make_a_class_diverse(cells, expected):
    data = table({"age": [1, 1, 1, 2, 2], "ill": [*cells, "Flu", "Cold"]}, key=["age"], confidential=["ill"])
    score = LDiversity().measure(data)
    assert score["l"] == expected
    assert score.per_record["l"].to_list() == [expected] * 3 + [2, 2]
    assert (score["entropy_l"] == 1) == (expected == 1)


def test_merged_cells_are_the_connected_cells_of_each_class():
    rng = np.random.default_rng(3)
    names = ["A", "B", "C", "D", "{A|B}", "{C|D}", "{B|C}", "*"]
    for _ in range(60):
        ages, ill = rng.integers(0, 4, 14), rng.choice(names, 14)
        data = table({"age": ages, "ill": ill}, key=["age"], confidential=["ill"])
        expected = []
        for age in ages:
            groups: list[set[str]] = []
            for cell in {name for name in ill[ages == age] if name != "*"}:
                members = set(cell.strip("{}").split("|"))
                groups = [*(one for one in groups if not one & members), members.union(*(one for one in groups if one & members))]
            expected.append(len(groups) or None)
        assert LDiversity().measure(data).per_record["l"].to_list() == expected
