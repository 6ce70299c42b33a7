"""A measure that cannot be taken does not end an assessment: it is told with its reason, and no limit on it is met."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

import discreet
from discreet.assessment.release import assess_release
from discreet.cli.app import app
from discreet.engine.runtime import progress
from discreet.errors import DataError
from discreet.losses.ncp.measure import Ncp
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.score import Score
from discreet.risks.inference.measure import Inference
from discreet.risks.l_diversity.measure import LDiversity
from discreet.testing import table

COLUMNS = {"age": [1, 1, 2, 2], "sick": ["a", "b", "a", "b"]}


def _data(limits: dict[str, float], risk: dict[str, Any]) -> Microdata:
    data = table(COLUMNS, key=["age"], confidential=["sick"])
    return data.with_policy(data.policy.with_(limits=limits, risk=risk))


def _refuse(*_: Any, **__: Any) -> Score:
    raise DataError("planted: this table has no such column")


def test_a_limit_on_a_measure_that_fails_is_incomplete_and_the_others_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LDiversity, "measure", _refuse)
    data = _data({"l_diversity.l": 1, "k_anonymity.k": 2}, {"l_diversity": {}, "k_anonymity": {}})
    assessment = discreet.assess(data, data)
    verdicts = {verdict.limit: verdict for verdict in assessment.verdicts}
    assert verdicts["k_anonymity.k"].status == "met"
    assert verdicts["l_diversity.l"].status == "incomplete"
    assert "planted" in verdicts["l_diversity.l"].sentence
    assert assessment.status == "incomplete"
    assert "l_diversity" not in assessment.after


def test_a_measure_without_a_limit_that_fails_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LDiversity, "measure", _refuse)
    assessment = discreet.assess(*[_data({"k_anonymity.k": 2}, {"l_diversity": {}, "k_anonymity": {}})] * 2)
    assert any(warning.startswith("l_diversity could not be measured: planted") for warning in assessment.warnings)
    assert "k_anonymity" in assessment.after


def test_a_loss_that_fails_is_told_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ncp, "measure", _refuse)
    data = _data({"ncp.loss": 0.9, "k_anonymity.k": 2}, {"k_anonymity": {}})
    assessment = discreet.assess(data, data)
    verdicts = {verdict.limit: verdict for verdict in assessment.verdicts}
    assert verdicts["ncp.loss"].status == "incomplete"
    assert "planted" in verdicts["ncp.loss"].sentence
    assert verdicts["k_anonymity.k"].status == "met"


def test_the_command_line_goes_on_after_a_data_error_and_exits_with_1(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,sick\n1,a\n1,b\n2,a\n2,b\n")
    policy = {
        "attributes": {"age": {"role": "key"}, "sick": {"role": "confidential"}},
        "risk": {"inference": {"known": ["age", "sick"]}, "k_anonymity": {}},
        "limits": {"inference.risk": 0.5, "k_anonymity.k": 2},
    }
    (tmp_path / "p.yaml").write_text(yaml.safe_dump(policy))
    call = ["assess", str(tmp_path / "t.csv"), str(tmp_path / "t.csv"), "-p", str(tmp_path / "p.yaml"), "--json"]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 1, result.output
    limits = {limit["limit"]: limit for limit in json.loads(result.stdout)["limits"]}
    assert limits["k_anonymity.k"]["found"] == 2
    assert limits["inference.risk"]["status"] == "incomplete"
    assert "needs a secret" in limits["inference.risk"]["sentence"]


def _out_of_time_with_all(measure: Inference, data: Microdata, *, original: Microdata | None = None) -> Score:
    if measure.attacks == "all":
        raise progress.OutOfTimeError("inference")
    return Score("inference", {"risk": 0.0, "attacks": 2}, bounds={"risk": (0.0, 0.01)})


def test_a_limit_on_attacks_that_there_was_no_time_to_make_in_full_is_not_met(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Inference, "measure", _out_of_time_with_all)
    data = _data({"inference.risk": 0.5}, {"inference": {"attacks": "all"}})
    assessment = assess_release(data, data, last=time.monotonic() + 60)
    (verdict,) = assessment.verdicts
    assert verdict.status == "incomplete"
    assert "number of a sample" in verdict.sentence
    assert verdict.found == 0.01
    assert not assessment.ok


def test_a_search_samples_attacks_and_the_chosen_policy_makes_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int | str] = []
    own = Inference.measure

    def watched(measure: Inference, data: Microdata, *, original: Microdata | None = None) -> Score:
        made.append(measure.attacks)
        return own(measure, data, original=original)

    monkeypatch.setattr(Inference, "measure", watched)
    rows = {"age": [n % 5 for n in range(60)], "sick": [str(n % 2) for n in range(60)]}
    data = table(rows, key=["age"], confidential=["sick"])
    policy = Policy.from_dict({**data.policy.model_dump(exclude_defaults=True), "limits": {"inference.risk": 0.9}})
    chosen = discreet.select(data.with_policy(policy), trials=2)
    assert made[0] == 2_000
    assert made[-1] == "all"
    assert chosen.policy.risk["inference"]["attacks"] == "all"
    assert chosen.assessment.after["inference"]["attacks"] == 60
    assert any("rests for inference on 60 attacks" in sentence for sentence in chosen.sentences)
    again = discreet.assess(data.with_policy(chosen.policy), chosen.release)
    assert again.verdicts == chosen.assessment.verdicts
