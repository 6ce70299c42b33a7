"""Records that ask the same are looked at once, and nothing changes by it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.known_sets import duplicates as known_alike
from discreet.engine.known_sets.sums import known_sets
from discreet.masking.targeted_suppression.method import TargetedSuppression
from discreet.model.microdata import Microdata
from discreet.testing import table

row = st.tuples(
    st.sampled_from(["f", "m"]), st.sampled_from(["A", "B", "C", None]), st.sampled_from(["y", "n", None]), st.integers(0, 2)
)


def people(rows: list[tuple[Any, ...]]) -> Microdata:
    names = ("sex", "town", "ill", "debt")
    data = table(
        {name: [one[at] for one in rows] for at, name in enumerate(names)},
        known={"sex": 0.9, "town": 0.4, "ill": 0.1},
        sensitivity={"ill": 1.0, "debt": 0.5},
    )
    ill = data.policy.attributes["ill"].model_copy(update={"values": {"y": 1.0}, "default": 0.2})
    return data.with_policy(data.policy.with_(attributes={**data.policy.attributes, "ill": ill}))


@settings(deadline=None, max_examples=30)
@given(st.lists(row, min_size=1, max_size=30), st.sampled_from(["category", "wildcard"]))
def test_sums_and_what_is_blanked_do_not_depend_on_telling_kinds_apart(rows: list[tuple[Any, ...]], missing: Any) -> None:
    data = people(rows)
    with pytest.MonkeyPatch.context() as patched:
        made = []
        for worth in (1.0, -1.0):
            patched.setattr(known_alike, "_WORTH", worth)
            fresh = Microdata(data.frame, data.policy, data.source)
            found = known_sets(fresh, epsilon=0.01, max_sets=1000, missing=missing).per_record
            masks = [
                TargetedSuppression(alpha=1, threshold=0.3, missing=missing, side=side).mask(
                    fresh, ["sex", "town", "ill", "debt"], KeyedDraw(7)
                )
                for side in ("known", "sensitive")
            ]
            made.append((found, masks))
    (one, masks), (other, others) = made
    for name in ("risk", "lower", "upper", "top", "top_node", "likelihood", "count_all"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert all(a.frame.equals(b.frame) for a, b in zip(masks, others, strict=True))


def test_records_with_equal_values_are_of_one_kind_and_blanks_are_their_own() -> None:
    from discreet.engine.encoding.columns import encode, value_weights

    data = people([("f", "A", "y", 1), ("f", "A", "y", 2), ("f", "A", None, 1), ("f", "A", "n", 1)] * 2)
    known, (ill,) = encode(data, ["sex", "town"]), encode(data, ["ill"])
    found = known_alike.find_duplicates(known, [(ill, value_weights(ill, data.attribute("ill")))], np.arange(8))
    assert found is not None
    assert found.kind.tolist() == [found.kind[0], found.kind[0], found.kind[2], found.kind[3]] * 2
    assert sorted(found.first.tolist()) == [0, 2, 3]
    assert known_alike.find_duplicates(known, [], np.arange(0)) is None
    nothing = known_alike.find_duplicates([], [], np.arange(8))  # all ask the same where nothing is known or learnt
    assert nothing is not None
    assert (nothing.first.tolist(), nothing.kind.tolist()) == ([0], [0] * 8)


@given(st.lists(row, min_size=1, max_size=30), st.data())
def test_kinds_are_the_distinct_rows_in_the_order_of_their_first_record(
    rows: list[tuple[Any, ...]], drawn: st.DataObject
) -> None:
    from discreet.engine.encoding.columns import encode

    data = people(rows)
    asking = np.array(sorted(drawn.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1))), dtype=np.int64)
    known = encode(data, ["sex", "town"])
    (debt,) = encode(data, ["debt"])
    weights = np.array([0.5 if value in (0, 1) else 1.0 for value in debt.values.to_list()])
    kinds = [(rows[at][0], rows[at][1], rows[at][3] in (0, 1)) for at in asking]
    distinct = list(dict.fromkeys(kinds))
    found = known_alike.find_duplicates(known, [(debt, weights)], asking)
    if 2 * len(distinct) > len(asking):
        assert found is None
    else:
        assert found is not None
        assert found.first.tolist() == [kinds.index(kind) for kind in distinct]
        assert found.kind.tolist() == [distinct.index(kind) for kind in kinds]


@given(st.lists(row, min_size=1, max_size=8), st.integers(2, 4))
def test_every_column_that_is_learnt_tells_kinds_apart(rows: list[tuple[Any, ...]], copies: int) -> None:
    from discreet.engine.encoding.columns import encode, value_weights

    data = people(rows * copies)
    columns = encode(data, ["ill", "debt"])
    weights = [value_weights(columns[0], data.attribute("ill")), np.array([0.5, 1.0, 0.7])[: len(columns[1].values)]]
    kinds = [(one[2], one[3]) for one in rows * copies]
    distinct = list(dict.fromkeys(kinds))
    for order in (slice(None), slice(None, None, -1)):
        learnt = list(zip(columns, weights, strict=True))[order]
        found = known_alike.find_duplicates([], learnt, np.arange(len(kinds)))
        assert found is not None
        assert found.first.tolist() == [kinds.index(kind) for kind in distinct]
        assert found.kind.tolist() == [distinct.index(kind) for kind in kinds]
