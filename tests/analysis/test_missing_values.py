"""Texts that read like a missing value: the analyzer takes them for missing where that is safe, and asks elsewhere."""

import numpy as np
import polars as pl
import pytest
from command_line import run_command

import discreet
from discreet.analysis.analyzer import profile_table
from discreet.analysis.markers import find_missing_markers, find_texts_like_missing
from discreet.engine.recognition.value_facts import facts_of
from discreet.model.attribute import Level
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy, parse_policy

DRAW = np.random.default_rng(3)
N = 200


def among(marker, *values, records=12):
    """A column of these values, in which some records have the marker."""
    column = DRAW.choice(values, N).astype(object)
    column[:records] = marker
    return column.tolist()


def frame(**columns):
    return pl.DataFrame({"sex": DRAW.choice(["f", "m"], N), "age": DRAW.integers(18, 90, N), **columns})


def propose(policy=None, **columns):
    return profile_table(Microdata(frame(**columns), Policy.from_dict(policy or {})))


@pytest.mark.parametrize(
    ("name", "marker"),
    [
        ("region", "NA"),
        ("country", "na"),
        ("smoker", "Unknown"),
        ("job", "keine Angabe"),
        ("q1", "Don't know"),
        ("q1", "not stated"),
    ],
)
def test_a_category_that_reads_like_a_missing_value_is_asked_about(name, marker):
    proposal = propose(**{name: among(marker, "north", "south", "east")})
    assert proposal[name].attribute.missing == ()
    (note,) = proposal.value_notes
    assert note.startswith(f"{marker!r} reads like a missing value and is treated as a category in {name} (12 records); ")
    assert "at the attribute" in note
    assert f"{marker!r} (12 records) reads like a missing value and is treated as a category" in proposal[name].reason
    assert note in proposal.to_dict()["notes"]
    assert note in " ".join(proposal.to_yaml().replace("#", " ").split())


def test_what_the_note_says_to_write_is_read_as_missing():
    data = Microdata(frame(region=among("NA", "north", "south")))
    (note,) = profile_table(data).value_notes
    field = note.split("write ")[1].split(" at the attribute")[0]
    assert field == "missing: [NA]"
    for policy in (f"attributes: {{region: {{{field}}}}}", field):
        again = discreet.read(data.frame, parse_policy(policy))
        assert again.frame["region"].null_count() == 12
        assert profile_table(again).value_notes == ()


def test_a_text_in_many_columns_is_one_note():
    columns = {f"item{number}": among("Refused", "red", "green", "blue") for number in range(9)}
    (note,) = propose(**columns).value_notes
    assert "item0 (12 records), item1 (12 records), item2 (12 records), item3 (12 records) and 5 more columns" in note


def test_a_sign_is_proposed_as_missing_with_its_records():
    proposal = propose(colour=among("n/a", "red", "green", "blue"))
    assert proposal["colour"].attribute.missing == ("n/a",)
    (note,) = proposal.value_notes
    assert note.startswith("'n/a' is proposed as a missing value in colour (12 records)")
    assert "treated as a category" not in proposal["colour"].reason


def test_numbers_beside_a_word_for_missing_are_numbers(tmp_path):
    path = tmp_path / "table.csv"
    incomes = [str(number) for number in DRAW.integers(1_000, 90_000, N)]
    frame(income=["unknown", *incomes[1:]]).write_csv(path)
    proposal = profile_table(discreet.read(path))
    assert proposal["income"].attribute.level is Level.NUMERIC
    assert proposal["income"].attribute.missing == ("unknown",)
    assert discreet.read(path, proposal.policy()).frame["income"].dtype == pl.Int64


def test_a_word_beside_codes_with_leading_zeros_stays_a_category():
    proposal = propose(zip=among("unknown", "01067", "04103", "09111"))
    assert proposal["zip"].attribute.missing == ()
    assert "'unknown' reads like a missing value" in proposal.value_notes[0]


def test_steps_of_a_scale_beside_a_sign_for_missing_are_ordered():
    proposal = propose(pain=among("NA", "low", "medium", "high"))
    assert proposal["pain"].attribute.order == ("low", "medium", "high")
    assert proposal["pain"].attribute.missing == ("NA",)
    data = Microdata(frame(pain=among("NA", "low", "medium", "high"))).frame
    assert discreet.read(data, proposal.policy()).frame["pain"].null_count() == 12


@pytest.mark.parametrize(
    "decided", [{"missing": []}, {"missing": ["NA"]}, {"order": ["NA", "low", "medium", "high"]}, {"values": {"NA": 1.0}}]
)
def test_what_the_policy_decides_is_not_asked_again(decided):
    data = frame(region=among("NA", "low", "medium", "high"), pain=among("NA", "low", "medium", "high"))
    policy = {"attributes": {"region": {"role": "key"} | decided, "pain": {"role": "confidential"} | decided}}
    proposal = profile_table(discreet.read(data, policy))
    assert proposal.value_notes == ()
    for name in ("region", "pain"):
        assert proposal[name].attribute.missing == tuple(decided.get("missing", ()))
    discreet.risk(discreet.read(data, proposal.policy()), "k_anonymity")  # the proposal contradicts nothing that was decided


def test_identifiers_are_not_asked_about_because_they_are_removed():
    assert propose(name=among("NA", "Anna Smith", "Peter Miller", "Maria Jones")).value_notes == ()


@pytest.mark.parametrize("text", ["none", "no", "other", "nano", "na na", "unknowns", "Narnia", "a.", "x-", "known"])
def test_other_words_are_categories(text):
    facts = facts_of(Microdata(pl.DataFrame({"x": [text, "a", "b"]})))[0]
    assert find_texts_like_missing(facts) == {}
    assert find_missing_markers(facts) == ()


def test_the_command_line_says_it(tmp_path):
    path = tmp_path / "table.csv"
    frame(region=among("NA", "north", "south")).write_csv(path)
    run = run_command("analyze", str(path), folder=tmp_path)
    assert run.returncode == 0
    assert "'NA' reads like a missing value and is treated as a category in region (12 records)" in " ".join(run.stderr.split())
