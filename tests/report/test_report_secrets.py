"""Whatever masks or measures a table, what is planted in it is nowhere in the report."""

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
from discreet.report.redaction import Discretion


def told(text: str, secrets: dict[str, Any]) -> list[str]:
    plain = html.unescape(text)
    return [name for name, value in secrets.items() if str(value) in plain]


def test_no_masking_method_lets_a_secret_into_the_report(people: Microdata, secrets: dict[str, Any]) -> None:
    ran = []
    for name in registry.names("masking"):
        step: dict[str, Any] = {"method": name}
        for field, said in registry.load("masking", name).model_fields.items():
            if said.examples:
                step[field] = said.examples[0]
        try:
            made = discreet.mask(people, {"seed": 1, "steps": [step]})
            content = gather(people, made)
        except DiscreetError:
            continue  # a method that this table does not suit
        ran.append(name)
        assert not told(as_json(content), secrets), f"after {name}"
    assert len(ran) >= 8, ran


@pytest.mark.parametrize("kind", ["risk", "loss"])
def test_no_measure_lets_a_secret_into_the_report(
    kind: str, people: Microdata, secrets: dict[str, Any], readings: Callable[[str], list[str]]
) -> None:
    ran = []
    for name in registry.names(kind):  # type: ignore[arg-type]
        attributes = dict(people.policy.attributes)
        if name == "repeated_records":
            attributes["ssn"] = attributes["ssn"].model_copy(update={"role": Role.PERSON})
        data = people.with_policy(people.policy.with_(**{kind: {name: {}}, "limits": {}, "attributes": attributes}))
        try:
            content = gather(data, discreet.mask(data, {"steps": [{"method": "rounding", "columns": ["age"], "base": 10}]}))
        except DiscreetError:
            continue  # a measure that needs more than this table
        ran.append(name)
        assert not told(as_json(content), secrets), f"by {name}"
        assert not any(told(text, secrets) for text in readings(render(content))), f"by {name}"
    assert len(ran) >= 4, ran


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
def test_a_note_that_names_a_secret_loses_it(sentence: str, people: Microdata, secrets: dict[str, Any]) -> None:
    made = Discretion(people).sentence(sentence)
    assert not told(made, secrets)
    assert "(withheld)" in made
    assert Discretion(people, internal=True).sentence(sentence) == sentence
    assert Discretion(people).sentence("the nurse of Lund is 3 of 12") == "the nurse of Lund is 3 of 12"
