"""A limit on known_sets is judged on what is certain over all known sets: decided, or incomplete with what remains."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.model.policy import Policy


def _table(limits: dict[str, float], **known_sets: Any) -> discreet.Microdata:
    """Ten attributes that are each hardly ever known: epsilon drops nearly all sets, which find nearly everybody."""
    rng = np.random.default_rng(11)
    frame = pl.DataFrame({f"x{at}": rng.integers(0, 4, 200) for at in range(10)} | {"ill": ["y", "n"] * 100})
    attributes: dict[str, Any] = {f"x{at}": {"role": "key", "known": 0.3} for at in range(10)}
    attributes["ill"] = {"role": "confidential", "sensitivity": 1.0, "values": {"y": 1.0, "n": 0.5}}
    content = {"attributes": attributes, "risk": {"known_sets": known_sets}, "limits": limits}
    return discreet.read(frame, Policy.from_dict(content))


def _exact(data: discreet.Microdata, **more: Any) -> Any:
    said = data.policy.risk["known_sets"]
    return discreet.risk(data, {"known_sets": {**said, "epsilon": 0, **more}})["known_sets"]


COARSE = {"alpha": 1, "epsilon": 0.2, "threshold": 1.0}


def test_nothing_is_taken_for_decided_that_is_not() -> None:
    """Without narrowing 0 records seem high-risk while nearly all are undecided: that was called kept."""
    data = _table({"known_sets.high_risk": 0}, **COARSE, max_sets=20)
    plain = discreet.risk(data)["known_sets"]
    assert plain["high_risk"] == 0
    assert plain["undecided"] > 100
    found = discreet.assess(data, data)
    assert not found.ok
    assert found.status == "incomplete"
    assert "records are undecided" in found.verdicts[0].sentence


def test_assess_narrows_until_every_record_is_decided() -> None:
    data = _table({"known_sets.high_risk": 0}, **COARSE)
    truth = _exact(data)["high_risk"]
    assert truth > 0
    found = discreet.assess(data, data)
    assert found.after["known_sets"]["undecided"] == 0
    assert found.after["known_sets"]["high_risk"] == truth
    assert found.status == "not met"


@pytest.mark.parametrize(
    ("field", "better"),
    [("high_risk", "low"), ("high_risk_share", "low"), ("max", "low"), ("mean", "low"), ("effective_k_min", "high"),
     ("effective_k_median", "high"), ("below_5", "low")],
)  # fmt: skip
@pytest.mark.parametrize("margin", [0.98, 1.02])
def test_a_limit_near_the_truth_is_settled_on_the_right_side(field: str, better: str, margin: float) -> None:
    truth = float(_exact(_table({}, **COARSE))[field])
    limit = truth * margin if field != "high_risk" else round(truth + 100 * (margin - 1))
    data = _table({f"known_sets.{field}": limit}, **COARSE)
    wanted = (truth <= limit) if better == "low" else (truth >= limit)
    found = discreet.assess(data, data)
    assert found.verdicts[0].status == ("met" if wanted else "not met")


def test_where_the_bounds_settle_a_limit_nothing_is_narrowed() -> None:
    data = _table({"known_sets.max": 1000}, **COARSE)
    found = discreet.assess(data, data)
    assert found.verdicts[0].status == "met"
    assert found.after["known_sets"]["undecided"] == discreet.risk(data)["known_sets"]["undecided"]


def test_among_is_decided_too() -> None:
    data = _table({"known_sets.high_risk": 0}, alpha=1, epsilon=0.2, threshold={"among": 3})
    found = discreet.assess(data, data)
    assert found.after["known_sets"]["undecided"] == 0
    assert found.after["known_sets"]["high_risk"] == _exact(data)["high_risk"]


def test_a_limit_on_a_risk_that_nothing_can_raise_is_incomplete() -> None:
    data = _table({"known_sets.high_risk": 0}, **COARSE)
    bare = {name: one.model_copy(update={"sensitivity": 0.0, "values": {}}) for name, one in data.policy.attributes.items()}
    data = data.with_policy(data.policy.with_(attributes=bare))
    found = discreet.assess(data, data)
    assert found.status == "incomplete"
    assert any("known_sets is 0 for every record of the original" in gap for gap in found.gaps)


def test_the_summary_says_what_is_undecided_before_what_is_high_risk() -> None:
    score = discreet.risk(_table({}, **COARSE))["known_sets"]
    names = list(score.summary)
    assert names.index("undecided") + 1 == names.index("high_risk")
    assert score.notes[0].startswith("undecided: whether ")


def test_a_limit_that_is_surely_missed_says_how_many_records_are_undecided() -> None:
    data = _table({"known_sets.max": 0.001}, **COARSE, max_sets=20)
    assessment = discreet.assess(data, data)
    assert assessment.status == "not met"
    undecided = assessment.after["known_sets"]["undecided"]
    assert undecided > 1
    assert assessment.verdicts[0].sentence.endswith(f"; {undecided:,} records are undecided")


def test_effective_class_sizes_that_are_uncertain_are_shown_as_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    from discreet.cli.output import print_scores

    data = _table({}, **COARSE, max_sets=20)
    scores = discreet.risk(data)
    low, high = scores["known_sets"].bounds["effective_k_min"]
    exact = _exact(data, max_sets=1_000_000)
    assert low < exact["effective_k_min"] < high
    (note,) = [note for note in scores["known_sets"].notes if "effective_k_min" in note]
    assert f"effective_k_min is between {low:,.6g} and {high:,.6g}" in note
    print_scores(scores, {})
    assert f"{low:,.6g} to {high:,.6g}" in capsys.readouterr().out
    assert not [note for note in exact.notes if "effective_k_min" in note]
