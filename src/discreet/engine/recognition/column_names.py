"""Recognising what a column is about from its name.

A name is split into words (at punctuation, at a change of case, and where words are written together, into words of the
vocabulary that cover it completely), so that 'diagnosis' does not contain 'id' and 'username' does contain 'name'. The words are
then looked up as phrases. A longer phrase wins over a shorter one inside it; the head of a name is before a preposition ('age at
diagnosis') and otherwise last ('household income'); 'id' and 'name' are used only if nothing else matches ('school id').
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from discreet.engine.recognition.abbreviations import expand_abbreviations
from discreet.engine.recognition.compound_heads import find_last_part
from discreet.engine.recognition.confidential_names import CONFIDENTIALS
from discreet.engine.recognition.health_names import DRUG_STEMS
from discreet.engine.recognition.household_numbers import numbers_households
from discreet.engine.recognition.name_rules import PERSON_NAME, RECORD_ID, Kind, word_set
from discreet.engine.recognition.vocabulary import (
    MODIFIERS,
    NOT_PEOPLE,
    PEOPLE_AND_THINGS,
    PREPOSITIONS,
    SHORT,
    phrases,
    split_into_words,
    written_together,
)

_QUANTITIES = word_set("number num no nr count amount total sum share percentage frequency anzahl nombre numero cantidad")
"""Words before 'of' that say how something is counted: the head of 'number of visits to a doctor' is 'visits'."""
CODE_WORDS = word_set(
    """code codes cd type typ category cat class klasse kategorie id icd nace isco group gruppe key schluessel flag
    stratum strata psu"""
)
_REMOTE = word_set("prev previous former past ago father mother parent parents spouse husband wife partner sibling")
_LONGEST_LABEL = 120
_LEAST_EXPLAINED = 0.5
_NORDIC_WAGE = re.compile(r"l[öø]n(?![^\W\d_])", re.IGNORECASE)
"""Swedish and Danish wages, which without their accent are longitudes."""
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")


@dataclass(frozen=True, slots=True)
class Naming:
    """The result of looking up a name: its words, the kind of attribute, and the phrase that matched."""

    words: tuple[str, ...]
    kind: Kind | None
    phrase: str = ""
    explained: float = 1.0
    source: str = "column name"
    """Share of the words that the phrase and words without a meaning of their own explain."""

    @property
    def description(self) -> str:
        """A sentence on the kind that the name matches, with the part of the name that matched."""
        if self.kind is None:
            return f"{self.source} not recognised"
        return f"{self.source} matches '{self.kind.name}'" + ("" if self.phrase == self.kind.name else f" ('{self.phrase}')")

    @property
    def is_remote(self) -> bool:
        """Whether the name refers to the past or to a relative, which fewer people know."""
        return bool(_REMOTE & set(self.words))

    @property
    def is_code(self) -> bool:
        """Whether the name indicates that numbers are codes."""
        return bool(CODE_WORDS & set(self.words))


def look_up_name(name: str) -> Naming:
    """The kind of attribute that a column name matches.

    >>> look_up_name("dateOfBirth").kind.name, look_up_name("username").kind.name, look_up_name("diagnosis_id").kind.name
    ('birth date', "person's name", 'disease')
    >>> look_up_name("Geb.-Datum").kind.name, look_up_name("Fam.-Stand").kind.name, look_up_name("Geschl.").kind.name
    ('birth date', 'marital status', 'sex')
    >>> look_up_name("number of visits to a doctor").kind.name
    'treatment'
    >>> look_up_name("wage_per_hour").kind.name, look_up_name("school id").kind.name, look_up_name("colour").kind
    ('income', 'school', None)
    """
    plain = _without_accents(name)
    camel = [word.lower() for word in _CAMEL.findall(plain)]
    together = [part for chunk in re.findall(r"[^\W_]+", plain.lower()) for part in split_into_words(chunk)]
    best: tuple[Kind, str, float] | None = None
    for parts in (camel, together):
        candidate = _find_kind(parts)
        # a specific kind is better evidence than 'id' or 'name'
        if candidate and (best is None or (best[0].weak and not candidate[0].weak)):
            best = (*candidate, _share_explained(parts, candidate[1]))
    name_words = tuple(dict.fromkeys([*camel, *together]))
    if numbers_households(plain):
        return Naming(name_words, phrases()[("household", "number")], "household number")
    if (expanded := expand_abbreviations(plain.lower())) is not None:
        return Naming(name_words, *expanded)
    if best is None or best[0].weak:
        last_part = next((part for word in reversed(name_words) if (part := find_last_part(word)) is not None), None)
        if last_part is not None:
            return Naming(name_words, phrases()[(last_part,)], last_part)
        stem = next((word for word in name_words if len(word) >= 7 and word.endswith(DRUG_STEMS)), None)
        if stem is not None:
            return Naming(name_words, next(kind for kind in CONFIDENTIALS if kind.name == "medication"), stem)
    return Naming(name_words, *best) if best else Naming(name_words, None)


def look_up_label(name: str, label: str) -> Naming:
    """The kind that a column's name or its variable label matches; the label, written for people, decides where both do.

    >>> look_up_label("villnum", "Village ID").kind.name, look_up_label("sbp", "").kind.name
    ('region', 'laboratory result')
    """
    named = look_up_name(name)
    text = re.sub(r"^\s*(?:=\s*1|1|dummy)\s*(?:if|for|:)\s*", "", label.strip(), flags=re.IGNORECASE)
    if not text or text.lower() == name.lower():
        return named
    labelled = look_up_name(text[:_LONGEST_LABEL])
    if labelled.kind is None or (named.kind is not None and labelled.kind.weak):
        return named
    if named.kind is not None and named.kind.name == RECORD_ID and {"id", "identifier", "number"} & set(labelled.words):
        return named  # a provider's id is the id of a record, no provider of care
    if named.kind is not None and not named.kind.weak and labelled.explained < _LEAST_EXPLAINED:
        return named
    words = tuple(dict.fromkeys([*named.words, *labelled.words]))
    return Naming(words, labelled.kind, labelled.phrase, labelled.explained, "variable label")


def _share_explained(words: list[str], phrase: str) -> float:
    """The share of the words that are part of the phrase, numbers, prepositions, or say only how something is counted."""
    neutral = set(phrase.split()) | MODIFIERS | PEOPLE_AND_THINGS | PREPOSITIONS | CODE_WORDS
    real = [word for word in words if not word.isdigit()]
    return sum(word in neutral or word in phrase for word in real) / len(real) if real else 1.0


def _without_accents(name: str) -> str:
    """The name without accents, and with umlauts as plain letters."""
    out = _NORDIC_WAGE.sub("lonn", unicodedata.normalize("NFC", name).replace("ß", "ss"))
    for umlaut, written in zip("äöüÄÖÜ", ("a", "o", "u", "A", "O", "U"), strict=True):
        out = out.replace(umlaut, written)
    out = out.replace("ø", "o").replace("Ø", "O").replace("æ", "ae").replace("Æ", "Ae")
    return "".join(char for char in unicodedata.normalize("NFKD", out) if not unicodedata.combining(char))


def _find_kind(words: list[str]) -> tuple[Kind, str] | None:
    table = phrases()
    spans: list[tuple[int, int, Kind]] = []
    for start in range(len(words)):
        for end in range(start + 1, min(start + 5, len(words)) + 1):
            kind_found = table.get(tuple(words[start:end])) or (
                table[written_together()[joined]] if (joined := "".join(words[start:end])) in written_together() else None
            )
            if kind_found is not None:
                spans.append((start, end, kind_found))
    spans = [span for span in spans if not any(_is_inside(span, other) for other in spans) and _may_count(words, span)]
    strong = [span for span in spans if not span[2].weak]
    chosen = strong or [span for span in spans if not (span[2].name == PERSON_NAME and NOT_PEOPLE & set(words))]
    if not chosen:
        return None
    first = 2 if len(words) > 2 and words[0] in _QUANTITIES and words[1] in PREPOSITIONS else 1
    cut = next((index for index, word in enumerate(words) if word in PREPOSITIONS and index >= first), len(words))
    head = [span for span in chosen if span[0] < cut] or chosen
    start, end, kind = max(head, key=lambda span: (span[1], span[0]))
    return kind, " ".join(words[start:end])


def _may_count(words: list[str], span: tuple[int, int, Kind]) -> bool:
    """Whether a match counts: an abbreviation of two letters only where it is the whole name, apart from numbers and the like."""
    if span[1] - span[0] > 1 or len(words[span[0]]) > 2 or words[span[0]] in SHORT:
        return True
    rest = [word for position, word in enumerate(words) if position != span[0] and not word.isdigit()]
    return all(word in MODIFIERS or len(word) == 1 for word in rest)


def _is_inside(span: tuple[int, int, Kind], longer: tuple[int, int, Kind]) -> bool:
    return longer[0] <= span[0] and span[1] <= longer[1] and (longer[1] - longer[0]) > (span[1] - span[0])
