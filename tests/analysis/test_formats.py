"""Formats of identifying values, and columns whose values only resemble them."""

import uuid
from itertools import islice

import polars as pl
import pytest

from discreet.engine.recognition.formats import icd_share, match_form
from discreet.engine.recognition.value_facts import facts_of
from discreet.model.microdata import Microdata


def facts(values):
    (column_facts,) = facts_of(Microdata(pl.DataFrame({"x": values})))
    return column_facts


def valid(check, make, count=12):
    return list(islice(filter(check, map(make, range(10_000, 90_000))), count))


def test_forms_are_recognised():
    from discreet.engine.recognition import check_digits as cd

    cases = {
        "e-mail address": [f"p{n}@example.org" for n in range(5)],
        "web address": [f"https://example.org/{n}" for n in range(5)],
        "UUID": [str(uuid.UUID(int=n)) for n in range(5)],
        "IP address": [f"10.0.0.{n}" for n in range(5)],
        "hardware address": [f"00:1b:44:11:3a:{n:02x}" for n in range(10, 15)],
        "phone number": [f"+49 30 1234{n:04d}" for n in range(9)],
        "US social security number": [f"123-45-{n:04d}" for n in range(1, 9)],
        "UK NHS number": valid(cd.uk_nhs, lambda n: f"94347{n:05d}"),
        "Dutch citizen service number": valid(cd.dutch, lambda n: f"1112{n:05d}"),
        "payment card number": valid(cd.payment_card, lambda n: f"41111111111{n:05d}"),
        "IBAN": [f"DE{98 - int(f'{n:018d}131400') % 97:02d}{n:018d}" for n in range(5)],
        "Finnish personal identity code": valid(
            cd.finnish, lambda n: f"131052-{n // 31 % 900 + 2:03d}" + "0123456789ABCDEFHJKLMNPRSTUVWXY"[n % 31]
        ),
    }
    for name, values in cases.items():
        found = match_form(facts(values))
        assert found is not None, name
        assert found.name == name


def test_numbers_read_as_integers_get_their_leading_zeros_back():
    from discreet.engine.recognition import check_digits as cd

    numbers = [int(text) for text in valid(cd.dutch, lambda n: f"0112{n:05d}", 20)]
    numbers.append(int(valid(cd.dutch, lambda n: f"1112{n:05d}", 1)[0]))
    assert match_form(facts(numbers)).name == "Dutch citizen service number"


@pytest.mark.parametrize(
    "values",
    [
        ["2020-01-01", "2021-02-02", "2022-03-03"] * 3,
        [str(123_456_789 + n) for n in range(500)],
        list(range(100_000_000, 100_000_500)),
        [1.5, 2.5, 3.5],
        ["a@b", "c@d", "e@f"],
        ["123456782"],  # a valid number, but one proves nothing
        ["red", "blue"],
    ],
)
def test_other_values_have_no_form(values):
    assert match_form(facts(values)) is None


def test_a_few_broken_values_do_not_hide_the_form():
    found = match_form(facts([f"p{n}@example.org" for n in range(99)] + ["none"]))
    assert (found.passed, found.tried) == (99, 100)
    assert "99 of 100" in found.description


def test_icd_codes():
    assert icd_share(facts(["E11.9", "I10", "J45.909", "F32.1", "C50"])) == 1
    assert icd_share(facts(["MI", "IN", "OH", "NY", "CA"])) == 0
    assert icd_share(facts([f"W{number:02d}" for number in range(20)])) == 0
