"""What an assessment does with losses that there is no time for: it ends, and says what it did not measure."""

from __future__ import annotations

import time

import pytest

import discreet
from discreet import registry
from discreet.assessment.release import assess_release
from discreet.engine.runtime.progress import OutOfTimeError, stop_after
from discreet.model.results import Release
from discreet.testing import students


def masked_students(limits: dict[str, float]) -> Release:
    data = students(400)
    plan = {"steps": [{"method": "global_recoding", "columns": ["age"], "level": 1}]}
    risk = {"k_anonymity": {}}
    loss = {"ncp": {}, "falsehood": {}, "associations": {}}
    policy = data.policy.with_(limits=limits, risk=risk, loss=loss, plan=type(data.policy).from_dict({"plan": plan}).plan)
    return discreet.mask(data.with_policy(policy))


@pytest.mark.parametrize("name", ["ncp", "falsehood", "associations"])
def test_a_loss_of_many_attributes_stops_at_a_deadline(name: str) -> None:
    release = masked_students({"k_anonymity.k": 2})
    measure = registry.create("loss", name, {}, origin="test")
    with pytest.raises(OutOfTimeError), stop_after(time.monotonic() - 1):
        measure.measure(release.original, release.masked)


def test_a_loss_without_time_is_named_and_a_limit_on_it_is_incomplete() -> None:
    release = masked_students({"k_anonymity.k": 1, "ncp.loss": 0.9})
    past = time.monotonic() - 1
    assessment = assess_release(release.original, release, past, last=past)
    assert not assessment.losses
    assert sum("no time left" in warning for warning in assessment.warnings if warning.startswith("ncp")) == 1
    statuses = {verdict.limit: verdict.status for verdict in assessment.verdicts}
    assert statuses["ncp.loss"] == "incomplete"
    assert not assessment.ok


def test_an_assessment_with_time_has_every_loss() -> None:
    release = masked_students({"k_anonymity.k": 1})
    assessment = assess_release(release.original, release, last=time.monotonic() + 600)
    assert set(assessment.losses) == {"ncp", "falsehood", "associations"}
