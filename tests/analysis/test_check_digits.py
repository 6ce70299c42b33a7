"""Numbers that prove themselves: published examples, numbers made by a slow second formula, and one digit broken."""

import string
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.recognition import check_digits as cd

EXAMPLES = [
    (cd.payment_card, "4539 1488 0343 6467"), (cd.payment_card, "4111111111111111"), (cd.iban, "GB82 WEST 1234 5698 7654 32"),
    (cd.iban, "DE89370400440532013000"), (cd.iban, "FI2112345600000785"), (cd.us_social_security, "078-05-1120"),
    (cd.uk_nhs, "943 476 5919"), (cd.finnish, "131052-308T"), (cd.finnish, "010190A002R"), (cd.swedish, "811218-9876"),
    (cd.swedish, "198112189876"), (cd.danish, "070761-4285"), (cd.dutch, "111222333"), (cd.italian, "RSSMRA85T10A562S"),
    (cd.spanish, "12345678Z"), (cd.spanish, "X1234567L"), (cd.french, "2 55 08 14 168 025 38"), (cd.german_tax, "86095742719"),
    (cd.german_pension, "65 170839 J 003"), (cd.polish, "44051401359"), (cd.belgian, "85.07.30-033 28"),
]  # fmt: skip
WRONG = [
    (cd.payment_card, "4539148803436468"), (cd.payment_card, "411111111111"),
    (cd.iban, "GB82WEST12345698765431"), (cd.iban, "DE8937040044053201300"),
    (cd.iban, "ZZ89370400440532013000"), (cd.us_social_security, "666-12-3456"), (cd.us_social_security, "123-00-3456"),
    (cd.us_social_security, "900-12-3456"), (cd.us_social_security, "123456789"),
    (cd.uk_nhs, "943 476 5918"), (cd.finnish, "310252-308T"),
    (cd.finnish, "131052-308S"), (cd.swedish, "811318-9876"), (cd.norwegian, "32017000000"), (cd.danish, "320761-4285"),
    (cd.dutch, "000000000"),
    (cd.italian, "RSSMRA85T10A562T"), (cd.spanish, "12345678A"), (cd.french, "255081416802537"), (cd.german_tax, "12345678901"),
    (cd.german_pension, "65170839J004"), (cd.polish, "44053401359"), (cd.belgian, "85073003329"),
]  # fmt: skip
CHECKS = sorted({check for check, _ in (*EXAMPLES, *WRONG)}, key=lambda check: check.__name__)


@pytest.mark.parametrize(("check", "text"), EXAMPLES)
def test_published_numbers_are_known(check, text):
    assert check(text)


@pytest.mark.parametrize(("check", "text"), WRONG)
def test_broken_numbers_are_refused(check, text):
    assert not check(text)


@given(st.text(max_size=24), st.sampled_from(CHECKS))
@settings(deadline=None, max_examples=400)
def test_any_text_is_answered_and_never_raises(text, check):
    assert check(text) in (True, False)


def days():
    return st.dates(date(1930, 1, 1), date(1999, 12, 31))


def digits(n):
    return st.text(string.digits, min_size=n, max_size=n)


def luhn_digit(body):
    """The digit that makes the doubled-and-added sum a multiple of ten, found by trying all ten."""
    table = {"0": 0, "1": 2, "2": 4, "3": 6, "4": 8, "5": 1, "6": 3, "7": 5, "8": 7, "9": 9}
    odd = sum(int(char) for char in body[-2::-2])
    even = sum(table[char] for char in body[-1::-2])
    return str(-(odd + even) % 10)


@st.composite
def numbers(draw):
    """(check, a valid number, places of digits that may be broken), each made without the code under test."""
    country = draw(st.sampled_from(["card", "iban", "nhs", "fi", "se", "no", "dk", "nl", "es", "fr", "de", "pl"]))
    day = draw(days())
    if country == "card":
        body = draw(st.sampled_from("3456")) + draw(digits(14))
        return cd.payment_card, body + luhn_digit(body)
    if country == "iban":
        body = draw(digits(18))
        return cd.iban, f"DE{98 - int(body + '131400') % 97:02d}{body}"
    if country == "nhs":
        body = draw(digits(9).filter(lambda text: sum((10 - at) * int(char) for at, char in enumerate(text)) % 11 != 1))
        return cd.uk_nhs, body + str(-sum((10 - at) * int(char) for at, char in enumerate(body)) % 11)
    if country == "fi":
        number = f"{draw(st.integers(2, 899)):03d}"  # 000 and 001 were never given out, 900 and above are temporary
        letter = "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(f"{day:%d%m%y}{number}") % 31]
        return cd.finnish, f"{day:%d%m%y}-{number}{letter}"
    if country == "se":
        body = f"{day:%y%m%d}{draw(digits(3))}"
        return cd.swedish, f"{body[:6]}-{body[6:]}{luhn_digit(body)}"
    if country == "no":
        for number in range(draw(st.integers(0, 400)), 500):  # births from 1900 to 1999
            body = f"{day:%d%m%y}{number:03d}"
            first = -sum(a * int(b) for a, b in zip((3, 7, 6, 1, 8, 9, 4, 5, 2), body, strict=True)) % 11
            second = -sum(a * int(b) for a, b in zip((5, 4, 3, 2, 7, 6, 5, 4, 3, 2), f"{body}{first}"[:10], strict=True)) % 11
            if first < 10 and second < 10:
                return cd.norwegian, f"{body}{first}{second}"
    if country == "dk":
        for number in range(draw(st.integers(0, 3900)), 4_000):  # births from 1900 to 1999
            text = f"{day:%d%m%y}{number:04d}"
            if sum(a * int(b) for a, b in zip((4, 3, 2, 7, 6, 5, 4, 3, 2, 1), text, strict=True)) % 11 == 0:
                return cd.danish, f"{text[:6]}-{text[6:]}"
    if country == "nl":
        for number in range(draw(st.integers(1, 99_999_999)) * 10, 1_000_000_100):
            text = f"{number:09d}"
            if sum(a * int(b) for a, b in zip((9, 8, 7, 6, 5, 4, 3, 2, -1), text, strict=True)) % 11 == 0:
                return cd.dutch, text
    if country == "es":
        body = draw(digits(8))
        return cd.spanish, body + "TRWAGMYFPDXBNJZSQVHLCKE"[int(body) % 23]
    if country == "fr":
        body = f"{draw(st.sampled_from('12'))}{day:%y%m}75{draw(digits(6))}"
        return cd.french, f"{body}{97 - int(body) % 97:02d}"
    if country == "de":
        places = draw(st.permutations(string.digits))
        body = "".join([*places[:9], places[draw(st.integers(0, 8))]])
        body = body if body[0] != "0" else body[1:] + body[0]
        # ISO 7064 by its definition: the digit after which the recursion ends in 1
        for last in string.digits:
            product = 10
            for char in body:
                product = ((int(char) + product) % 10 or 10) * 2 % 11
            if (product + int(last)) % 10 == 1:
                return cd.german_tax, body + last
    body = f"{day:%y%m%d}{draw(digits(4))}"
    return cd.polish, body + str(-sum(a * int(b) for a, b in zip((1, 3, 7, 9) * 3, body, strict=False)) % 10)


@given(numbers(), st.data())
@settings(deadline=None, max_examples=400)
def test_a_valid_number_passes_and_any_one_digit_broken_fails(number, data):
    check, text = number
    assert check(text), (check.__name__, text)
    at = data.draw(st.sampled_from([place for place, char in enumerate(text) if char.isdigit()]))
    other = data.draw(st.sampled_from([char for char in string.digits if char != text[at]]))
    broken = text[:at] + other + text[at + 1 :]
    if check is cd.payment_card and at == 0:
        return  # another first digit may be no card at all
    assert not check(broken), (check.__name__, text, broken)


@pytest.mark.parametrize("text", ["87017000000", "87010112345", "41320112345"])
def test_a_norwegian_number_with_a_day_that_does_not_exist_is_refused(text):
    assert not cd.norwegian(text)


@pytest.mark.parametrize(
    "text",
    ["MR1300020001010000123456753", "SC18SSCB11010000000000001497USD", "TL380080012345678910157", "IQ98NBIQ850123456789012"],
)
def test_account_numbers_of_every_country_in_the_register_are_known(text):
    assert cd.iban(text)
