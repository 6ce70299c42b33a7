"""The sets of categories that groups of near records publish, against their definition."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from discreet.masking.microaggregation.ranges import publish_ranges
from discreet.model.cells import Group
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

VALUES = st.sampled_from(["a", "b", "c", "d, e", "{f}", None])


def describe(values: list[str | None], occurring: set[str]) -> str | None:
    """The label of a group: its value, the set of its values, and nothing where one is missing or all categories occur."""
    categories = set(values)
    if None in categories or (len(categories) > 1 and categories == occurring):
        return None
    (only, *others) = sorted(str(value) for value in categories)
    return str(Group(frozenset([only, *others]))) if others else only


@given(st.lists(st.tuples(VALUES, st.integers(-1, 4)), min_size=1, max_size=30))
def test_a_group_publishes_the_set_of_its_categories(records: list[tuple[str | None, int]]) -> None:
    values = [value for value, _ in records]
    number = {group: at for at, group in enumerate(sorted({group for _, group in records} - {-1}))}
    groups = np.array([number.get(group, -1) for _, group in records], dtype=np.int64)
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.String)})
    data = Microdata(frame, Policy.from_dict({"attributes": {"x": {"role": "key"}}}))
    occurring = {value for value in values if value is not None}
    members = {
        group: [value for value, own in zip(values, groups, strict=True) if own == group] for group in set(groups.tolist())
    }
    expected = [None if group < 0 else describe(members[group], occurring) for group in groups.tolist()]
    if (groups >= 0).all() and all(len(set(own)) == 1 for own in members.values()):
        expected = values  # every group has a single value, so the column stays as it is
    assert publish_ranges(data, "x", groups, enough=1).to_list() == expected
