"""k-anonymity against counting by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DataError
from discreet.risks.k_anonymity.measure import KAnonymity
from discreet.testing import table

ROWS = st.lists(st.tuples(st.sampled_from([None, 1, 2]), st.sampled_from([None, "x", "y"])), min_size=1, max_size=15)


@settings(max_examples=150)
@given(ROWS, st.booleans())
def test_equivalence_classes_are_counted_by_definition(rows: list[tuple[int | None, str | None]], wildcard: bool) -> None:
    data = table({"a": [row[0] for row in rows], "b": [row[1] for row in rows]}, key=["a", "b"])
    score = KAnonymity(missing="wildcard" if wildcard else "category").measure(data)

    def agree(one: tuple[object, object], other: tuple[object, object]) -> bool:
        return all(x == y or (wildcard and (x is None or y is None)) for x, y in zip(one, other, strict=True))

    sizes = [sum(agree(row, other) for other in rows) for row in rows]
    assert score.per_record["class_size"].to_list() == sizes
    assert score["k"] == min(sizes)
    assert score["unique"] == sizes.count(1)
    assert score["classes"] == len(set(rows))
    for k in (2, 3, 5):
        assert score[f"violating_{k}"] == sum(size < k for size in sizes)


def test_a_table_without_keys_is_an_error() -> None:
    with pytest.raises(DataError, match="role key"):
        KAnonymity().measure(table({"a": [1]}))
