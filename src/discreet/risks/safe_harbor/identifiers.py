"""The 18 identifiers of 45 CFR 164.514(b)(2)(i), and which of them a recognised column is."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.engine.recognition.identifiers import by_name
from discreet.engine.recognition.looks import look_of
from discreet.engine.recognition.name_rules import HOUSEHOLD_ID, PERSON_NAME
from discreet.engine.recognition.value_facts import Facts

IDENTIFIERS: Mapping[str, str] = {
    "A": "names",
    "B": "geographic subdivisions smaller than a state",
    "C": "elements of dates except the year, and ages over 89",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "e-mail addresses",
    "G": "social security numbers",
    "H": "medical record numbers",
    "I": "health plan beneficiary numbers",
    "J": "account numbers",
    "K": "certificate and license numbers",
    "L": "vehicle identifiers and license plates",
    "M": "device identifiers and serial numbers",
    "N": "web addresses",
    "O": "IP addresses",
    "P": "biometric identifiers",
    "Q": "full-face photographs",
    "R": "any other unique identifying number, characteristic or code",
}
"""Letter of the paragraph, and what it names."""

_BY_LOOK: Mapping[str, str] = {
    "names of people": "A", "texts that name people": "A", "names of people or places": "A",
    "geographic coordinates": "B", "street addresses": "B",
    "phone number": "D", "phone numbers": "D", "e-mail address": "F", "e-mail addresses": "F",
    "US social security number": "G", "social security numbers": "G", "IBAN": "J", "payment card number": "J",
    "hardware address": "M", "web address": "N", "web addresses": "N", "IP address": "O",
}  # fmt: skip
"""What the values look like (discreet.engine.recognition.looks); every other form and number is R."""

_BY_KIND: Mapping[str, str] = {
    PERSON_NAME: "A", "person's name": "A", "address": "B", "phone number": "D", "e-mail address": "F", "national number": "G",
    "document number": "K", "account number": "J", "web address": "N", "device address": "M", "picture or voice": "P",
}  # fmt: skip
_BY_WORD: Mapping[str, str] = {
    "fax": "E", "mrn": "H", "medical": "H", "health": "I", "medicare": "I", "beneficiary": "I", "vin": "L", "vehicle": "L",
    "plate": "L", "kennzeichen": "L", "passport": "R", "ip": "O", "ipv4": "O", "ipv6": "O", "fingerprint": "P", "photo": "Q",
    "photograph": "Q", "picture": "Q", "selfie": "Q",
}  # fmt: skip
"""A word of a column's name that says which of several identifiers of one kind it is."""
_NOT_JUDGED_BY_LOOK = ("dates of birth", "years of birth (by the column's name)", "postal codes (by the column's name)")


def identify(facts: Facts) -> tuple[str, str] | None:
    """The letter of the identifier that a column is recognised as, and why; None where none is.

    Dates, ages and postal codes are left to :mod:`discreet.risks.safe_harbor.coarse_enough`, because they may be coarse enough.
    """
    kind = facts.naming.kind
    if by_name(facts) is not None and kind is not None:
        word = next((word for word in facts.naming.phrase.split() if word in _BY_WORD), None)
        return _BY_WORD[word] if word else _BY_KIND.get(kind.name, "R"), facts.naming.description
    look = look_of(facts)
    if look is not None and look.words not in _NOT_JUDGED_BY_LOOK:
        return _BY_LOOK.get(look.words, "R"), f"its values look like {look.words}"
    if kind is not None and kind.name == HOUSEHOLD_ID and facts.distinct > 2:
        return "R", f"{facts.naming.description}: a number that members of a household share"
    return None
