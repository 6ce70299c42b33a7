"""Formats of values that identify a person: e-mail and network addresses, and numbers with check digits.

A format counts where nearly all distinct values have it and where this is not due to chance: a check that a random number passes
with probability p needs at least n values with p^n < 1e-6.
"""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from discreet.engine.recognition import check_digits
from discreet.engine.recognition.value_facts import Facts

_ACCIDENT = 1e-6
_SHORTEST = 6
"""No format has fewer characters; the shortest is an e-mail address such as a@b.de."""
_EMAIL = re.compile(r"[^\s@,;<>]+@[^\s@,;<>]+\.[A-Za-z]{2,}")
_URL = re.compile(r"(?:https?|ftp)://\S+|www\.\S+\.\S+", re.IGNORECASE)
_UUID = re.compile(r"\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?", re.IGNORECASE)
_MAC = re.compile(r"[0-9a-f]{2}([:-][0-9a-f]{2}){5}", re.IGNORECASE)
_HASH = re.compile(r"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})", re.IGNORECASE)
_PHONE = re.compile(
    r"(?:\+\d[\d ().\-/]{6,20}\d|\(\d{2,5}\)[ \d.\-]{5,14}\d|0\d{1,4}[ /\-]\d[\d \-]{4,11}|\d{3}[-. ]\d{3}[-. ]\d{4})", re.ASCII
)
_ICD = re.compile(r"[A-TV-Z]\d[0-9A-Z](?:\.?[0-9A-Z]{1,4})?")


@dataclass(frozen=True, slots=True)
class Form:
    """A format: its name, a test of one text, the probability that a random number passes, and the share that must pass."""

    name: str
    passes: Callable[[str], bool]
    chance: float
    share: float = 0.9


def _is_ip_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.strip())
    except ValueError:
        return False
    return True


def _matches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text.strip()) is not None


# in order of strictness: the strictest formats first
FORMS = (
    Form("e-mail address", _matches(_EMAIL), 1e-6),
    Form("web address", _matches(_URL), 1e-6),
    Form("UUID", _matches(_UUID), 1e-6),
    Form("hardware address", _matches(_MAC), 1e-6),
    Form("hash value", _matches(_HASH), 1e-3),
    Form("IP address", _is_ip_address, 1e-3),
    Form("IBAN", check_digits.iban, 1e-4),
    Form("Italian tax code", check_digits.italian, 1e-4),
    Form("Finnish personal identity code", check_digits.finnish, 1e-3),
    Form("Spanish identity number", check_digits.spanish, 1 / 23),
    Form("French social security number", check_digits.french, 1e-3),
    Form("German pension insurance number", check_digits.german_pension, 1e-2),
    Form("US social security number", check_digits.us_social_security, 1e-2),
    Form("Norwegian national number", check_digits.norwegian, 1e-3),
    Form("Belgian national number", check_digits.belgian, 1e-2),
    Form("Polish PESEL", check_digits.polish, 1e-2),
    Form("German tax number", check_digits.german_tax, 0.05),
    Form("payment card number", check_digits.payment_card, 0.06),
    Form("Swedish personal number", check_digits.swedish, 0.01),
    Form("UK NHS number", check_digits.uk_nhs, 1 / 11),
    Form("Dutch citizen service number", check_digits.dutch, 1 / 11),
    Form("Danish personal number", check_digits.danish, 1e-2, 0.6),
    Form("phone number", _matches(_PHONE), 0.01),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FormMatch:
    """A format that the values have: the number of values that passed, and the number tested."""

    name: str
    passed: int
    tried: int

    @property
    def description(self) -> str:
        """A sentence on the format and the number of values that have it."""
        passed = f"all {self.tried:,}" if self.passed == self.tried else f"{self.passed:,} of {self.tried:,}"
        return f"{passed} distinct values tested have the form: {self.name}"


def match_form(facts: Facts) -> FormMatch | None:
    """The format of the values, where it is one that identifies a person."""
    if not facts.distinct or not (facts.is_text or facts.is_whole):
        return None
    sample = facts.sample
    if max(map(len, sample), default=0) < _SHORTEST:
        return None
    for form in FORMS:
        needed = math.ceil(math.log(_ACCIDENT) / math.log(form.chance))
        if len(sample) < needed:
            continue
        # most columns fail within the first values
        first = sample[:: max(1, len(sample) // 20)]
        if sum(map(form.passes, first)) < form.share * len(first) * 0.7:
            continue
        passed = sum(map(form.passes, sample))
        if passed >= form.share * len(sample):
            return FormMatch(form.name, passed, len(sample))
    return None


def icd_share(facts: Facts) -> float:
    """The share of distinct values that are codes of the International Classification of Diseases, 10th revision.

    Shelves and wards are numbered similarly, so the codes must come from at least three chapters, that is, initial letters.
    """
    if not facts.is_text or facts.distinct < 5:
        return 0.0
    codes = [text for text in facts.sample if _ICD.fullmatch(text.strip().upper())]
    return len(codes) / len(facts.sample) if len({code.strip()[0].upper() for code in codes}) >= 3 else 0.0
