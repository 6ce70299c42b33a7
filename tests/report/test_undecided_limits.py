"""What a public report says of a limit whose number lies between two bounds on both sides of it."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import discreet
from discreet.cli.output import format_fields
from discreet.model.policy import Policy
from discreet.report.evidence import collect
from discreet.report.public_report.evidence import publish
from discreet.report.public_report.verdict import show_verdict


def public_sentence(limit: str, required: float, measured: float, sentence: str) -> str:
    judged = {"limit": limit, "wanted": required, "found": measured, "status": "incomplete", "sentence": sentence}
    verdict: dict[str, Any] = {
        "limits": [judged | {"measured_release": None, "measured_informed": measured}], "warnings": [], "gaps": []
    }  # fmt: skip
    evidence = {"verdict": verdict, "adversaries": [], "losses": [], "tables": {"masked": {"records": 320}}}
    return str(show_verdict(evidence, [], [])["limits"][0]["sentence"])


def known_beside_keys(limits: dict[str, float]) -> discreet.Microdata:
    """200 people whom sixty columns with a small probability single out, which no kept set has."""
    columns = {"sex": ["f", "m"] * 100} | {f"c{number}": list(range(200)) for number in range(60)}
    attributes: dict[str, Any] = {name: {"known": 0.01} for name in columns}
    attributes |= {"sex": {"role": "key", "known": 0.5}, "ill": {"role": "confidential", "sensitivity": 1.0}}
    risk: dict[str, Any] = {"known_sets": {"alpha": 1, "threshold": 0.05}, "k_anonymity": {}}
    content = {"attributes": attributes, "risk": risk, "limits": limits, "plan": {"steps": []}}
    return discreet.read(pl.DataFrame(columns | {"ill": ["y"] * 200}), Policy.from_dict(content))


@pytest.mark.parametrize(("limits", "bounds"), [({"k_anonymity.k": 1}, (0, 200)), ({"known_sets.mean": 1}, (200, 200))])
def test_a_report_and_a_table_give_counts_as_they_are_over_all_known_sets(
    limits: dict[str, float], bounds: tuple[int, int]
) -> None:
    """A report gave 104 records at high risk where 110 to 664 were certain and possible; with a limit none, where all were."""
    data = known_beside_keys(limits)
    release = discreet.mask(data)
    score = discreet.assess(data, release).after["known_sets"]
    assert (score["below_5"], score.bounds["below_5"]) == (0, bounds)
    assert format_fields(score)["below_5"] == (200 if bounds == (200, 200) else "0 to 200")
    exact = collect(data, release)
    (adversary,) = [entry for entry in exact["adversaries"] if entry["measure"] == "known_sets"]
    fields = {field["field"]: field["after"] for field in adversary["fields"]}
    assert fields["below_5"] == fields["high_risk"] == 200
    assert fields["effective_k_min"] == pytest.approx(1.402424)
    (public,) = [entry for entry in publish(exact)["adversaries"] if entry["measure"] == "known_sets"]
    for entry in (adversary, public):
        assert any("less safe end of their interval" in note for note in entry["notes"])


def test_the_interval_is_named_and_not_its_upper_end_as_the_measured_number() -> None:
    sentence = "inference.risk is not decided: it is between 0 and 0.155865; at most 0.09 is required"
    assert public_sentence("inference.risk", 0.09, 0.155865, sentence) == (
        "inference.risk is not decided: it is between 0 and 0.156; at most 0.09 is required"
    )


def test_small_counts_at_the_ends_of_an_interval_are_not_shown() -> None:
    sentence = "known_sets.high_risk is not decided (3 records are undecided): it is between 1 and 3; at most 0 is required"
    shown = public_sentence("known_sets.high_risk", 0, 3, sentence)
    assert not any(digit in shown for digit in "123"), shown
