"""The fast parts of coverage against slow and obvious ones, on random small tables."""

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.engine.encoding.columns import encode_series
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.coverage.comparison import differing_values
from discreet.risks.coverage.determinants import bin_codes, determinants_of
from discreet.risks.coverage.kernels import follow_tree, grow_tree, mode_of_cells, score_pairs
from discreet.risks.coverage.measure import Coverage
from discreet.risks.coverage.pairing import pair
from discreet.risks.coverage.read_back import groupings, read_back
from discreet.risks.coverage.singling import find_combinations, share_unique

rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


def arrays(found):
    return [np.array(column, dtype=np.int64) for column in zip(*found, strict=True)]


@given(rows)
def test_the_mode_of_a_cell_is_its_commonest_value_the_smallest_on_ties(found):
    cells, truth, _ = arrays(found)
    modes = mode_of_cells(cells, truth, 5, 4)
    for cell in range(5):
        counts = Counter(int(value) for one, value in zip(cells, truth, strict=True) if one == cell)
        assert modes[cell] == (min(counts, key=lambda value: (-counts[value], value)) if counts else -1)


@given(rows, st.integers(0, 2**40))
def test_a_pair_predicts_a_row_from_the_last_one_with_the_same_two_codes(found, bits):
    one, other, truth = arrays(found)
    judged = np.array([bool(bits >> at & 1) for at in range(len(truth))])
    score = score_pairs(np.stack([one, other]), np.array([5, 4]), truth, judged)[0, 1]
    right = 0
    for row in range(len(truth)):
        before = [at for at in range(row) if one[at] == one[row] and other[at] == other[row]]
        right += bool(judged[row] and before and truth[before[-1]] == truth[row])
    assert score == right / max(int(judged.sum()), 1)


@given(rows)
def test_a_tree_without_a_least_leaf_is_right_wherever_codes_decide(found):
    one, other, truth = arrays(found)
    codes = np.stack([one, other])
    guessed = follow_tree(codes, *grow_tree(codes, truth, 5, 4, 8, 1))
    for pair_of_codes in {(a, b) for a, b in zip(one, other, strict=True)}:
        here = (one == pair_of_codes[0]) & (other == pair_of_codes[1])
        assert len(set(guessed[here])) == 1
    constant = len(set(truth.tolist())) == 1
    assert not constant or (guessed == truth).all()


def test_a_tree_finds_an_interaction():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 8, (3, 2_000))
    truth = (codes[0] > 3).astype(np.int64) + 2 * (codes[1] > 5)
    assert (follow_tree(codes, *grow_tree(codes, truth, 8, 4, 6, 5)) == truth).mean() > 0.99


@given(st.lists(st.one_of(st.none(), st.integers(-5, 30)), min_size=1, max_size=60), st.integers(2, 12))
def test_ranges_keep_the_order_and_set_nulls_apart(values, limit):
    column = encode_series(pl.Series("x", values, dtype=pl.Int64))
    codes, number = bin_codes(column, limit)
    assert number <= max(limit, 2) + 1
    assert codes.max() < number
    known = sorted((value, int(code)) for value, code in zip(values, codes, strict=True) if value is not None)
    assert [code for _, code in known] == sorted(code for _, code in known)
    blank = {int(code) for value, code in zip(values, codes, strict=True) if value is None}
    assert not blank & {code for _, code in known}


cells = st.one_of(st.none(), st.integers(0, 3))


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 5), cells, st.booleans()), min_size=2, max_size=40))
def test_values_are_read_back_where_all_visible_ones_of_the_group_agree(found):
    group, truth, blanked = (list(column) for column in zip(*found, strict=True))
    policy = Policy.from_dict({"attributes": {"hh": {"role": "household"}}})
    frame = pl.DataFrame({"hh": group, "state": pl.Series(truth, dtype=pl.Int64)})
    original = Microdata(frame, policy)
    released = [None if hide else value for value, hide in zip(truth, blanked, strict=True)]
    paired = pair(original.with_columns({"state": pl.Series(released, dtype=pl.Int64)}), original)
    assert paired is not None
    expected = 0
    for at, value in enumerate(truth):
        if released[at] == value:
            continue
        seen = {released[row] for row in range(len(truth)) if group[row] == group[at] and released[row] is not None}
        expected += seen == {value}
    result = read_back(paired, "state", groupings(paired, [], np.arange(len(truth))))
    assert result is None or result.cells == expected  # None: the column varies too much within the groups to be read


@given(rows)
def test_the_share_of_sample_uniques_is_counted(found):
    columns = [encode_series(pl.Series(str(at), column)) for at, column in enumerate(zip(*found, strict=True))]
    counts = Counter(found)
    assert share_unique(columns, len(found)) == pytest.approx(sum(n == 1 for n in counts.values()) / len(found))


def test_a_combination_is_the_smallest_that_singles_out():
    rng = np.random.default_rng(2)
    frame = {"a": rng.integers(0, 30, 400), "b": rng.integers(0, 30, 400), "flag": rng.integers(0, 2, 400)}
    columns = [encode_series(pl.Series(name, values)) for name, values in frame.items()]
    (found,) = find_combinations(columns, 400, 0.2, 3)
    assert set(found.columns) == {"a", "b"}
    assert found.share == share_unique(columns[:2], 400)


@pytest.mark.parametrize(
    ("released", "truth", "expected"),
    [
        ([1.0, 2.5], [1, 2], [False, True]),
        (["30..40", "34"], [34, 34], [True, False]),
        ([None, "a"], ["b", "a"], [True, False]),
        (["1"], [1.0], [False]),
    ],
)
def test_cells_are_compared_across_types(released, truth, expected):
    assert differing_values(pl.Series(released), pl.Series(truth)).tolist() == expected


@pytest.mark.parametrize("frame", [{"x": [1]}, {"x": [None, None]}, {"x": []}, {"x": [1, 1, 1], "y": ["a", "a", None]}])
def test_small_and_empty_tables_are_measured(frame):
    from discreet.risks.coverage.measure import Coverage

    original = Microdata(pl.DataFrame(frame, schema=dict.fromkeys(frame)))
    score = Coverage().measure(original, original=original)
    assert score.summary == {"unexamined": 0, "identifying": 0, "restorable": 0, "read_back": 0}
    emptied = original.with_columns({"x": pl.Series([None] * len(original), dtype=pl.String)})
    assert Coverage().measure(emptied, original=original)["restorable"] == 0


def test_a_group_label_that_is_wrong_as_often_as_right_gives_nothing_back():
    """Clusters that hide the records which differ: two clusters share a label, and only one of them shows its sex."""
    labels = [label for label in range(60) for _ in range(6)]
    truth = ["f"] * 360
    for label in range(60):  # the second half of each label is a cluster that holds both sexes in every tenth label
        if label % 10 == 0:
            truth[6 * label + 4 : 6 * label + 6] = ["m", "m"]
        elif label % 2:
            truth[6 * label : 6 * label + 6] = ["m"] * 6
    hidden = [label % 10 == 0 and place >= 3 for label in range(60) for place in range(6)]
    frame = pl.DataFrame({"date": [f"[{label}, {label + 1}]" for label in labels], "sex": truth})
    original = Microdata(frame, Policy.from_dict({"attributes": {"sex": {"role": "key"}, "date": {"role": "key"}}}))
    released = [None if hide else value for value, hide in zip(truth, hidden, strict=True)]
    paired = pair(original.with_columns({"sex": pl.Series(released)}), original)
    assert paired is not None
    sample = np.arange(360)
    groups = groupings(paired, determinants_of(paired, sample), sample)
    assert read_back(paired, "sex", groups) is None
    # the same labels where the column does not vary within them: what is masked there is read back
    constant = Microdata(
        frame.with_columns(pl.Series("sex", ["m" if (at // 6) % 2 else "f" for at in range(360)])), original.policy
    )
    sure = [None if at % 60 in (1, 2) else value for at, value in enumerate(constant.frame["sex"])]
    paired = pair(constant.with_columns({"sex": pl.Series(sure)}), constant)
    assert paired is not None
    shown = read_back(paired, "sex", groupings(paired, determinants_of(paired, sample), sample))
    assert shown is not None
    assert (shown.cells, shown.masked) == (12, 12)


def test_ranges_of_a_code_number_nobody_unless_each_record_has_its_own() -> None:
    """A group of near records publishes [16, 20] for the code of a job: a label that looks like a number of records."""
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({"PositionID": rng.integers(1, 40, 300), "age": rng.integers(20, 60, 300)})
    attributes: dict[str, Any] = {"PositionID": {"role": "confidential"}, "age": {"role": "key", "known": 0.5}}
    data = discreet.read(frame, Policy.from_dict({"attributes": attributes, "risk": {"k_anonymity": {}}}))
    step = {"method": "microaggregation", "columns": ["PositionID", "age"], "how": "mdav", "publish": "ranges", "size": 3}
    masked = discreet.mask(data, Policy.from_dict({"plan": {"steps": [step]}}).plan).masked
    assert masked.frame["PositionID"].n_unique() > 60
    assert Coverage().measure(masked, original=data)["unexamined"] == 0
    unique = pl.DataFrame({"PositionID": np.arange(300) * 2 + 1000, "age": frame["age"]})
    data = discreet.read(unique, data.policy)
    recoding = {"method": "global_recoding", "columns": ["PositionID"], "width": 2}
    numbered = discreet.mask(data, Policy.from_dict({"plan": {"steps": [recoding]}}).plan).masked
    assert Coverage().measure(numbered, original=data)["unexamined"] == 1
