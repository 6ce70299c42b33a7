"""Records taken out of their table with the counts they had there: every choice among them is that of the whole table."""

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
    content = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    known = {"zip": 0.4, "age": 0.5, "sex": 0.9, "ill": 0.05}
    return table(content, key=["zip", "age", "sex"], confidential=["ill"], known=known, sensitivity={"ill": 1.0, "sex": 0.2})


def apart(whole: TargetingState, rule: SuppressionRule) -> tuple[RecordSubset, Any]:
    """The records above the threshold, and some that are not."""
    rows = whole.initial.slots[(whole.initial.per_record.risk > rule.level) | (whole.initial.slots % 3 == 0)]
    columns = [Column(one.name, one.codes[rows].astype(np.uint32), one.values, one.has_null) for one in whole.columns]
    listed = weights_of(whole.data, whole.initial.names)
    singles = [place for place in range(whole.tree.width) if whole.names[place] in listed]
    made = RecordSubset.from_counts(
        whole.initial.names, whole.tree, singles, whole.data.records[rows], columns, whole.record_weights(rows), whole.null_weights,
        whole.count_agreeing(rows), len(whole.data), "wildcard", jointly=True,
    )  # fmt: skip
    return made, rows


@settings(deadline=None, max_examples=60)
@given(st.lists(ROW, min_size=1, max_size=40), st.sampled_from(STEPS), st.sampled_from([0.05, 0.2, 0.5]))
def test_what_is_taken_is_what_the_whole_table_loses(rows: list[Any], step: dict[str, Any], threshold: float) -> None:
    data = people([(zipcode, age, sex, ill or "none") for zipcode, age, sex, ill in rows])
    plugin = TargetedSuppression(epsilon=0.001, alpha=1, threshold=threshold, **step)
    whole = TargetingState.of(data, epsilon=0.001, max_sets=1000, missing="wildcard")
    rule = plugin.rule(whole.names, data, plugin.choose(data))
    some, mine = apart(whole, rule)
    asked = np.isin(whole.initial.slots, mine)
    assert some.initial.per_record.risk.tolist() == whole.initial.per_record.risk[asked].tolist(), "to the last bit"
    assert some.initial.per_record.top_node.tolist() == whole.initial.per_record.top_node[asked].tolist()
    if plugin.passes == 1:
        made, other = whole.copy(), some.copy()
        told, said = suppress_once(made, rule), suppress_once(other, rule)
    else:
        (made, told), (other, said) = suppress_until_safe(whole, rule), suppress_until_safe(some, rule)  # type: ignore[assignment]
    assert (made.nulls(mine) == other.nulls(np.arange(len(mine)))).all()
    assert (said.values_changed, said.passes, said.cost) == (told.values_changed, told.passes, told.cost)
    assert mine[said.remaining].tolist() == told.remaining.tolist()
    assert said.remaining_risk.tolist() == told.remaining_risk.tolist()
    assert said.cost_bound == pytest.approx(told.cost_bound) if told.cost_bound is not None else said.cost_bound is None


def test_records_may_be_asked_for_in_any_order() -> None:
    """All records above the threshold, the riskiest first: each gets its own counts."""
    random = np.random.default_rng(1)
    zips, ages = random.choice(list("abcd"), 40).tolist(), random.integers(20, 24, 40).tolist()
    data = people([(zips[at], ages[at], "fm"[at % 2], "Flu") for at in range(40)])
    made = TargetingState.of(data, epsilon=0.001, max_sets=1000, missing="wildcard")
    rows = random.permutation(40)
    assert made.measure_risks(rows).tolist() == made.measure_risks(np.arange(40))[rows].tolist()
