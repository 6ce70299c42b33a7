"""National and payment numbers that prove themselves by a check digit.

Each function takes the text as it stands in a table, allows the separators that people write, and says whether the
number is one that its issuer could have given out. The rules are those the issuers publish; birth dates inside a number
must be days that exist.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

_IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "CH": 21, "CR": 22,
    "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "ES": 24, "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22,
    "GI": 23, "GL": 18, "GR": 27, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IS": 26, "IT": 27, "KW": 30, "KZ": 20, "LB": 28,
    "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MT": 31, "NL": 18, "NO": 15, "PK": 24,
    "PL": 28, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TN": 24, "TR": 26,
    "UA": 29, "VA": 22, "XK": 20,
}  # fmt: skip
_HETU = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_HETU_CENTURY = dict.fromkeys("+", 1800) | dict.fromkeys("-UVWXY", 1900) | dict.fromkeys("ABCDEF", 2000)
_DNI = "TRWAGMYFPDXBNJZSQVHLCKE"
_FISCAL_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
_FISCAL_MONTHS = "ABCDEHLMPRST"


def luhn(digits: str) -> bool:
    """Every second digit from the right doubled, digit sums added: a multiple of ten (ISO/IEC 7812-1)."""
    total = 0
    for place, char in enumerate(reversed(digits)):
        doubled = int(char) * (1 + place % 2)
        total += doubled - 9 * (doubled > 9)
    return total % 10 == 0


def payment_card(text: str) -> bool:
    """13 to 19 digits that begin as issued cards do and pass Luhn."""
    digits = _digits(text, " -")
    return digits is not None and 13 <= len(digits) <= 19 and digits[0] in "23456" and luhn(digits)


def iban(text: str) -> bool:
    """The country's length, and 1 modulo 97 with the first four characters moved to the end (ISO 13616)."""
    plain = text.replace(" ", "").upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]+", plain, re.ASCII) or _IBAN_LENGTHS.get(plain[:2]) != len(plain):
        return False
    return int("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])) % 97 == 1


def us_social_security(text: str) -> bool:
    """AAA-GG-SSSS with an area, group and serial that were ever given; there is no check digit."""
    match = re.fullmatch(r"(\d{3})[- ](\d{2})[- ](\d{4})", text.strip(), re.ASCII)
    return bool(match and match[1] not in ("000", "666") and match[1] < "900" and match[2] != "00" and match[3] != "0000")


def uk_nhs(text: str) -> bool:
    """Ten digits; weights 10 to 2, check digit 11 less the remainder modulo 11 (10 is never issued)."""
    digits = _digits(text, " -", 10)
    if digits is None:
        return False
    check = 11 - _weighted(digits, range(10, 1, -1)) % 11
    return check != 10 and check % 11 == int(digits[9])


def finnish(text: str) -> bool:
    """DDMMYY, century sign, NNN and a character by the remainder of DDMMYYNNN modulo 31."""
    match = re.fullmatch(r"(\d{2})(\d{2})(\d{2})([-+A-FU-Y])(\d{3})([0-9A-Y])", text.strip().upper(), re.ASCII)
    if not match or not _is_day(_HETU_CENTURY[match[4]] + int(match[3]), int(match[2]), int(match[1])):
        return False
    return _HETU[int(match[1] + match[2] + match[3] + match[5]) % 31] == match[6]


def swedish(text: str) -> bool:
    """[CC]YYMMDD-NNNC, Luhn over the ten digits; the day has 60 added in a coordination number."""
    match = re.fullmatch(r"(?:\d{2})?(\d{2})(\d{2})(\d{2})[-+]?(\d{4})", text.strip(), re.ASCII)
    if not match or not _is_day(2000 + int(match[1]), int(match[2]), (int(match[3]) - 1) % 60 + 1):
        return False
    return luhn("".join(match.groups()))


def norwegian(text: str) -> bool:
    """DDMMYYNNNKK with two check digits modulo 11; the day has 40 added in a D number."""
    digits = _digits(text, " ", 11)
    if digits is None or not _is_day(2000 + int(digits[4:6]), int(digits[2:4]), (int(digits[:2]) - 1) % 40 + 1):
        return False
    first = -_weighted(digits, (3, 7, 6, 1, 8, 9, 4, 5, 2)) % 11
    second = -_weighted(digits, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return f"{first}{second}" == digits[9:]


def danish(text: str) -> bool:
    """DDMMYY-NNNN, weighted sum a multiple of 11 (numbers given since 2007 need not keep that)."""
    match = re.fullmatch(r"(\d{2})(\d{2})(\d{2})-?(\d{4})", text.strip(), re.ASCII)
    if not match or not _is_day(2000 + int(match[3]), int(match[2]), int(match[1])):
        return False
    return _weighted("".join(match.groups()), (4, 3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0


def dutch(text: str) -> bool:
    """Nine digits, weights 9 to 2 and -1: a multiple of 11 (elfproef)."""
    digits = _digits(text, " .", 9)
    return digits is not None and int(digits) > 0 and _weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def italian(text: str) -> bool:
    """Codice fiscale: 16 characters, the last by odd and even tables modulo 26."""
    plain = text.strip().upper()
    if not re.fullmatch(rf"[A-Z]{{6}}[0-9L-V]{{2}}[{_FISCAL_MONTHS}][0-9L-V]{{2}}[A-Z][0-9L-V]{{3}}[A-Z]", plain, re.ASCII):
        return False
    total = 0
    for place, char in enumerate(plain[:15]):
        value = int(char) if char.isdigit() else ord(char) - ord("A")
        total += value if place % 2 else _FISCAL_ODD[value]
    return chr(ord("A") + total % 26) == plain[15]


def spanish(text: str) -> bool:
    """DNI and NIE: the letter by the remainder of the number modulo 23 (X, Y, Z count as 0, 1, 2)."""
    match = re.fullmatch(r"([XYZ]?)(\d{7,8})-?([A-Z])", text.strip().upper(), re.ASCII)
    if not match or len(match[2]) != (7 if match[1] else 8):
        return False
    first = str("XYZ".index(match[1])) if match[1] else ""
    return _DNI[int(first + match[2]) % 23] == match[3]


def french(text: str) -> bool:
    """NIR: sex, year, month, place and order, and a key of 97 less the remainder modulo 97 (Corsica as 19 and 18)."""
    match = re.fullmatch(r"([1-478]\d{4}(?:\d{2}|2[AB])\d{6})(\d{2})", re.sub(r"[ .-]", "", text.upper()), re.ASCII)
    if not match:
        return False
    number = int(match[1].replace("2A", "19").replace("2B", "18"))
    return 97 - number % 97 == int(match[2])


def german_tax(text: str) -> bool:
    """Identifikationsnummer: one digit of the first ten stands two or three times, check digit by ISO 7064, MOD 11,10."""
    digits = _digits(text, " ", 11)
    if digits is None or digits[0] == "0":
        return False
    times = sorted((digits[:10].count(one) for one in set(digits[:10])), reverse=True)
    return times[0] in (2, 3) and times[1] == 1 and mod_11_10(digits)


def german_pension(text: str) -> bool:
    """Versicherungsnummer: area, birth date, initial, serial; digit sums of weighted digits modulo 10."""
    match = re.fullmatch(r"(\d{8})([A-Z])(\d{2})(\d)", re.sub(r"\s", "", text.upper()), re.ASCII)
    if not match or not 1 <= int(match[1][4:6]) <= 12:
        return False
    digits = f"{match[1]}{ord(match[2]) - 64:02d}{match[3]}"
    products = (int(char) * weight for char, weight in zip(digits, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1), strict=True))
    return sum(product // 10 + product % 10 for product in products) % 10 == int(match[4])


def polish(text: str) -> bool:
    """PESEL: birth date with the century in the month, weights 1, 3, 7, 9 and a multiple of ten."""
    digits = _digits(text, "", 11)
    if digits is None or not _is_day(2000 + int(digits[:2]), int(digits[2:4]) % 20, int(digits[4:6])):
        return False
    return _weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def belgian(text: str) -> bool:
    """Rijksregisternummer: 97 less the remainder modulo 97, with a 2 in front for births since 2000."""
    digits = _digits(text, " .-", 11)
    if digits is None or int(digits[2:4]) % 20 > 12 or int(digits[4:6]) > 31:
        return False
    return int(digits[9:]) in (97 - int(digits[:9]) % 97, 97 - int("2" + digits[:9]) % 97)


def mod_11_10(digits: str) -> bool:
    """ISO 7064, MOD 11,10: the last digit closes the recursion over the others."""
    product = 10
    for char in digits[:-1]:
        rest = (int(char) + product) % 10 or 10
        product = rest * 2 % 11
    return (11 - product) % 10 == int(digits[-1])


def _digits(text: str, separators: str, length: int | None = None) -> str | None:
    """The digits of a text without its separators, or None where it holds anything else or has another length."""
    plain = text.strip().translate({ord(char): None for char in separators})
    if not (plain.isascii() and plain.isdigit()):
        return None
    return plain if length is None or len(plain) == length else None


def _weighted(digits: str, weights: Sequence[int]) -> int:
    return sum(int(char) * weight for char, weight in zip(digits, weights, strict=False))


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
