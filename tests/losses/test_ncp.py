"""NCP against its definition, record by record."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Microdata, Policy
from discreet.errors import DataError, ParameterError
from discreet.losses.ncp.measure import Ncp
from discreet.model.cells import ColumnCells, parse_group, parse_interval
from discreet.testing import table


def penalty(value, cell, low, high, leaves):
    """The penalty of one cell by the definition."""
    if value is None:
        return 0.0
    if cell is None or cell == "*":
        return 1.0
    if isinstance(value, str):
        group = parse_group(cell)
        if group is not None:
            share = min(1.0, len(group.members) / leaves) if len(group.members) > 1 else 0.0
            return share if value in group.members else 1.0
        return 0.0 if cell == value else 1.0
    interval = parse_interval(cell)
    if interval is None:
        return min(1.0, abs(float(cell) - value) / (high - low)) if high > low else float(float(cell) != value)
    bottom, top = (min(max(edge, low), high) for edge in (interval.lower, interval.upper))
    share = (top - bottom) / (high - low) if high > low else 0.0
    if value in interval:
        return share
    distance = max(bottom - value, value - top, 0)
    return min(1.0, share + distance / (high - low)) if high > low else 1.0


number_cells = st.one_of(
    st.none(),
    st.just("*"),
    st.integers(0, 9).map(str),
    st.tuples(st.integers(0, 9), st.integers(1, 5)).map(lambda t: f"{t[0]}..{sum(t)}"),
)
text_cells = st.one_of(st.none(), st.sampled_from(["a", "b", "c", "{a|b}", "{c}", "*"]))
rows_of = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 9)), number_cells, st.one_of(st.none(), st.sampled_from("abc")), text_cells),
    max_size=10,
)


@settings(deadline=None, max_examples=80)
@given(rows_of, st.floats(0.1, 5))
def test_ncp_is_the_weighted_mean_of_the_penalties_of_all_cells(rows, weight):
    frame = pl.DataFrame(rows, schema={"n": pl.Int64, "m": pl.String, "t": pl.String, "u": pl.String}, orient="row")
    policy = Policy.from_dict({"attributes": {"n": {"role": "key"}, "t": {"role": "key"}}})
    data = Microdata(frame.select("n", "t"), policy)
    # values that the original does not hold are values because the column says that it holds plain text
    masked = Microdata(frame.select(n="m", t="u"), policy, cells={"t": ColumnCells(kind="text")})
    score = Ncp(weights={"n": weight}).measure(data, masked)
    numbers = [row[0] for row in rows if row[0] is not None] or [0]
    leaves = len({row[2] for row in rows} - {None})
    share = weight / (weight + 1)
    expected = [
        share * penalty(n, m, min(numbers), max(numbers), leaves) + (1 - share) * penalty(t, u, 0, 0, leaves)
        for n, m, t, u in rows
    ]
    assert score.per_record["loss"].to_list() == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert score["loss"] == pytest.approx(sum(expected) / len(rows) if rows else 0, rel=1e-9, abs=1e-12)
    gone = [(n, m) for n, m, _, _ in rows] + [(t, u) for _, _, t, u in rows]
    assert score["suppressed"] == sum(before is not None and after in (None, "*") for before, after in gone)
    assert score["values"] == 2 * len(rows)


def test_equal_weights_make_it_the_share_of_suppressed_values():
    data = table({"a": [1, 2, 3, 4], "b": list("wxyz"), "c": [1, 1, 1, 1]}, key=["a", "b"])
    masked = data.with_columns({"a": pl.Series([1, None, 3, None]), "b": pl.Series(["w", "x", "y", None])})
    assert Ncp().measure(data, masked)["loss"] == 3 / (4 * 2)
    assert Ncp().measure(data, data)["loss"] == 0


def test_every_value_of_a_dropped_column_counts_as_suppressed():
    data = table({"a": [1, 2, None], "b": [1, 2, 3]}, key=["a", "b"])
    masked = Microdata(data.frame.drop("a"), Policy.from_dict({"attributes": {"b": {"role": "key"}}}))
    score = Ncp().measure(data, masked)
    assert (score["loss"], score["suppressed"]) == (pytest.approx(2 / 6), 2)


def test_records_are_compared_by_their_link_and_removed_ones_are_counted():
    data = table({"a": [10, 20, 30, 40]}, key=["a"])
    masked = data.replace(pl.DataFrame({"a": ["*", "20", "7"]}), data.records[[3, 1, 0]] * [1, 1, -1] - [0, 0, 5])
    score = Ncp().measure(data, masked)
    assert (score["loss"], score["records_lost"], score["values"]) == (0.5, 2, 2)
    assert score.per_record["loss"].to_list() == [1.0, 0.0, None]
    part = data.take(data.records[[1, 3]])
    assert Ncp().measure(part, part)["loss"] == 0
    assert Ncp().measure(part, part.take(part.records[:1]))["records_lost"] == 1


def test_a_file_of_another_length_without_a_link_has_a_note_instead_of_a_loss():
    data = table({"a": [10, 20, 30]}, key=["a"])
    score = Ncp().measure(data, Microdata(pl.DataFrame({"a": [10, 20]}), data.policy, "masked.csv"))
    assert score["loss"] is None
    assert "nothing links them" in score.notes[0]


def test_the_penalty_of_a_label_is_its_share_of_the_leaves_and_of_an_interval_its_share_of_the_range():
    spec = {"groups": [{"ab": ["a", "b"], "c": ["c"]}]}
    policy = Policy.from_dict(
        {"attributes": {"t": {"role": "key", "hierarchy": spec}, "n": {"role": "key", "hierarchy": {"widths": [5]}}}}
    )
    data = Microdata(pl.DataFrame({"t": ["a", "b", "c"], "n": [0, 5, 20]}), policy)
    masked = data.with_columns({"t": pl.Series(["ab", "ab", "c"]), "n": pl.Series(["0..5", "5..10", "20..25"])})
    per = {row["attribute"]: row["loss"] for row in Ncp().measure(data, masked).per_attribute.to_dicts()}
    assert per == pytest.approx({"t": (2 / 3 + 2 / 3) / 3, "n": (0.25 + 0.25 + 0) / 3})


def test_without_keys_the_attributes_that_an_attacker_may_know_are_compared():
    attributes = {"a": {"known": 0.5}, "id": {"role": "identifier", "known": 1}, "s": {"role": "confidential"}}
    data = Microdata(pl.DataFrame({"a": [1, 2], "id": [1, 2], "s": [1, 2]}), Policy.from_dict({"attributes": attributes}))
    masked = data.with_columns({"a": pl.Series([None, 2])})
    assert Ncp().measure(data, masked)["loss"] == 0.5
    assert Ncp(attributes=("s",)).measure(data, masked)["loss"] == 0
    with pytest.raises(DataError, match="ncp needs attributes"):
        Ncp().measure(table({"a": [1]}), table({"a": [1]}))
    with pytest.raises(ParameterError, match="names 'aa', which is not compared; did you mean 'a'"):
        Ncp(weights={"aa": 1}).measure(data, masked)
    with pytest.raises(ParameterError, match="all 0"):
        Ncp(weights={"a": 0}).measure(data, masked)
