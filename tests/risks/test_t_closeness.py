"""t-closeness against its definition and the example of its paper, in both readings of a missing key."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Microdata, Policy
from discreet.errors import DataError, ParameterError
from discreet.risks.t_closeness.measure import TCloseness
from discreet.testing import table


def agree(one, other, wildcard):
    return all((wildcard and (a is None or b is None)) or a == b for a, b in zip(one, other, strict=True))


def ordered(inside, all_values):
    domain = sorted(set(all_values))
    if not inside or len(domain) < 2:
        return 0.0
    total = sum(
        abs(sum(v <= d for v in inside) / len(inside) - sum(v <= d for v in all_values) / len(all_values)) for d in domain[:-1]
    )
    return total / (len(domain) - 1)


keys = st.one_of(st.none(), st.integers(0, 2))


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(keys, keys, st.one_of(st.none(), st.integers(0, 4))), max_size=12),
    st.sampled_from(["category", "wildcard"]),
)
def test_t_is_the_largest_distance_of_any_class(rows, missing):
    data = table({name: [row[at] for row in rows] for at, name in enumerate("abs")}, key=["a", "b"], confidential=["s"])
    score = TCloseness(missing=missing, distance={"s": "ordered"}).measure(data)
    whole = [row[2] for row in rows if row[2] is not None]
    expected = [
        ordered([o[2] for o in rows if o[2] is not None and agree(row[:2], o[:2], missing == "wildcard")], whole) for row in rows
    ]
    assert score.per_record["t"].to_list() == pytest.approx(expected, abs=1e-12)
    assert score["t"] == pytest.approx(max(expected, default=0), abs=1e-12)


def test_the_papers_salaries():
    # Li, Li & Venkatasubramanian 2007, section 4.2: D[{3k,4k,5k}, Q] = 0.375 and D[{6k,8k,11k}, Q] = 0.167
    salary = [3, 4, 5, 6, 11, 8, 7, 9, 10]
    data = table({"a": [1, 1, 1, 2, 2, 2, 3, 3, 3], "s": salary}, key=["a"], confidential=["s"])
    per = TCloseness().measure(data).per_record["t"]
    assert per[0] == pytest.approx(0.375)
    assert per[3] == pytest.approx(1 / 6)


def test_the_distance_follows_the_level():
    groups = {"groups": [{"respiratory": ["flu", "cold"], "stomach": ["ulcer"]}]}
    attributes = {
        "a": {"role": "key"},
        "n": {"role": "confidential"},
        "w": {"role": "confidential"},
        "d": {"role": "confidential", "hierarchy": groups},
    }
    frame = pl.DataFrame({"a": [1, 2, 3], "n": [1, 2, 3], "w": ["u", "v", "w"], "d": ["flu", "cold", "ulcer"]})
    score = TCloseness().measure(Microdata(frame, Policy.from_dict({"attributes": attributes})))
    assert score.per_attribute["distance"].to_list() == ["ordered", "equal", "hierarchical"]
    assert score.per_attribute["t"].to_list() == pytest.approx([0.5, 2 / 3, 2 / 3])


def test_missing_roles_are_errors():
    data = table({"a": [1], "s": ["x"]}, key=["a"], confidential=["s"])
    with pytest.raises(DataError, match="role confidential"):
        TCloseness().measure(table({"a": [1]}, key=["a"]))
    with pytest.raises(ParameterError, match="names 'r', which is not sensitive"):
        TCloseness(distance={"r": "equal"}).measure(data)
    with pytest.raises(DataError, match="'s' cannot be a key and sensitive"):
        TCloseness(keys=("s",)).measure(data)


def test_a_star_is_no_sensitive_value_and_overlapping_cells_are_a_gap():
    ages = [1] * 4 + [2] * 4
    starred, blank = (
        table({"age": ages, "ill": ["HIV", "HIV", hidden, hidden, "HIV", "Flu", "HIV", "Flu"]}, key=["age"], confidential=["ill"])
        for hidden in ("*", None)
    )
    assert TCloseness().measure(starred)["t"] == pytest.approx(TCloseness().measure(blank)["t"])
    coarse = table(
        {"age": ages, "ill": ["HIV", "{HIV|Flu}", "HIV", "HIV", "HIV", "Flu", "HIV", "Flu"]}, key=["age"], confidential=["ill"]
    )
    assert "may stand for the same" in TCloseness().measure(coarse).gaps[0]
