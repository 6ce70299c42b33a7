"""What the values of a column look like, where they look like something that points at people."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np
import polars as pl

from discreet.engine.recognition import identifiers
from discreet.engine.recognition.formats import form_of
from discreet.engine.recognition.name_rules import words
from discreet.engine.recognition.value_facts import Facts
from discreet.risks.coverage.person_names import FAMILY, GIVEN

_COORDINATES = re.compile(r"[+-]?\d{1,2}\.\d{3,}\s*[,; ]\s*[+-]?\d{1,3}\.\d{3,}")
_LATITUDE = frozenset({"lat", "latitude", "lon", "lng", "long", "longitude", "breitengrad", "laengengrad", "latitud", "longitud"})
_BIRTH = "birth date"
_NAMED_AFTER_PEOPLE = words(
    """first last given family contestant player author candidate defendant plaintiff judge winner athlete employee customer
    patient person member nombre prenom vorname nachname apellido cognome naam namn navn nimi"""
)
_LEAST_NAMES = 3
_NAME_SHARE, _NAME_SHARE_NAMED = 0.15, 0.05
"""Share of the records that must hold a frequent name: of any column, and of one whose own name speaks of people."""
_LEAST_TEXTS = 10
_MANY_WORDS, _LONG = 4, 80
_BIRTH_YEARS = 30


def describe_look(facts: Facts) -> str | None:
    """What the column looks like, such as ``e-mail address`` or ``names of people``; None where it looks harmless."""
    if not facts.distinct or facts.distinct == 1:
        return None
    if (form := form_of(facts)) is not None:
        return form.name
    if looks_like_names(facts):
        return "names of people"
    if identifiers.by_name(facts) is not None and facts.naming.kind is not None:
        return f"{facts.naming.kind.name} (by the column's name)"
    if looks_like_coordinates(facts):
        return "geographic coordinates"
    if looks_like_free_text(facts):
        return "free text"
    if looks_like_birth_dates(facts):
        return "dates of birth"
    if identifiers.by_record_id(facts) is not None or identifiers.by_uniqueness(facts) is not None:
        return "record numbers"
    return None


def looks_like_names(facts: Facts) -> bool:
    """Whether enough records hold a given or family name that is frequent somewhere.

    Counted by records, because the frequent names of a list are few and their records many. A value is looked at only where it
    is one to four words of letters: a sentence that mentions Peter is text, not a name.
    """
    if not facts.is_text or facts.distinct < _LEAST_NAMES:
        return False
    values = _values(facts)
    hits = np.array([_holds_name(text) for text in values], dtype=np.bool_)
    counts = facts.counts[: facts.distinct]
    if len(values) < facts.distinct:  # a sample of the distinct values: each stands for as many records as it has
        counts = counts[_places(facts.distinct, len(values))]
    if int(hits.sum()) < _LEAST_NAMES:
        return False
    needed = _NAME_SHARE_NAMED if _NAMED_AFTER_PEOPLE & set(facts.naming.words) else _NAME_SHARE
    return float(counts[hits].sum()) >= needed * float(counts.sum())


def looks_like_free_text(facts: Facts) -> bool:
    """Whether most values are sentences of their own; a list of long labels that repeat, such as diagnoses, is none."""
    if not facts.is_text or facts.distinct < _LEAST_TEXTS:
        return False
    texts: Sequence[str] = facts.sample
    lengths = np.array([len(text.split()) for text in texts])
    if float((lengths >= _MANY_WORDS).mean()) >= 0.5:
        return facts.uniqueness >= 0.5
    return facts.uniqueness >= 0.3 and float(np.mean([len(text) for text in texts])) >= _LONG and float(lengths.mean()) > 1


def looks_like_coordinates(facts: Facts) -> bool:
    """Pairs of decimal degrees in one text, or one of the two in a column that is named so."""
    if facts.is_text:
        texts = facts.sample
        return sum(_COORDINATES.fullmatch(text.strip()) is not None for text in texts) >= 0.9 * len(texts)
    if not facts.dtype.is_float() or facts.is_whole or not _LATITUDE & set(facts.naming.words):
        return False
    low, high = (float(end) for end in facts.extremes)
    return low >= -180 and high <= 180 and bool((np.abs(facts.numbers * 100 - np.round(facts.numbers * 100)) > 1e-6).any())


def looks_like_birth_dates(facts: Facts) -> bool:
    """Days over a whole life: named so, or dates that spread over decades and leave none of them out."""
    if not facts.dtype.is_temporal() or facts.dtype in (pl.Time, pl.Duration):
        return False
    if facts.naming.kind is not None and facts.naming.kind.name == _BIRTH:
        return True
    years = facts.column.values.dt.year().to_numpy()
    spread = int(years.max()) - int(years.min())
    return spread >= _BIRTH_YEARS and facts.distinct >= 20 and len(np.unique(years // 10)) >= spread // 10


def _holds_name(text: str) -> bool:
    parts = _plain(text).replace(",", " ").replace("-", " ").replace(".", " ").split()
    if not 1 <= len(parts) <= 4 or not all(part.replace("'", "").isalpha() for part in parts):
        return False
    return any(part in GIVEN or part in FAMILY for part in parts)


def _plain(text: str) -> str:
    written = text.strip().lower().replace("ß", "ss").replace("ø", "o").replace("å", "a")
    return "".join(char for char in unicodedata.normalize("NFKD", written) if not unicodedata.combining(char))


_MOST = 5_000


def _values(facts: Facts) -> list[str]:
    values = facts.column.values
    if facts.distinct > _MOST:
        values = values[_places(facts.distinct, _MOST)]
    found: list[str] = values.to_list()
    return found


def _places(distinct: int, number: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.linspace(0, distinct - 1, number).astype(np.int64)
