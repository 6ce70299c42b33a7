"""Limits as sentences: every limit of every installed measure reads as one, and a blank gives the number back."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import registry
from discreet.assessment.limit_sentences import example_sentences, limit_sentence, sentence_of
from discreet.errors import PolicyError
from discreet.model.presets.catalogue import AUDIENCES, PRESETS

LIMITS = [
    f"{name}.{field}"
    for kind in ("risk", "loss")
    for name in registry.installed_names(kind)
    for field in registry.load(kind, name).better
]


@pytest.mark.parametrize("limit", LIMITS)
def test_every_limit_reads_as_a_sentence_without_code_names(limit):
    required = 5.0 if registry.resolve_limit(limit)[3] == "high" else 0.25
    sentence = limit_sentence(limit, required)
    assert sentence[0].isupper()
    assert "_" not in sentence
    assert sentence.count("(") == sentence.count(")")
    assert len(sentence.split()) >= 5
    shown = {"number": f"{required:g}", "percent": f"{required * 100:g} %", "one_in": f"{1 / required:g}"}
    assert re.search(rf"\b{re.escape(shown[sentence_of(limit).blank])}", sentence)


@given(st.sampled_from(LIMITS), st.floats(0.001, 1))
def test_what_is_shown_in_the_blank_is_read_back_as_the_same_limit_or_a_stricter_one(limit, required):
    sentence = sentence_of(limit)
    again = sentence.parse(sentence.show(required).replace(",", ""))
    if sentence.blank == "one_in":
        assert again <= required * (1 + 1e-6)
        assert math.ceil(1 / again - 1e-9) == math.ceil(1 / required - 1e-9)
    else:
        assert again == pytest.approx(required, rel=1e-5)


def test_a_limit_of_one_in_eleven_is_met_by_classes_of_eleven_and_shown_so():
    sentence = sentence_of("reidentification.prosecutor_max")
    assert sentence.parse("11") >= 1 / 11
    assert sentence.fill(sentence.parse("11")) == "Nobody is easier to find than one in 11"


@pytest.mark.parametrize("typed", ["", "x", "nan", "inf", "0.5"])
def test_a_blank_without_a_sensible_number_says_what_it_needs(typed):
    with pytest.raises(PolicyError, match=r"Nobody is easier to find than one in ….*a number of at least 1"):
        sentence_of("reidentification.prosecutor_max").parse(typed)


def test_a_limit_of_zero_says_no_in_place_of_at_most_0():
    assert limit_sentence("known_sets.high_risk", 0) == "There are no records at high risk, whatever is known"
    assert limit_sentence("rare_values.least_count", 0) == "There are at least 0 records that share the rarest value"
    assert limit_sentence("falsehood.loss", 0) == "At most 0 % of the released values are not true"


def test_sentences_of_plug_ins_name_fields_that_can_be_limited_and_have_one_blank():
    examples = example_sentences()
    assert {example.limit for example in examples} <= set(LIMITS)
    for example in examples:
        plugin = registry.load(*registry.resolve_limit(example.limit)[:2])
        text = plugin.limit_sentences[example.limit.split(".")[1]]
        assert len(re.findall(r"\{(number|percent|one_in)\}", text)) == 1, text
        assert ("{percent}" in text) == ("{percent} %" in text), text


def test_each_audience_has_presets_that_exist_and_the_public_gets_the_strictest_classes():
    assert all(name in PRESETS for audience in AUDIENCES.values() for name in audience.presets)
    least = [PRESETS[AUDIENCES[name].presets[0]].limits["k_anonymity.k"] for name in ("public", "research", "internal")]
    assert least == sorted(least, reverse=True)


@pytest.mark.parametrize(
    ("limit", "required", "sentence"),
    [
        ("rare_values.rare", 3, "There are at most 3 records with a rare value"),
        ("rare_values.least_count", 3, "There are at least 3 records that share the rarest value"),
        ("k_anonymity.classes", 7, "There are at most 7 equivalence classes (distinct combinations of key values)"),
        ("rare_values.share", 0.25, "The share of rare values is at most 25 % (their share of all records)"),
        ("changed_values.loss", 0.25, "The share of the values that changed, 0 to 1, is at most 25 %"),
        ("decision.worst", 0.5, "The largest risk over the dictionaries (worst case) is at most 0.5"),
        ("known_sets.reidentification_max", 0.5,
         "The largest probability of being identified (knowledge: independent) is at most 0.5"),
    ],
    ids=["counted", "counted, at least", "counted, explained", "unnamed", "with a comma", "one number", "colon in parentheses"],
)  # fmt: skip
def test_a_field_without_a_sentence_gets_one_from_its_meaning(limit: str, required: float, sentence: str) -> None:
    assert limit_sentence(limit, required) == sentence


def test_a_risk_of_0_needs_infinitely_many():
    assert limit_sentence("reidentification.prosecutor_max", 0) == "Nobody is easier to find than one in infinitely many"


def test_a_blank_takes_the_least_number_that_makes_sense_and_says_what_another_needs():
    assert sentence_of("reidentification.prosecutor_max").parse("1") == 1.0
    with pytest.raises(PolicyError, match=r"^'At most … % of the released values are not true' needs a number; got 'x'$"):
        sentence_of("falsehood.loss").parse("x")
    with pytest.raises(PolicyError, match=r"^'There are at most … records with a rare value' needs a number; got 'x'$"):
        sentence_of("rare_values.rare").parse("x")
