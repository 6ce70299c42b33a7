"""What a public report says of a limit whose number lies between two bounds on both sides of it."""

from __future__ import annotations

from typing import Any

from discreet.report.public_report.verdict import show_verdict


def public_sentence(limit: str, required: float, measured: float, sentence: str) -> str:
    judged = {"limit": limit, "wanted": required, "found": measured, "status": "incomplete", "sentence": sentence}
    verdict: dict[str, Any] = {
        "limits": [judged | {"measured_release": None, "measured_informed": measured}], "warnings": [], "gaps": []
    }  # fmt: skip
    evidence = {"verdict": verdict, "adversaries": [], "losses": [], "tables": {"masked": {"records": 320}}}
    return str(show_verdict(evidence, [], [])["limits"][0]["sentence"])


def test_the_interval_is_named_and_not_its_upper_end_as_the_measured_number() -> None:
    sentence = "inference.risk is not decided: it is between 0 and 0.155865; at most 0.09 is required"
    assert public_sentence("inference.risk", 0.09, 0.155865, sentence) == (
        "inference.risk is not decided: it is between 0 and 0.156; at most 0.09 is required"
    )


def test_small_counts_at_the_ends_of_an_interval_are_not_shown() -> None:
    sentence = "known_sets.high_risk is not decided (3 records are undecided): it is between 1 and 3; at most 0 is required"
    shown = public_sentence("known_sets.high_risk", 0, 3, sentence)
    assert not any(digit in shown for digit in "123"), shown
