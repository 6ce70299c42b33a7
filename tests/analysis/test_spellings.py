"""One category in several spellings is named, texts that only resemble each other and those of single persons are not."""

import polars as pl
import pytest

from discreet.analysis.analyzer import profile_table
from discreet.analysis.spellings import describe_spellings
from discreet.engine.recognition.value_facts import facts_of
from discreet.model.microdata import Microdata


def describe(*texts, times=10):
    return describe_spellings(facts_of(Microdata(pl.DataFrame({"x": [*texts] * times})))[0])


def test_case_alone_makes_no_other_category():
    frame = pl.DataFrame(
        {"Geschl.": ["m"] * 95 + ["M"] * 5 + ["männlich"] * 4 + ["w"] * 100, "Alter": [20 + at % 60 for at in range(204)]}
    )
    reason = profile_table(Microdata(frame))["Geschl."].reason
    assert "'M' (5 records) and 'm' (95 records) differ only in case, spaces or punctuation and look like one category" in reason
    assert "recode them before, or by groups of global_recoding" in reason
    assert "männlich" not in reason


@pytest.mark.parametrize(
    "texts",
    [("Innere I", "innere I"), ("self employed", "Self-employed"), ("Wien", "Wien "), ("New York", "NewYork"), ("w.", "w")],
)
def test_case_spaces_and_punctuation_make_no_other_category(texts):
    assert "look like one category" in describe(*texts, "another")


@pytest.mark.parametrize(
    "texts",
    [
        ("A+", "A-"),
        ("A", "A-"),
        ("10-19", "1019"),
        ("E11.9", "E119"),
        ("<5", "5"),
        ("+1", "1"),
        ("male", "m"),
        ("Muller", "Müller"),
    ],
)
def test_signs_digits_and_other_words_make_another_category(texts):
    assert describe(*texts) == ""


def test_no_spelling_of_a_single_person_is_named():
    assert describe("Abc Def", "abc def", *(f"text {letter * 4}" for letter in "abcdefgh"), times=1) == ""
    assert describe("Abc Def", "abc def", times=2) == ""
    names = [f"Person {letter}" for letter in "abcdefghij"] * 5 + [f"person {letter}" for letter in "abcdefghij"]
    frame = pl.DataFrame({"Name": names, "sex": ["f", "m"] * 30})
    assert "spaces or punctuation" not in profile_table(Microdata(frame))["Name"].reason


def test_many_categories_are_counted_and_the_most_frequent_named():
    texts = [text for letter in "abcde" for text in (f"ward {letter}x", f"Ward {letter}x")]
    assert "and 2 more categories differ only" in describe(*texts)
