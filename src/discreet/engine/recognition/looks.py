"""What the values of a column look like, where they look like something that points at people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import polars as pl

from discreet.engine.recognition import identifiers
from discreet.engine.recognition.formats import icd_share, match_form
from discreet.engine.recognition.name_values import is_written_like_names, mentions_names, sampled_values, share_of_names
from discreet.engine.recognition.value_facts import Facts
from discreet.engine.recognition.written_dates import date_format, read_dates

_COORDINATES = re.compile(r"[+-]?\d{1,2}\.\d{3,}\s*[,; ]\s*[+-]?\d{1,3}\.\d{3,}")
_LATITUDE = frozenset({"lat", "latitude", "lon", "lng", "long", "longitude", "breitengrad", "laengengrad", "latitud", "longitud"})
_BIRTH, _POSTAL = "birth date", "postal code"
_BIRTH_NAMES = (_BIRTH, "birth year")
_LEAST_TEXTS = 10
_MANY_WORDS, _LONG = 4, 80
_BIRTH_YEARS, _BORN_BEFORE = 30, 1975
_LEAST_BIRTH_YEARS, _FIRST_BIRTH_YEAR, _LAST_BIRTH_YEAR = 20, 1850, 2050
_STRONG = 0.5
_NUMBER_FORMS = ("UUID", "hash value")
_POSTAL_CODE = re.compile(r"(?=.*\d)[A-Za-z0-9][A-Za-z0-9 -]{2,9}")
_CONTACTS = (
    ("e-mail addresses", re.compile(r"[^\s@,;<>]+@[^\s@,;<>]+\.[A-Za-z]{2,}")),
    ("phone numbers", re.compile(
        r"\+\d[\d ()./-]{6,20}\d|\(\d{3}\) ?\d{3}[ -]\d{4}|\b\d{3}[-. ]\d{3}[-. ]\d{4}\b|\b0\d{2,4}[ /]\d{4,9}\b"
        r"|\b0\d{1,4}([ ./-])\d{2,4}(?:\1\d{2,4}){2,3}\b|\b0\d{2,4} \d{3,4} \d{3,4}\b"
    )),
    ("web addresses", re.compile(r"https?://\S+", re.IGNORECASE)),
    ("street addresses", re.compile(
        r"\b\d{1,5}[a-z]? (?:\w+ ){1,3}(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|place|way)\b"
        r"|\w(?:stra(?:ß|ss)e|str\.|weg|gasse|platz|allee) \d{1,4}\b"
        r"|\b(?:rue|calle|via|avenida|avenue|rua) [\w' ]+ \d{1,4}\b", re.IGNORECASE,
    )),
    ("social security numbers", re.compile(r"\b(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}\b")),
)  # fmt: skip
_SOME = 0.01
_PERSON_IDS, _ROWS_PER_PERSON = 30, 20.0
_EVEN = 0.3
"""The effective number of values (inverse Simpson index) over the number of distinct ones, from which they count as even."""


class Pointing(Enum):
    """How a column points at people: by itself, as a quasi-identifier, or as a number that stands for a person or record."""

    DIRECT = "direct"
    QUASI = "quasi"
    NUMBER = "number"


@dataclass(frozen=True)
class Look:
    """What a column looks like, how it points at people, and whether that holds whatever its owner says it is."""

    words: str
    pointing: Pointing
    strong: bool = True
    """Strong evidence, such as a form or most values; otherwise a guess that a role of the column refutes."""


def describe_look(facts: Facts) -> str | None:
    """What the column looks like, such as ``e-mail address`` or ``names of people``; None where it looks harmless."""
    look = look_of(facts)
    return look.words if look is not None else None


def look_of(facts: Facts) -> Look | None:
    """The first look that the column has, those that point at people directly before the others."""
    if facts.distinct <= 1:
        return None
    return _direct_look(facts) or _quasi_look(facts) or _text_look(facts) or _number_look(facts)


def _direct_look(facts: Facts) -> Look | None:
    if (form := match_form(facts)) is not None:
        return Look(form.name, Pointing.NUMBER if form.name in _NUMBER_FORMS else Pointing.DIRECT)
    if (share := share_of_names(facts)) > 0:
        return Look("names of people", Pointing.DIRECT, strong=share >= _STRONG and facts.naming.kind is None)
    if identifiers.by_name(facts) is not None and facts.naming.kind is not None:
        return Look(f"{facts.naming.kind.name} (by the column's name)", Pointing.DIRECT, strong=False)
    if looks_like_coordinates(facts):
        return Look("geographic coordinates", Pointing.QUASI)
    if (contact := held_contacts(facts)) is not None:
        return Look(contact, Pointing.DIRECT)
    return None


def _text_look(facts: Facts) -> Look | None:
    if looks_like_free_text(facts) or identifiers.by_remarks(facts) is not None:
        return Look("free text", Pointing.DIRECT)
    if mentions_names(facts):
        return Look("texts that name people", Pointing.DIRECT, strong=facts.naming.kind is None)
    return None


def _quasi_look(facts: Facts) -> Look | None:
    if looks_like_birth_dates(facts):
        named = facts.naming.kind is not None and facts.naming.kind.name == _BIRTH
        return Look("dates of birth", Pointing.QUASI, strong=named)
    if looks_like_birth_years(facts):
        return Look("years of birth (by the column's name)", Pointing.QUASI, strong=False)
    if looks_like_postal_codes(facts):
        return Look("postal codes (by the column's name)", Pointing.QUASI)
    return None


def _number_look(facts: Facts) -> Look | None:
    if identifiers.by_record_id(facts) is not None:
        return Look("record numbers", Pointing.NUMBER)
    if identifiers.by_uniqueness(facts) is not None:
        return Look("record numbers", Pointing.NUMBER, strong=facts.is_text)
    if is_written_like_names(facts):
        return Look("names of people or places", Pointing.DIRECT, strong=False)
    if looks_like_person_numbers(facts):
        return Look("numbers of persons or groups", Pointing.NUMBER, strong=False)
    return None


def looks_like_free_text(facts: Facts) -> bool:
    """Whether most values are sentences of their own; a list of long labels that repeat, such as diagnoses, is none."""
    if not facts.is_text or facts.distinct < _LEAST_TEXTS:
        return False
    texts: Sequence[str] = facts.sample
    lengths = np.array([len(text.split()) for text in texts])
    if float((lengths >= _MANY_WORDS).mean()) >= 0.5:
        return facts.uniqueness >= 0.5
    return facts.uniqueness >= 0.3 and float(np.mean([len(text) for text in texts])) >= _LONG and float(lengths.mean()) > 1


def held_contacts(facts: Facts) -> str | None:
    """Contacts that stand in at least one record in a hundred (and in three), alone or within a text."""
    if not facts.is_text:
        return None
    values, counts = sampled_values(facts)
    total = float(counts.sum())
    for name, pattern in _CONTACTS:
        hits = np.array([pattern.search(text) is not None for text in values], dtype=np.bool_)
        if float(counts[hits].sum()) >= max(_SOME * total, min(3.0, total)):
            return name
    return None


def looks_like_coordinates(facts: Facts) -> bool:
    """Pairs of decimal degrees in one text, or one of the two in a column that is named so."""
    if facts.is_text:
        texts = facts.sample
        return sum(_COORDINATES.fullmatch(text.strip()) is not None for text in texts) >= 0.9 * len(texts)
    if not facts.dtype.is_float() or facts.is_whole or not _LATITUDE & set(facts.naming.words):
        return False
    low, high = (float(end) for end in facts.extremes)
    # degrees with one decimal are areas of ten kilometres
    return low >= -180 and high <= 180 and bool((np.abs(facts.numbers * 10 - np.round(facts.numbers * 10)) > 1e-6).any())


def looks_like_birth_dates(facts: Facts) -> bool:
    """Days over a whole life: named so, of people who are grown up, or spread over decades that leave none out."""
    if facts.dtype in (pl.Time, pl.Duration):
        return False
    days = facts.column.values if facts.dtype.is_temporal() else None
    if days is None:
        form = date_format(facts.column.values)
        if form is None:
            return False
        days = read_dates(facts.column.values, form).drop_nulls()
    if facts.naming.kind is not None and facts.naming.kind.name == _BIRTH:
        return True
    years = days.dt.year().to_numpy()
    spread = int(years.max()) - int(years.min())
    if facts.distinct < 20:
        return False
    if (
        facts.naming.kind is None
        and 1900 <= float(np.median(years)) < _BORN_BEFORE
        and int(years.max()) < 2010
        and spread < _BIRTH_YEARS
    ):
        return True
    return spread >= _BIRTH_YEARS and len(np.unique(years // 10)) >= spread // 10


def looks_like_birth_years(facts: Facts) -> bool:
    """Whole numbers that are years of the last two centuries, in a column that is named after births."""
    if facts.naming.kind is None or facts.naming.kind.name not in _BIRTH_NAMES or not facts.is_whole or facts.is_text:
        return False
    low, high = (int(end) for end in facts.extremes)
    return facts.distinct >= _LEAST_BIRTH_YEARS and low >= _FIRST_BIRTH_YEAR and high <= _LAST_BIRTH_YEAR


def looks_like_postal_codes(facts: Facts) -> bool:
    """Codes of at least four characters with digits, in a column that is named after them."""
    if facts.naming.kind is None or facts.naming.kind.name != _POSTAL or not (facts.is_text or facts.is_whole):
        return False
    texts = [text.strip() for text in facts.sample]
    fit = sum(len(text) >= 4 and _POSTAL_CODE.fullmatch(text) is not None for text in texts)
    return fit >= 0.8 * len(texts)


def looks_like_person_numbers(facts: Facts) -> bool:
    """Many values that a few rows share, all about equally often, and that are codes rather than quantities.

    Codes are texts with digits of one length or shape, whole numbers of six digits and more, or whole numbers that occur more
    evenly than chance lets values occur: the same number of rows each, as in a panel.
    """
    if not may_number_persons(facts):
        return False
    if facts.is_text:
        return _are_codes(facts.sample)
    low, high = (int(end) for end in facts.extremes)
    if low >= 100_000 and len(str(low)) == len(str(high)):
        return True
    # of values that fall independently, the counts vary as much as a Poisson variable does
    counts = facts.counts[: facts.distinct].astype(np.float64)
    return float(counts.var()) < 0.5 * float(counts.mean())


def may_number_persons(facts: Facts) -> bool:
    """Whether many values are shared by a few rows each, all about equally often, and nothing says that it is another thing."""
    if facts.distinct < _PERSON_IDS or not (facts.is_text or facts.is_whole):
        return False
    counts = facts.counts[: facts.distinct].astype(np.float64)
    mean = float(counts.mean())
    even = mean**2 / float(np.square(counts).mean())
    return 1 < mean <= _ROWS_PER_PERSON and even >= _EVEN and not _is_of_another_kind(facts)


def _is_of_another_kind(facts: Facts) -> bool:
    """Whether the name, or the form of the values, says that it is something that many people share."""
    kind = facts.naming.kind
    if kind is not None and kind.role.value not in ("identifier", "other"):
        return True
    return icd_share(facts) >= 0.5 or date_format(facts.column.values) is not None


def _are_codes(texts: Sequence[str]) -> bool:
    """Whether nearly all texts are one word with digits, of one shape, or of one length with digits in most."""
    if sum(" " in text.strip() for text in texts) > 0.05 * len(texts):
        return False
    with_digits = sum(any(map(str.isdigit, text)) for text in texts)
    shapes = {re.sub(r"[A-Za-z]", "a", re.sub(r"\d+", "9", text)) for text in texts}
    if len(shapes) == 1 and with_digits == len(texts):
        return max(map(len, texts)) >= 3
    return len({len(text) for text in texts}) == 1 and len(texts[0]) >= 6 and with_digits >= 0.8 * len(texts)
