"""Which kind of attribute the values of a column are words of."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.analysis.dictionaries.conduct import CONDUCT
from discreet.analysis.dictionaries.health import HEALTH
from discreet.analysis.dictionaries.people import PEOPLE
from discreet.analysis.dictionaries.places import PLACES
from discreet.analysis.dictionaries.work import WORK

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LONGEST = 60
_OPEN_ENDED = frozenset(
    """other;others;unknown;none;na;n a;missing;refused;not applicable;not stated;no answer;dont know;don t know;iap;unidentified;
    prefer not to say;not available;unspecified;ignore;misc""".replace("\n    ", "").split(";")
)
"""Values that any list may hold; they neither support nor contradict a kind."""
_SHARED = {"compass": "region", "state code": "region", "wedding role": "relation to head"}
"""Dictionaries that give evidence of another kind's name."""
_STRICT = {
    "sex": 0.9, "state code": 0.95, "compass": 0.9, "laboratory result": 0.6, "employer": 0.6, "housing": 0.6, "politics": 0.5,
    "looks": 0.5, "industry": 0.5, "treatment": 0.5, "disability": 0.6, "medication": 0.5,
}  # fmt: skip
"""Dictionaries of words with other meanings: the share of the records that they must explain."""
_LETTERS_OF_SEX = ("mfdxu", "mwdx", "mvx", "mkx", "hfx")
"""Letters for the sexes in one language, the first two of which must occur: a column of D and W holds days and weeks."""
_INSIDE_TEXT = frozenset({"disease", "crime", "medication", "occupation", "religion"})
_LEAST_SHARE = 0.4
_LEAST_WORDS = {"sex": 2, "state code": 5, "compass": 3}


@dataclass(frozen=True, slots=True)
class WordMatch:
    """A kind whose words the values are, with the number of such values and their share of the records."""

    kind: str
    dictionary: str
    values: int
    share: float
    strength: float


def match_words(values: Sequence[str], counts: NDArray[np.int64]) -> list[WordMatch]:
    """The kinds whose words most of the records hold, the strongest first; values such as 'other' are left out of the count.

    >>> [match.kind for match in match_words(["Male", "Female", "Unknown"], np.array([5, 6, 1]))]
    ['sex']
    """
    hits: dict[str, list[int]] = {}
    considered = np.zeros(len(values), dtype=np.bool_)
    for position, value in enumerate(values):
        text = normalise_value(value)
        if text in _OPEN_ENDED or not text:
            continue
        considered[position] = True
        for dictionary in _dictionaries_of(text):
            hits.setdefault(dictionary, []).append(position)
    total = float(counts[considered].sum())
    if not total:
        return []
    matches = []
    for dictionary, positions in hits.items():
        share = float(counts[positions].sum()) / total
        by_value = len(positions) / max(int(considered.sum()), 1)
        if dictionary == "sex" and not _are_letters_of_sex([normalise_value(values[position]) for position in positions]):
            continue
        if share < _STRICT.get(dictionary, _LEAST_SHARE) or len(positions) < _LEAST_WORDS.get(dictionary, 2):
            continue
        strength = 0.5 * share + 0.5 * by_value
        if dictionary == "compass":
            strength *= 0.3  # a direction, a wing of a house, a card player
        matches.append(WordMatch(_SHARED.get(dictionary, dictionary), dictionary, len(positions), share, strength))
    return sorted(matches, key=lambda match: (-match.strength, match.kind))


def _are_letters_of_sex(words: Sequence[str]) -> bool:
    """Whether the single letters among the values belong to one language; true where there are none."""
    letters = {word for word in words if len(word) == 1}
    return not letters or any(set(pair[:2]) <= letters <= set(pair) for pair in _LETTERS_OF_SEX) or letters <= {"m", "f"}


@lru_cache(maxsize=65_536)
def normalise_value(text: str) -> str:
    """Small letters without accents and punctuation, words separated by one space."""
    lower = text[:_LONGEST].strip().lower().replace("ß", "ss")
    bare = "".join(char for char in unicodedata.normalize("NFKD", lower) if not unicodedata.combining(char))
    return " ".join(re.sub(r"[\W_]+", " ", bare).split())


def _dictionaries_of(text: str) -> tuple[str, ...]:
    """The dictionaries that have a value; one with a number or a remark in front or behind counts by its words."""
    table = _words()
    if text in table:
        return table[text]
    bare = re.sub(r"^\d+ | \d+$", "", text)
    if bare in table:
        return table[bare]
    return _long_phrases_in(text)


def _long_phrases_in(text: str) -> tuple[str, ...]:
    """Dictionaries of diseases, crimes and the like that have two words, or a long one, within a value."""
    words = text.split()
    if not 2 <= len(words) <= 6:
        return ()
    found: list[str] = []
    for size in (3, 2, 1):
        for start in range(len(words) - size + 1):
            phrase = " ".join(words[start : start + size])
            if size > 1 or len(phrase) >= 6:
                found += [
                    name
                    for name in _words().get(phrase, ())
                    if name in ("disease", "crime", "medication", "occupation", "religion")
                ]
    return tuple(dict.fromkeys(found))


@cache
def _words() -> Mapping[str, tuple[str, ...]]:
    table: dict[str, list[str]] = {}
    for section in (PEOPLE, PLACES, WORK, HEALTH, CONDUCT):
        for name, vocabulary in section.items():
            for word in vocabulary.split(","):
                key = normalise_value(" ".join(word.split()))
                if key and key not in _OPEN_ENDED and name not in table.setdefault(key, []):
                    table[key].append(name)
    return {key: tuple(names) for key, names in table.items() if names}
