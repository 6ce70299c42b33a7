"""National and payment numbers that can be validated by a check digit or a birth date.

The rules are those of python-stdnum, which follows the issuers and is maintained. Each function takes a text from a table and
returns whether its issuer could have issued that number. Our own rules are only: the separators that a US social security number
must have here (any nine digits would pass without them), the range of payment cards, the check digit of Danish numbers (abandoned
in 2007, so stdnum does not require it, but older numbers have it), and the German pension insurance number and Swedish
coordination numbers, which stdnum does not know.
"""

from __future__ import annotations

import re
from datetime import date

from stdnum import iban as _iban
from stdnum import luhn as _luhn
from stdnum.be import bis as _be_bis
from stdnum.be import nn as _be_nn
from stdnum.de import idnr as _de_idnr
from stdnum.dk import cpr as _dk_cpr
from stdnum.es import dni as _es_dni
from stdnum.es import nie as _es_nie
from stdnum.fi import hetu as _fi_hetu
from stdnum.fr import nir as _fr_nir
from stdnum.gb import nhs as _gb_nhs
from stdnum.it import codicefiscale as _it_codicefiscale
from stdnum.nl import bsn as _nl_bsn
from stdnum.no import fodselsnummer as _no_fodselsnummer
from stdnum.pl import pesel as _pl_pesel
from stdnum.util import clean


def payment_card(text: str) -> bool:
    """13 to 19 digits that begin as issued cards do and pass Luhn (ISO/IEC 7812-1)."""
    digits = clean(text, " -").strip()
    is_card = digits.isascii() and digits.isdigit() and 13 <= len(digits) <= 19 and digits[0] in "23456"
    return is_card and bool(_luhn.is_valid(digits))


def iban(text: str) -> bool:
    """International bank account number (ISO 13616): the country's structure, and 1 modulo 97."""
    return _is_ascii(text) and bool(_iban.is_valid(text))


def us_social_security(text: str) -> bool:
    """AAA-GG-SSSS with an area, group and serial number that were ever issued; there is no check digit."""
    match = re.fullmatch(r"(\d{3})[- ](\d{2})[- ](\d{4})", text.strip(), re.ASCII)
    return bool(match and match[1] not in ("000", "666") and match[1] < "900" and match[2] != "00" and match[3] != "0000")


def uk_nhs(text: str) -> bool:
    """NHS number of England, Wales and the Isle of Man."""
    return _is_ascii(text) and bool(_gb_nhs.is_valid(text))


def finnish(text: str) -> bool:
    """Henkilötunnus: birth date, century sign, serial number and check character."""
    return _is_ascii(text) and bool(_fi_hetu.is_valid(text))


def swedish(text: str) -> bool:
    """Personnummer with or without the century, and coordination numbers, whose day has 60 added."""
    match = re.fullmatch(r"(?:\d{2})?(\d{2})(\d{2})(\d{2})[-+]?(\d{4})", text.strip(), re.ASCII)
    if not match:
        return False
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    try:
        date(2000 + year, month, day - 60 if day > 60 else day)
    except ValueError:
        return False
    return bool(_luhn.is_valid("".join(match.groups())))


def norwegian(text: str) -> bool:
    """Fødselsnummer and D-number: birth date and two check digits."""
    return _is_ascii(text) and bool(_no_fodselsnummer.is_valid(text))


def danish(text: str) -> bool:
    """CPR number with a valid check digit (numbers issued since 2007 need not have one)."""
    return _is_ascii(text) and bool(_dk_cpr.is_valid(text)) and int(_dk_cpr.checksum(_dk_cpr.compact(text))) == 0


def dutch(text: str) -> bool:
    """Burgerservicenummer."""
    return _is_ascii(text) and bool(_nl_bsn.is_valid(text))


def italian(text: str) -> bool:
    """Codice fiscale of a person."""
    return _is_ascii(text) and len(text.strip()) == 16 and bool(_it_codicefiscale.is_valid(text))


def spanish(text: str) -> bool:
    """DNI, and NIE of foreigners."""
    return _is_ascii(text) and bool(_es_dni.is_valid(text) or _es_nie.is_valid(text))


def french(text: str) -> bool:
    """NIR (social security number)."""
    return _is_ascii(text) and bool(_fr_nir.is_valid(text))


def german_tax(text: str) -> bool:
    """Steuerliche Identifikationsnummer."""
    return _is_ascii(text) and bool(_de_idnr.is_valid(text))


def german_pension(text: str) -> bool:
    """Versicherungsnummer: area, birth date, initial, serial; digit sums of weighted digits modulo 10."""
    match = re.fullmatch(r"(\d{8})([A-Z])(\d{2})(\d)", re.sub(r"\s", "", text.upper()), re.ASCII)
    if not match or not 1 <= int(match[1][4:6]) <= 12:
        return False
    digits = f"{match[1]}{ord(match[2]) - 64:02d}{match[3]}"
    products = (int(char) * weight for char, weight in zip(digits, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1), strict=True))
    return sum(product // 10 + product % 10 for product in products) % 10 == int(match[4])


def polish(text: str) -> bool:
    """PESEL."""
    return _is_ascii(text) and bool(_pl_pesel.is_valid(text))


def belgian(text: str) -> bool:
    """Rijksregisternummer, and BIS number of people who are not in the register."""
    return _is_ascii(text) and bool(_be_nn.is_valid(text) or _be_bis.is_valid(text))


def _is_ascii(text: str) -> bool:
    """Whether a text is ASCII: stdnum also accepts digits of other scripts, which no issuer uses."""
    return text.isascii()
