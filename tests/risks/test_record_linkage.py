"""The distance attack, against the definition and against known truth."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.statistics.wilson import wilson_interval
from discreet.errors import DataError
from discreet.model.cells import parse_group
from discreet.risks.record_linkage.measure import RecordLinkage
from discreet.testing import table

numbers = st.one_of(st.none(), st.integers(-3, 3))
jobs = st.one_of(st.none(), st.sampled_from(["cook", "maid"]))
masked_jobs = st.one_of(jobs, st.sampled_from(["{cook|maid}", "*"]))


def plainly(originals, masked, kinds):
    """Expected correct links and those within 2, 5 and 10, record by record over all pairs."""
    spread = []
    for at, kind in enumerate(kinds):
        known = [row[at] for row in originals if row[at] is not None]
        deviation = float(np.std(known)) if kind == "number" and known else 0.0
        spread.append(deviation or 1.0)

    def distance(record, original):
        total = 0.0
        for at, kind in enumerate(kinds):
            said, true = record[at], original[at]
            if said is None or said == "*":
                continue
            if true is None:
                total += 1
            elif kind == "number":
                total += ((said - true) / spread[at]) ** 2
            else:
                group = parse_group(said)
                total += not (true in group if group else true == said)
        return math.sqrt(total)

    made = []
    for row, record in enumerate(masked):
        all_of_them = [distance(record, original) for original in originals]
        own = all_of_them[row]
        nearer = sum(one < own * (1 - 1e-9) for one in all_of_them)
        ties = sum(abs(one - own) <= own * 1e-9 for one in all_of_them)
        made.append([min(1.0, max(0.0, (k - nearer) / ties)) for k in (1, 2, 5, 10)])
    return np.array(made)


def check(originals, masked, kinds, schema, masked_schema):
    original = table({}, key=[]).replace(pl.DataFrame(originals, schema=schema, orient="row"), np.arange(len(originals)))
    release = original.replace(pl.DataFrame(masked, schema=masked_schema, orient="row"))
    score = RecordLinkage().measure(release, original=original)
    expected = plainly(originals, masked, kinds)
    assert score.per_record["correct"].to_numpy() == pytest.approx(expected[:, 0], abs=1e-9)
    assert score["correct"] == pytest.approx(expected[:, 0].sum())
    assert [score[f"within_{k}"] for k in (2, 5, 10)] == pytest.approx(expected[:, 1:].mean(axis=0))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.tuples(numbers, jobs), st.tuples(numbers, masked_jobs)), min_size=1, max_size=25))
def test_mixed_attributes_with_nulls_and_groups(pairs):
    schema = {"x": pl.Int64, "job": pl.String}
    check([one for one, _ in pairs], [other for _, other in pairs], ["number", "category"], schema, schema)


whole = st.integers(-3, 3)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.tuples(whole, jobs), st.tuples(whole, jobs)), min_size=1, max_size=40))
def test_mixed_attributes_are_ranked_by_tree_or_brute_force_alike(pairs):
    schema = {"x": pl.Int64, "job": pl.String}
    check([one for one, _ in pairs], [other for _, other in pairs], ["number", "category"], schema, schema)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.tuples(whole, whole), st.tuples(whole, whole)), min_size=1, max_size=40))
def test_numbers_are_ranked_by_the_tree_with_many_ties(pairs):
    schema = {"x": pl.Int64, "y": pl.Int64}
    check([one for one, _ in pairs], [other for _, other in pairs], ["number", "number"], schema, schema)


def normal_table(size=1000, seed=1):
    rng = np.random.default_rng(seed)
    return table({name: rng.normal(size=size).tolist() for name in "abc"}, key=["a", "b", "c"]), rng


def test_an_unmasked_release_is_linked_completely_and_a_shuffled_one_at_the_baseline():
    data, rng = normal_table()
    untouched = RecordLinkage().measure(data, original=data)
    assert untouched["correct_share"] == 1.0
    assert untouched["interval_disclosure"] == 1.0
    shuffled = data.replace(data.frame[rng.permutation(len(data))])
    score = RecordLinkage().measure(shuffled, original=data)
    assert score["baseline_share"] == 1 / 1000
    assert score["lower"] <= score["baseline_share"] <= score["upper"]
    assert score["correct_share"] < 0.01


def test_the_share_with_noise_lies_between_unmasked_and_shuffled():
    data, rng = normal_table()
    shares = []
    for noise in (0.05, 0.3, 1.0):
        changed = {name: data.frame[name] + pl.Series(rng.normal(scale=noise, size=len(data))) for name in data.columns}
        shares.append(RecordLinkage().measure(data.with_columns(changed), original=data)["correct_share"])
    assert 1 > shares[0] > shares[1] > shares[2] > 0


def test_the_interval_covers_the_truth_in_repeated_simulation():
    data, rng = normal_table(300)
    found = []
    for _ in range(60):
        changed = {name: data.frame[name] + pl.Series(rng.normal(scale=0.3, size=len(data))) for name in data.columns}
        found.append(RecordLinkage(attacks=150).measure(data.with_columns(changed), original=data))
    truth = np.mean([one["correct_share"] for one in found])
    assert sum(one["lower"] <= truth <= one["upper"] for one in found) >= 54


def test_the_control_attack_averages_to_the_baseline():
    rng = np.random.default_rng(3)
    data = table({"a": rng.integers(0, 5, 400).tolist(), "b": rng.choice(["x", "y"], 400).tolist()}, key=["a", "b"])
    score = RecordLinkage().measure(data, original=data)
    assert score["control_share"] == pytest.approx(score["baseline_share"], abs=3 * math.sqrt(1 / 400 / 40 / 400))
    assert score["correct"] == pytest.approx(10.0)  # ten classes, each gives one link in expectation


def test_simulated_and_removed_records_are_not_attacked():
    data = table({"a": [1.0, 2.0, 3.0, 4.0]}, key=["a"])
    mixed = data.replace(pl.DataFrame({"a": [3.0, 9.0]}), np.array([2, -1]))
    score = RecordLinkage().measure(mixed, original=data)
    assert (score["correct"], score["attacks"]) == (1.0, 1)
    assert score.per_record["correct"].to_list() == [1.0, None]


def test_masked_intervals_are_read_at_their_midpoint_and_labels_by_their_hierarchy():
    from discreet.model.attribute import Attribute, Role
    from discreet.model.microdata import Microdata
    from discreet.model.policy import Policy

    policy = Policy(attributes={"zip": Attribute(role=Role.KEY, hierarchy={"prefixes": [3]}), "age": Attribute(role=Role.KEY)})
    original = Microdata(pl.DataFrame({"zip": ["48201", "48202", "50001"], "age": [22, 28, 31]}), policy)
    masked = original.with_columns(
        {"zip": pl.Series(["482**", "482**", "500**"]), "age": pl.Series(["20..24", "26..30", "30..34"])}
    )
    assert RecordLinkage().measure(masked, original=original)["correct"] == 3.0


def test_an_empty_table_and_tables_that_do_not_fit():
    empty = table({"a": []}, key=["a"])
    assert RecordLinkage().measure(empty, original=empty)["correct"] == 0.0
    data = table({"a": [1, 2]}, key=["a"])
    with pytest.raises(DataError, match="needs the original table"):
        RecordLinkage().measure(data)
    with pytest.raises(DataError, match="which original record each masked one comes from"):
        RecordLinkage().measure(data, original=table({"a": [1, 2, 3]}, key=["a"]))
    with pytest.raises(DataError, match="share no attribute"):
        RecordLinkage().measure(data, original=table({"b": [1, 2]}, key=["b"]))


def test_wilsons_interval_stays_inside_zero_and_one():
    assert wilson_interval(0, 10, 0.95)[0] == 0.0
    assert wilson_interval(10, 10, 0.95)[1] == 1.0
    assert wilson_interval(0, 0, 0.95) == (0.0, 1.0)
