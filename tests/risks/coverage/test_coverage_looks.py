"""What a column looks like, in several languages, and what only looks a little like it."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from discreet.engine.recognition.looks import describe_look
from discreet.engine.recognition.value_facts import facts_of
from discreet.model.microdata import Microdata

RNG = np.random.default_rng(3)


def describe_column(name, values):
    """What the values look like, or None."""
    (facts,) = facts_of(Microdata(pl.DataFrame({name: values})))
    return describe_look(facts)


def some(words, number=200):
    listed = words.split(",")
    return [listed[i].strip() for i in RNG.integers(0, len(listed), number)]


def crossed(first, last, number=200):
    return [f"{one} {other}" for one, other in zip(some(first, number), some(last, number), strict=True)]


ENGLISH = "James, Mary, Robert, Patricia, Devon, Jennifer, Michael, Linda, Kevon, Elizabeth"
GERMAN = "Jürgen, Heike, Wolfgang, Sabine, Dörte, Uwe, Petra, Klaus"
SPANISH = "José, María, Jesús, Begoña, Carmen, Javier, Iñaki"
SURNAMES = "Smith, Johnson, Philpot, Rodriguez, Nguyen, Laporte, Fischer, Wisniewska, Okafor, Garcia"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("first", some(ENGLISH)),
        ("last", some(SURNAMES)),
        ("contestant", crossed(ENGLISH, SURNAMES)),
        ("FirstName", some(GERMAN)),
        ("c_name", [f"{last}, {first}" for first, last in zip(some(ENGLISH), some(SURNAMES), strict=True)]),
        ("x", some(SPANISH)),
        ("V17", [text.upper() for text in some(SURNAMES)]),
        ("vorname", some(GERMAN)),
        ("player", [text.lower() for text in crossed(GERMAN, SURNAMES)]),
    ],
)
def test_names_of_people_are_recognised_by_their_values(name, values):
    assert describe_column(name, values) is not None
    assert "name" in describe_column(name, values)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([f"p{i}@example.org" for i in range(50)], "e-mail address"),
        ([f"+49 30 1234{i:04d}" for i in range(50)], "phone number"),
        ([f"https://example.org/{i}" for i in range(50)], "web address"),
        ([f"{52 + i / 1000:.4f}, {13 + i / 997:.4f}" for i in range(50)], "geographic coordinates"),
        ([f"Patient {i} came in with {i % 7} complaints and left after {i % 5} days" for i in range(80)], "free text"),
        ([f"2013-CF-{i:05d}" for i in RNG.permutation(80)], "record numbers"),
        ([dt.date(1930, 1, 1) + dt.timedelta(days=int(i)) for i in RNG.integers(0, 25_000, 300)], "dates of birth"),
        ([int(i) for i in RNG.permutation(90)], "record numbers"),
    ],
)
def test_contacts_numbers_texts_and_birth_dates_are_recognised(values, expected):
    assert describe_column("v", values) == expected


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("diagnosis", some("Malignant neoplasm of the breast, Type 2 diabetes mellitus without complications, Asthma, Flu")),
        ("city", some("Paris, Berlin, Springfield, Jackson, Florence, San Jose, Aachen, Lyon, Tampere, Oslo, Houston, Porto")),
        ("state", some("Virginia, Georgia, Carolina, Ohio, Texas, Utah, Nevada, Maine")),
        ("drug", some("metformin, insulin, glipizide, aspirin")),
        ("species", some("Iris setosa, Iris virginica, Canis lupus, Felis catus, Homo sapiens")),
        ("job", some("Exec-managerial, Craft-repair, Sales, Tech-support, Other-service, Prof-specialty")),
        ("visits", RNG.integers(0, 9, 200)),
        ("score", np.round(RNG.normal(size=200), 3)),
        ("admitted", [dt.date(2014, 1, 1) + dt.timedelta(days=int(i)) for i in RNG.integers(0, 700, 200)]),
        ("constant", ["Peter"] * 50),
    ],
)
def test_what_is_harmless_is_not_called_a_name_a_contact_or_free_text(name, values):
    assert describe_column(name, values) is None


@pytest.mark.parametrize("name", ["birth_year", "Geburtsjahr", "yob"])
def test_years_of_birth_are_recognised_by_the_name(name):
    years = RNG.integers(1930, 2005, 300).tolist()
    assert describe_column(name, years) == "years of birth (by the column's name)"
    assert describe_column("built", years) is None
    assert describe_column(name, [1, 2, 3] * 100) is None


REPEATED = ["good team", "call back later please", "wants part time work", "no further comments"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("complained about supervisor Frau Keller", "texts that name people"),
        ("plainte contre Mme Dupont au bureau", "texts that name people"),
        ("call 079 555 12 34", "phone numbers"),
        ("tel 01 42 68 53 00 le soir", "phone numbers"),
        ("ring 020 7946 0958 after six", "phone numbers"),
    ],
)
def test_people_in_remarks_that_repeat_are_recognised(text, expected):
    """Remarks with a supervisor's name and a phone number, each in many records, were released with the verdict met."""
    assert describe_column("remark", (REPEATED * 60)[:235] + [text] * 5) == expected


@pytest.mark.parametrize(
    "text",
    ["seen on 01.02.2013 at 14:30", "seen 01-02-2013", "code 012 345", "Herr of the house", "room 0123 45", "Ms and Mr alike"],
)
def test_dates_codes_and_titles_alone_are_no_people(text):
    assert describe_column("v", (REPEATED * 60)[:235] + [text] * 5) is None
