"""Releases that looked safe because the evidence did not cover them: each must not be met."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.errors import UnexplainedCellError
from discreet.model.results import NO_RISK_LIMIT

PEOPLE = 120


def people(**sections):
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "region": np.sort(rng.integers(0, 6, PEOPLE)),
            "age": rng.integers(20, 80, PEOPLE),
            "sex": rng.choice(["f", "m"], PEOPLE),
            "disease": rng.choice(["flu", "cold", "cancer"], PEOPLE),
        }
    )
    roles = {"region": {"role": "key"}, "age": {"role": "key"}, "sex": {"role": "key"}, "disease": {"role": "confidential"}}
    return discreet.read(frame, {"attributes": roles, **sections})


@pytest.mark.parametrize("limits", [{"ncp.loss": 0.5}, {"known_sets.sets": 10_000}, {"coverage.unexamined": 3}])
def test_limits_that_say_nothing_about_risk_do_not_make_a_release_green(limits):
    attributes = {"age": {"role": "key", "known": 0.3}, "disease": {"role": "confidential", "sensitivity": 1.0}}
    data = discreet.read(people().frame.select("age", "disease"), {"attributes": attributes, "limits": limits})
    assessment = discreet.assess(data, discreet.mask(data))
    assert NO_RISK_LIMIT in assessment.gaps
    assert not assessment.ok


def test_a_limit_on_records_is_incomplete_where_persons_have_several():
    frame = pl.DataFrame({"person": np.repeat(np.arange(40), 5), "age": np.repeat(np.arange(40), 5)})
    policy = {"attributes": {"person": {"role": "person"}, "age": {"role": "key"}}, "limits": {"k_anonymity.k": 5}}
    data = discreet.read(frame, policy)
    assessment = discreet.assess(data, discreet.mask(data))
    assert not assessment.ok
    assert any("repeated_records" in gap for gap in assessment.gaps)


def test_a_release_that_was_sorted_after_it_was_written_is_in_doubt(tmp_path: Path):
    data = people(
        risk={"record_linkage": {}}, limits={"record_linkage.correct_share": 0.3},
        plan={"steps": [{"method": "swapping", "how": "random", "columns": ["age"], "share": 0.05}]},
    )  # fmt: skip
    discreet.write(discreet.mask(data), tmp_path / "release.parquet")
    for order in ("shuffled", "kept"):
        released = pl.read_parquet(tmp_path / "release.parquet").sort("region", "disease", "sex", "age")
        plan = data.policy.plan.model_copy(update={"order": order})
        assessment = discreet.assess(data.with_policy(data.policy.with_(plan=plan)), discreet.read(released, data.policy))
        assert not assessment.ok
        assert any("in other rows" in gap for gap in assessment.gaps), order


@pytest.mark.parametrize("target", ["release.csv", "sqlite"])
def test_labels_that_read_like_numbers_are_refused_where_nothing_explains_them(tmp_path: Path, target: str):
    groups = {str(number + 1): [number] for number in range(6)}
    data = people(
        risk={"target_linkage": {}}, limits={"target_linkage.max": 0.09},
        plan={"steps": [{"method": "global_recoding", "columns": ["region"], "groups": groups}]},
    )  # fmt: skip
    place = f"sqlite:///{tmp_path}/s.db#t" if target == "sqlite" else str(tmp_path / target)
    discreet.write(discreet.mask(data), place)
    for sidecar in tmp_path.glob("*.cells.yaml"):
        sidecar.unlink()
    with pytest.raises(UnexplainedCellError, match="label of the plan that reads like a value"):
        discreet.assess(data, discreet.read(place, data.policy))


def test_a_release_with_a_duration_can_be_written(tmp_path: Path):
    frame = people().frame.with_columns(stay=pl.duration(days=pl.int_range(PEOPLE)))
    data = discreet.read(frame, people().policy)
    discreet.write(discreet.mask(data), tmp_path / "release.parquet")
    assert pl.read_parquet(tmp_path / "release.parquet").height == PEOPLE


def test_a_limit_that_cannot_fail_is_named():
    data = people(limits={"k_anonymity.k": 1})
    assessment = discreet.assess(data, discreet.mask(data))
    assert "every table meets the limit k_anonymity.k: 1, so it judges nothing" in assessment.warnings
    assert not any("every table" in warning for warning in discreet.assess(people(limits={"k_anonymity.k": 2}), data).warnings)


@pytest.mark.parametrize("limits", [{"known_sets.high_risk_share": 5}, {"k_anonymity.k": 0.05}, {"target_linkage.max": 9}])
def test_a_limit_beyond_what_any_table_can_have_does_not_make_a_release_green(limits):
    attributes = {"age": {"role": "key", "known": 0.3}, "disease": {"role": "confidential", "sensitivity": 1.0}}
    data = discreet.read(people().frame.select("age", "disease"), {"attributes": attributes, "limits": limits})
    assessment = discreet.assess(data, discreet.mask(data))
    assert assessment.status == "incomplete"
    assert any("beyond the worst number that any table can have" in gap for gap in assessment.gaps)
