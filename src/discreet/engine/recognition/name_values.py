"""Names of people in the values of a column: frequent names of many languages, and what is written as names are."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.recognition.name_rules import word_set
from discreet.engine.recognition.name_scripts import is_eastern_name, written_in_latin
from discreet.engine.recognition.person_names import FAMILY, GIVEN
from discreet.engine.recognition.value_facts import Facts

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NAMED_AFTER_PEOPLE = word_set(
    """first last given family contestant player author candidate defendant plaintiff judge winner athlete employee customer
    patient person member nombre prenom vorname nachname apellido cognome naam namn navn nimi"""
)
_PLACES_AND_THINGS = word_set("san santa santo saint st sankt los las del port fort mount mt lake new")
_TITLES = word_set("mr mrs ms frau herr herrn fräulein mme mlle monsieur madame signor signora señor señora sra senhor senhora")
"""Titles that stand before the name of a person in a sentence; those that are words or abbreviations of other things are none."""
_MONTHS = word_set("Jan April Jun Jul May June July August")
_LEAST_NAMES = 3
_NAME_SHARE, _NAME_SHARE_NAMED = 0.15, 0.05
"""Share of the records that must hold a frequent name: of any column, and of one whose own name speaks of people."""
_EASTERN_SHARE = 0.5
_MENTIONED = 0.01
"""Share of the records, and at least two different values, from which names in remarks or full names among other values count."""
_CROSSED_LEAST, _PROPER_LEAST = 20, 30
_CROSSED_UNIQUE, _PROPER_UNIQUE = 0.05, 0.3
_MOST = 5_000
_SEPARATORS = str.maketrans(',-.;/()"', "        ")


def share_of_names(facts: Facts) -> float:
    """The share of the records that hold a given or family name that is frequent somewhere; 0 where fewer than three do.

    Counted by records, because the frequent names of a list are few and their records many. A value is looked at only where it
    is one to four words of letters: a sentence that mentions Peter is text, not a name.
    """
    if not facts.is_text or facts.distinct < _LEAST_NAMES:
        return 0.0
    values, counts = sampled_values(facts)
    hits = np.array([_holds_name(text) for text in values], dtype=np.bool_)
    if int(hits.sum()) >= min(_LEAST_NAMES, facts.distinct):
        share = float(counts[hits].sum()) / float(counts.sum())
        if share >= (_NAME_SHARE_NAMED if _NAMED_AFTER_PEOPLE & set(facts.naming.words) else _NAME_SHARE):
            return share
    eastern = np.array([is_eastern_name(text) for text in values], dtype=np.bool_)
    share = float(counts[eastern].sum()) / float(counts.sum())
    return share if share >= _EASTERN_SHARE else 0.0


def mentions_names(facts: Facts) -> bool:
    """Whether some of the values are full names, or remarks that mention a given name, among others that are not."""
    if not facts.is_text or facts.distinct < 2:
        return False
    values, counts = sampled_values(facts)
    hits = np.array([_is_full_name(text) or _mentions(text) for text in values], dtype=np.bool_)
    enough = float(counts[hits].sum()) >= max(_MENTIONED * float(counts.sum()), 3)
    full = any(_is_full_name(text) or _has_titled_name(text) for text, hit in zip(values, hits, strict=True) if hit)
    return enough and (int(hits.sum()) >= 2 or full)


def is_written_like_names(facts: Facts) -> bool:
    """Whether the values are written as names are, in whatever language: letters only, each word with a capital.

    Either many different single names, hardly shared, or first and last words that occur in many combinations (Xq Kqz, Xq Mzz,
    Zed Kqz), as given and family names do and names of places do not. Only of a column whose own name says nothing else.
    """
    if not facts.is_text or facts.naming.kind is not None or facts.distinct < _CROSSED_LEAST:
        return False
    values, counts = sampled_values(facts)
    proper = np.array([_is_proper(text) for text in values], dtype=np.bool_)
    if float(counts[proper].sum()) < 0.9 * float(counts.sum()):
        return False
    if facts.distinct >= _PROPER_LEAST and facts.uniqueness >= _PROPER_UNIQUE:
        return True
    split = [text.replace(",", " ").split() for text in values]
    paired = [(parts[0], parts[-1]) for parts in split if len(parts) in (2, 3)]
    if len(paired) < 0.9 * len(values) or facts.uniqueness < _CROSSED_UNIQUE:
        return False
    return all(1.5 * len({pair[side] for pair in paired}) <= len(set(paired)) for side in (0, 1))


def sampled_values(facts: Facts) -> tuple[list[str], NDArray[np.int64]]:
    """The distinct values, or some thousand of them where there are more, and how many records hold each."""
    values, counts = facts.column.values, facts.counts[: facts.distinct]
    if facts.distinct > _MOST:
        places = np.linspace(0, facts.distinct - 1, _MOST).astype(np.int64)
        values, counts = values.gather(places), counts[places]
    return values.to_list(), counts


def _holds_name(text: str) -> bool:
    parts = _words(text)
    if not 1 <= len(parts) <= 4 or not all(map(_is_word, parts)):
        return False
    return any(_is_name(part) and not _follows_place(parts, at) for at, part in enumerate(parts))


def _is_full_name(text: str) -> bool:
    parts = _words(text)
    if not 2 <= len(parts) <= 4 or not all(map(_is_word, parts)):
        return False
    given = [at for at, part in enumerate(parts) if _spellings(part) & GIVEN]
    return any(at != other and _spellings(parts[other]) & FAMILY for at in given for other in range(len(parts)))


def _mentions(text: str) -> bool:
    """Whether a text of three words or more has a given name, not in the name of a place, or a name after a title.

    Names are written with a capital.
    """
    parts = text.translate(_SEPARATORS).split()
    if len(parts) < 3 or text.isupper():
        return False
    return _has_titled_name(text) or any(
        part[:1].isupper()
        and len(part) > 2
        and part not in _MONTHS
        and _spellings(part) & GIVEN
        and not _follows_place(parts, at)
        for at, part in enumerate(parts)
    )


def _has_titled_name(text: str) -> bool:
    """Whether a text has a name after a title, such as Frau Keller."""
    parts = text.translate(_SEPARATORS).split()
    return any(part.rstrip(".").lower() in _TITLES and _is_name_like(following) for part, following in pairwise(parts))


def _is_name_like(word: str) -> bool:
    return len(word) > 2 and word[0].isupper() and word[1:].islower() and word not in _MONTHS


def _follows_place(parts: list[str], at: int) -> bool:
    """Whether a word is part of a place's name, such as San Jose."""
    return at > 0 and parts[at - 1].lower() in _PLACES_AND_THINGS


def _is_proper(text: str) -> bool:
    parts = text.replace(",", " ").split()
    if not 1 <= len(parts) <= 4:
        return False
    return all(_is_word(part.strip(".")) and (part[0].isupper() or part[0].lower() == part[0].upper()) for part in parts)


def _words(text: str) -> list[str]:
    return text.translate(_SEPARATORS).split()


def _is_word(part: str) -> bool:
    plain = part.replace("'", "").replace("’", "")
    return bool(plain) and all(char.isalpha() or unicodedata.combining(char) for char in plain)


def _is_name(part: str) -> bool:
    spellings = _spellings(part)
    return bool(spellings & GIVEN or spellings & FAMILY)


@lru_cache(maxsize=65_536)
def _spellings(part: str) -> frozenset[str]:
    """A word in small Latin letters without accents: an umlaut once as two letters and once as one."""
    lower = part.strip().lower().replace("ß", "ss").replace("æ", "ae").replace("ł", "l").replace("đ", "d").replace("ı", "i")
    lower = unicodedata.normalize("NFC", lower)
    written_out = re.sub("[äöü]", lambda letter: {"ä": "ae", "ö": "oe", "ü": "ue"}[letter.group()], lower)
    both = (written_in_latin(_without_accents(spelling.replace("ø", "o").replace("å", "a"))) for spelling in (lower, written_out))
    # Cyrillic names end in -iya and -iy where others write -ia and -i
    return frozenset(form for spelling in both for form in (spelling, spelling.replace("iya", "ia"), spelling.removesuffix("y")))


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    # the breve of the Cyrillic short i is a letter of its own, no accent
    kept = text.replace("й", "\0")
    plain = "".join(char for char in unicodedata.normalize("NFKD", kept) if not unicodedata.combining(char))
    return plain.replace("\0", "й")
