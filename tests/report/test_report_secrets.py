"""Whatever method or measure is used, planted values are nowhere in the public report."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import pytest

import discreet
from discreet import registry
from discreet.errors import DiscreetError
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.report.evidence import gather
from discreet.report.page import as_json, render
from discreet.report.redaction import Redactor


def disclosed(text: str, secrets: dict[str, Any]) -> list[str]:
    plain = html.unescape(text)
    return [name for name, value in secrets.items() if str(value) in plain]


def test_no_masking_method_discloses_a_planted_value_in_the_report(people: Microdata, secrets: dict[str, Any]) -> None:
    tested = []
    for name in registry.installed_names("masking"):
        step: dict[str, Any] = {"method": name}
        for field, info in registry.load("masking", name).model_fields.items():
            if info.examples:
                step[field] = info.examples[0]
        try:
            content = gather(people, discreet.mask(people, {"seed": 1, "steps": [step]}))
        except DiscreetError:
            continue  # a method that this table does not suit
        tested.append(name)
        assert not disclosed(as_json(content), secrets), f"after {name}"
    assert len(tested) >= 8, tested


@pytest.mark.parametrize("kind", ["risk", "loss"])
def test_no_measure_discloses_a_planted_value_in_the_report(
    kind: str, people: Microdata, secrets: dict[str, Any], readings: Callable[[str], list[str]]
) -> None:
    tested = []
    for name in registry.installed_names(kind):  # type: ignore[arg-type]
        attributes = dict(people.policy.attributes)
        if name == "repeated_records":
            attributes["ssn"] = attributes["ssn"].model_copy(update={"role": Role.PERSON})
        data = people.with_policy(people.policy.with_(**{kind: {name: {}}, "limits": {}, "attributes": attributes}))
        try:
            content = gather(data, discreet.mask(data, {"steps": [{"method": "rounding", "columns": ["age"], "base": 10}]}))
        except DiscreetError:
            continue  # a measure that needs more than this table
        tested.append(name)
        assert not disclosed(as_json(content), secrets), f"by {name}"
        assert not any(disclosed(text, secrets) for text in readings(render(content))), f"by {name}"
    assert len(tested) >= 4, tested


@pytest.mark.parametrize(
    "sentence",
    [
        "the name Xavier Plantedname stands alone",
        "'Xavier Plantedname' stands alone.",
        "levels: nurse, Astronautplanted.",
        "the value (Plantedfever) is rare",
        "number 987-65-4321, and more",
    ],
)
def test_a_planted_value_is_removed_from_a_note(sentence: str, people: Microdata, secrets: dict[str, Any]) -> None:
    redacted = Redactor(people).redact_sentence(sentence)
    assert not disclosed(redacted, secrets)
    assert "(withheld)" in redacted
    assert Redactor(people, internal=True).redact_sentence(sentence) == sentence
    assert Redactor(people).redact_sentence("the nurse of Lund is 3 of 12") == "the nurse of Lund is 3 of 12"
