"""A subset of the records, with the counts of the whole table: every choice among them is the same as in the whole table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.engine.encoding.columns import Column
from discreet.engine.known_sets.inputs import weights_of
from discreet.engine.targeting.rule import SuppressionRule
from discreet.engine.targeting.state import TargetingState
from discreet.masking.targeted_suppression.method import TargetedSuppression
from discreet.masking.targeted_suppression.passes import suppress_once, suppress_until_safe
from discreet.masking.targeted_suppression.subset import RecordSubset
from discreet.testing import table

ROW = st.tuples(st.sampled_from("abcd"), st.integers(20, 23), st.sampled_from("fm"), st.sampled_from(["Flu", "Cold", None]))
STEPS: list[dict[str, Any]] = [
    {},
    {"choose": "fewest", "weights": {"zip": 2.5, "age": 0.7}},
    {"side": "sensitive"},
    {"side": "cheapest", "choose": "fewest", "protect": ["sex"]},
    {"passes": 1, "side": "cheapest"},
    {"passes": 1},
]


def people(rows: list[Any]) -> discreet.Microdata:
    names = ("zip", "age", "sex", "ill")
    content = {name: [row[index] for row in rows] for index, name in enumerate(names)}
    known = {"zip": 0.4, "age": 0.5, "sex": 0.9, "ill": 0.05}
    return table(content, key=["zip", "age", "sex"], confidential=["ill"], known=known, sensitivity={"ill": 1.0, "sex": 0.2})


def take_subset(whole: TargetingState, rule: SuppressionRule) -> tuple[RecordSubset, Any]:
    """The subset of the records above the threshold and some others, and their rows."""
    rows = whole.initial.slots[(whole.initial.per_record.risk > rule.level) | (whole.initial.slots % 3 == 0)]
    columns = [
        Column(column.name, column.codes[rows].astype(np.uint32), column.values, column.has_null) for column in whole.columns
    ]
    listed = weights_of(whole.data, whole.initial.names)
    singles = [index for index in range(whole.tree.width) if whole.names[index] in listed]
    subset = RecordSubset.from_counts(
        whole.initial.names, whole.tree, singles, whole.data.records[rows], columns, whole.record_weights(rows),
        whole.null_weights, whole.count_agreeing(rows), len(whole.data), "wildcard", jointly=True,
    )  # fmt: skip
    return subset, rows


@settings(deadline=None, max_examples=30)
@given(st.lists(ROW, min_size=1, max_size=40), st.sampled_from(STEPS), st.sampled_from([0.05, 0.2, 0.5]))
def test_a_subset_of_the_records_loses_the_same_values_as_in_the_whole_table(
    rows: list[Any], step: dict[str, Any], threshold: float
) -> None:
    data = people([(zipcode, age, sex, ill or "none") for zipcode, age, sex, ill in rows])
    plugin = TargetedSuppression(epsilon=0.001, alpha=1, threshold=threshold, **step)
    whole = TargetingState.of(data, epsilon=0.001, max_sets=1000, missing="wildcard")
    rule = plugin.rule(whole.names, data, plugin.choose(data))
    subset, subset_rows = take_subset(whole, rule)
    is_in_subset = np.isin(whole.initial.slots, subset_rows)
    assert subset.initial.per_record.risk.tolist() == whole.initial.per_record.risk[is_in_subset].tolist(), "to the last bit"
    assert subset.initial.per_record.top_node.tolist() == whole.initial.per_record.top_node[is_in_subset].tolist()
    if plugin.passes == 1:
        whole_result, subset_result = whole.copy(), subset.copy()
        whole_outcome, subset_outcome = suppress_once(whole_result, rule), suppress_once(subset_result, rule)
    else:
        whole_result, whole_outcome = suppress_until_safe(whole, rule)
        subset_result, subset_outcome = suppress_until_safe(subset, rule)  # type: ignore[assignment]
    assert (whole_result.nulls(subset_rows) == subset_result.nulls(np.arange(len(subset_rows)))).all()
    assert (subset_outcome.values_changed, subset_outcome.passes, subset_outcome.cost) == (
        whole_outcome.values_changed,
        whole_outcome.passes,
        whole_outcome.cost,
    )
    assert subset_rows[subset_outcome.remaining].tolist() == whole_outcome.remaining.tolist()
    assert subset_outcome.remaining_risk.tolist() == whole_outcome.remaining_risk.tolist()
    assert (
        subset_outcome.cost_bound == pytest.approx(whole_outcome.cost_bound)
        if whole_outcome.cost_bound is not None
        else subset_outcome.cost_bound is None
    )


def test_records_may_be_measured_in_any_order() -> None:
    """Each record gets its own counts, also if the records are not in ascending order."""
    random = np.random.default_rng(1)
    zips, ages = random.choice(list("abcd"), 40).tolist(), random.integers(20, 24, 40).tolist()
    data = people([(zips[row], ages[row], "fm"[row % 2], "Flu") for row in range(40)])
    state = TargetingState.of(data, epsilon=0.001, max_sets=1000, missing="wildcard")
    rows = random.permutation(40)
    assert state.measure_risks(rows).tolist() == state.measure_risks(np.arange(40))[rows].tolist()
