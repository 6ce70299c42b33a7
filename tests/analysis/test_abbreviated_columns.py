"""Columns as hospitals and offices write them: abbreviated names, letters for the sexes, numbers beside a marker for missing."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet
from discreet.engine.recognition.column_names import look_up_name
from discreet.model.attribute import Level, Role


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
