"""Columns as hospitals and offices write them: abbreviated names, letters for the sexes, numbers beside a marker for missing."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import discreet
from discreet.engine.recognition.column_names import look_up_name
from discreet.model.attribute import Level, Role
from discreet.model.policy import Policy


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Geb.-Datum", "birth date"),
        ("Geschl.", "sex"),
        ("Fam.-Stand", "marital status"),
        ("Soz.-Vers.-Nr.", "national number"),
        ("Med. Rec. No.", "document number"),
        ("Dt. of Birth", "birth date"),
    ],
)
def test_a_name_with_dots_is_read_as_the_phrase_that_it_abbreviates(name: str, kind: str) -> None:
    named = look_up_name(name).kind
    assert named is not None
    assert named.name == kind


def test_dots_between_whole_words_abbreviate_nothing() -> None:
    named = look_up_name("annual.family.income").kind
    assert named is not None
    assert named.name == "income"
    assert look_up_name("Sepal.Length").kind is None


def _roles(path: Path, letters: str) -> dict[str, Role]:
    rows = [f"{letters[at % len(letters)]};{60 + at % 30},{at % 10};{1930 + at}" for at in range(60)]
    path.write_text("q1;q2;q3\n" + "\n".join(rows) + "\n")
    return {column.name: column.attribute.role for column in discreet.analyze(discreet.read(path)).columns}


@pytest.mark.parametrize("letters", ["mw", "MF", "mwd", "HF", "mv"])
def test_letters_for_the_sexes_are_recognised_in_several_languages(tmp_path: Path, letters: str) -> None:
    assert _roles(tmp_path / "table.csv", letters)["q1"] is Role.KEY


@pytest.mark.parametrize("letters", ["dw", "kx", "vd", "abcm"])
def test_other_letters_are_not_taken_for_sexes(tmp_path: Path, letters: str) -> None:
    assert _roles(tmp_path / "table.csv", letters)["q1"] is not Role.KEY


def test_numbers_beside_a_marker_for_missing_are_numeric_and_read_so_by_the_proposed_policy(tmp_path: Path) -> None:
    rows = [f"{1940 + at};{'k.A.' if at % 9 == 0 else f'{50 + at % 40},{at % 10}'}" for at in range(70)]
    path = tmp_path / "table.csv"
    path.write_text("Geb. Jahr;Gewicht\n" + "\n".join(rows) + "\n")
    profile = discreet.analyze(discreet.read(path))
    weight = next(column for column in profile.columns if column.name == "Gewicht")
    assert weight.attribute.level is Level.NUMERIC
    assert weight.attribute.missing == ("k.A.",)
    column = discreet.read(path, profile.policy).frame["Gewicht"]
    assert column.dtype.is_float()
    assert column.null_count() == 8
    assert column[1] == 51.1


@pytest.mark.parametrize("marker", ["n/a", "?", "k.A."])
def test_dates_beside_a_marker_for_missing_are_dates_and_are_masked_as_ranges_of_dates(tmp_path: Path, marker: str) -> None:
    """One 'n/a' among birth dates made them nominal, and a release published sets of five exact dates."""
    births = [f"{1 + at % 28:02d}.{1 + at % 12:02d}.{1950 + at % 50}" for at in range(200)]
    births[17] = births[60] = marker
    path = tmp_path / "table.csv"
    path.write_text("BirthDate,Sex\n" + "".join(f"{birth},{'mf'[at % 2]}\n" for at, birth in enumerate(births)))
    profile = discreet.analyze(discreet.read(path))
    attribute = next(column for column in profile.columns if column.name == "BirthDate").attribute
    assert attribute.level is Level.DATE
    assert attribute.missing == (marker,)
    steps = [{"method": "microaggregation", "columns": ["BirthDate"], "size": 5, "publish": "ranges"}]
    policy = profile.policy.with_(plan=Policy.from_dict({"plan": {"seed": 1, "steps": steps}}).plan)
    released = discreet.mask(discreet.read(path, policy)).masked.frame["BirthDate"]
    assert released.null_count() == 2
    assert released.drop_nulls().str.contains("|", literal=True).sum() == 0


def test_text_with_dates_and_another_word_is_no_date(tmp_path: Path) -> None:
    births = [f"{1 + at % 28:02d}.{1 + at % 12:02d}.{1950 + at % 50}" for at in range(200)]
    births[17], births[60] = "n/a", "about 1960"
    path = tmp_path / "table.csv"
    path.write_text("BirthDate,Sex\n" + "".join(f"{birth},{'mf'[at % 2]}\n" for at, birth in enumerate(births)))
    profile = discreet.analyze(discreet.read(path))
    assert next(column for column in profile.columns if column.name == "BirthDate").attribute.level is Level.NOMINAL


@pytest.mark.parametrize("name", ["Remark", "Comments", "Bemerkung"])
def test_remarks_are_free_text_although_most_of_them_repeat(name: str) -> None:
    """72 texts that one record alone held were released, because 8 others stood in the remaining 700 records."""
    phrases = ["works part-time", "has diabetes, needs breaks", "requested transfer", "speaks Polish and Turkish"]
    texts = [phrases[at % 4] for at in range(300)]
    for at in range(20):
        texts[10 * at] = f"daughter of the former director (badge {at})"
    frame = pl.DataFrame({name: texts, "sex": ["f", "m"] * 150, "age": [20 + at % 60 for at in range(300)]})
    profile = discreet.analyze(discreet.read(frame))
    assert next(column for column in profile.columns if column.name == name).attribute.role is Role.IDENTIFIER
    policy = {
        "attributes": {name: {"role": "confidential"}, "sex": {"role": "key"}},
        "limits": {"k_anonymity.k": 5},
    }
    data = discreet.read(frame, Policy.from_dict(policy))
    assert any(name in gap and "free text" in gap for gap in discreet.assess(data, discreet.mask(data)).gaps)


@pytest.mark.parametrize(
    ("name", "texts"), [("Note", ["1", "2", "3", "4"]), ("Comment", ["no comment at all", "see the file of 2019"])]
)
def test_marks_and_phrases_that_repeat_are_no_free_text(name: str, texts: list[str]) -> None:
    frame = pl.DataFrame({name: [texts[at % len(texts)] for at in range(200)], "sex": ["f", "m"] * 100})
    profile = discreet.analyze(discreet.read(frame))
    assert next(column for column in profile.columns if column.name == name).attribute.role is not Role.IDENTIFIER
