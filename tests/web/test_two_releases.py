"""Two releases side by side: which of them is better, by each statistic that has a better direction."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from discreet.report.maps import _axis_domain
from discreet.web.pages.assess import compare_releases

numbers = st.one_of(st.none(), st.integers(0, 5))


def release(number: int, k: Any, unique: Any, loss: Any) -> Any:
    after = {"k_anonymity": {"k": k, "unique": unique, "note": "text"}}
    return SimpleNamespace(number=number, assessment={"after": after, "losses": {"ncp": {"loss": loss, "values": 40}}})


@given(st.tuples(numbers, numbers, numbers), st.tuples(numbers, numbers, numbers))
def test_the_better_release_is_the_one_on_the_safer_side(first, second):
    rows = {row["name"]: row for row in compare_releases(release(2, *first), release(1, *second))}
    higher_is_better = {"k_anonymity.k": True, "k_anonymity.unique": False, "ncp.loss": False}
    for (name, higher), one, other in zip(higher_is_better.items(), first, second, strict=True):
        if one is None or other is None:
            assert name not in rows
        elif one == other:
            assert rows[name]["verdict"] == "the same"
        else:
            best = 2 if (one > other) == higher else 1
            assert rows[name]["verdict"] == f"release {best} is better"
    assert set(rows) <= set(higher_is_better), "a field without a better direction is not compared"


@given(st.lists(st.floats(0, 1e6), max_size=10))
def test_an_axis_of_risk_or_loss_never_goes_below_zero_and_holds_every_point(points):
    low, high = _axis_domain(points)
    assert 0 <= low < high
    assert all(low <= point <= high for point in points)
