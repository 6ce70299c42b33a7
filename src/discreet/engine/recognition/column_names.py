"""What a column's name says it is about.

A name is cut into words (at signs, at a change of case, and where it is written together, into words of the vocabulary
that cover it whole), so that 'diagnosis' does not hold 'id' and 'username' does hold 'name'. Words are then looked up as
phrases. A longer phrase comes before a shorter one inside it; before a preposition stands the head of a name ('age at
diagnosis'), elsewhere it stands last ('household income'); 'id' and 'name' yield to anything else ('school id').
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from discreet.engine.recognition.confidential_names import CONFIDENTIALS, DRUG_STEMS
from discreet.engine.recognition.identifier_names import IDENTIFIERS, WEIGHTS
from discreet.engine.recognition.key_names import KEYS
from discreet.engine.recognition.name_rules import PERSON_NAME, Kind, words

_PREPOSITIONS = words("""at of for per in on by from de du des di da del della van von vom zum""")
_PEOPLE_AND_THINGS = words(
    """patient user person customer client member employee student subject participant respondent child mother father
    parent husband wife spouse partner owner contact doctor physician head hh emergency primary secondary current
    previous prev last first total num number count nbr nr no code type status group class level flag date year month
    day birth death home work visit encounter case record file order claim kunden patienten mitarbeiter schueler"""
)
_NOT_PEOPLE = words(
    """file product brand table column field variable course project event hotel item model dataset test team package
    device ship program programme category label attribute feature app game store shop species street"""
)
CODE_WORDS = words(
    """code codes cd type typ category cat class klasse kategorie id icd nace isco group gruppe key schluessel flag"""
)
_REMOTE = words("prev previous former past ago father mother parent parents spouse husband wife partner sibling")
_SHORT = frozenset({"id", "no", "nr", "dx", "rx", "wt"})
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")


@dataclass(frozen=True, slots=True)
class Naming:
    """What a name says: its words, the kind found and the phrase that showed it."""

    words: tuple[str, ...]
    kind: Kind | None
    phrase: str = ""

    @property
    def said(self) -> str:
        """The kind in words, with the part of the name that showed it."""
        if self.kind is None:
            return "of no known kind by its name"
        return f"{self.kind.name} by its name" + ("" if self.phrase == self.kind.name else f" ('{self.phrase}')")

    @property
    def is_remote(self) -> bool:
        """Whether the name speaks of the past or of a relative, which fewer people know."""
        return bool(_REMOTE & set(self.words))

    @property
    def is_code(self) -> bool:
        """Whether the name says that numbers are codes."""
        return bool(CODE_WORDS & set(self.words))


def naming(name: str) -> Naming:
    """Look a column's name up.

    >>> naming("dateOfBirth").kind.name, naming("username").kind.name, naming("diagnosis_id").kind.name
    ('birth date', "person's name", 'disease')
    >>> naming("wage_per_hour").kind.name, naming("school id").kind.name, naming("colour").kind
    ('income', 'school', None)
    """
    plain = _plain(name)
    camel = [word.lower() for word in _CAMEL.findall(plain)]
    together = [part for chunk in re.findall(r"[^\W_]+", plain.lower()) for part in _cut(chunk)]
    best: tuple[Kind, str] | None = None
    for parts in (camel, together):
        found = _resolve(parts)
        # a kind that stands on its own feet is better evidence than 'id' or 'name'
        if found and (best is None or (best[0].weak and not found[0].weak)):
            best = found
    said = tuple(dict.fromkeys([*camel, *together]))
    if best is None or best[0].weak:
        stem = next((word for word in said if len(word) >= 7 and word.endswith(DRUG_STEMS)), None)
        if stem is not None:
            return Naming(said, next(kind for kind in CONFIDENTIALS if kind.name == "medication"), stem)
    return Naming(said, best[0], best[1]) if best else Naming(said, None)


def _plain(name: str) -> str:
    """Without accents; German umlauts written out, as people do in column names."""
    out = name.replace("ß", "ss")
    for umlaut, written in zip("äöüÄÖÜ", ("a", "o", "u", "A", "O", "U"), strict=True):
        out = out.replace(umlaut, written)
    out = out.replace("ø", "o").replace("Ø", "O").replace("æ", "ae").replace("Æ", "Ae")
    return "".join(char for char in unicodedata.normalize("NFKD", out) if not unicodedata.combining(char))


@cache
def _phrases() -> dict[tuple[str, ...], Kind]:
    table: dict[tuple[str, ...], Kind] = {}
    for kind in (*IDENTIFIERS, *WEIGHTS, *KEYS, *CONFIDENTIALS):
        for phrase in kind.phrases:
            if table.setdefault(phrase, kind) is not kind:
                raise AssertionError(f"'{' '.join(phrase)}' stands for {table[phrase].name} and for {kind.name}")
            # umlauts are written as two letters or as one
            single = tuple(re.sub(r"(?<=[a-z])(a|o|u)e(?=[a-z])", r"\1", word) for word in phrase)
            table.setdefault(single, kind)
    return table


@cache
def _written_together() -> dict[str, tuple[str, ...]]:
    return {"".join(phrase): phrase for phrase in _phrases()}


@cache
def _vocabulary() -> frozenset[str]:
    words = {word for phrase in _phrases() for word in phrase} | _PEOPLE_AND_THINGS | _NOT_PEOPLE | _PREPOSITIONS
    return frozenset(word for word in words if len(word) >= 3) | _SHORT


def _cut(chunk: str) -> list[str]:
    """A chunk as words of the vocabulary that cover it whole, fewest first; as it stands where they do not."""
    if chunk in _written_together():
        return list(_written_together()[chunk])
    if len(chunk) > 40:
        return [chunk]
    known, best = _vocabulary(), {0: []}  # type: tuple[frozenset[str], dict[int, list[str]]]
    for end in range(1, len(chunk) + 1):
        for start in range(end):
            part = chunk[start:end]
            if start in best and (part in known or part.isdigit()) and (end not in best or len(best[start]) + 1 < len(best[end])):
                best[end] = [*best[start], part]
    return best.get(len(chunk), [chunk])


def _resolve(words: list[str]) -> tuple[Kind, str] | None:
    table = _phrases()
    spans: list[tuple[int, int, Kind]] = []
    for start in range(len(words)):
        for end in range(start + 1, min(start + 5, len(words)) + 1):
            found = table.get(tuple(words[start:end])) or (
                table[_written_together()[joined]] if (joined := "".join(words[start:end])) in _written_together() else None
            )
            if found is not None:
                spans.append((start, end, found))
    spans = [one for one in spans if not any(_inside(one, other) for other in spans)]
    strong = [one for one in spans if not one[2].weak]
    chosen = strong or [one for one in spans if not (one[2].name == PERSON_NAME and _NOT_PEOPLE & set(words))]
    if not chosen:
        return None
    cut = next((at for at, word in enumerate(words) if word in _PREPOSITIONS and at > 0), len(words))
    head = [one for one in chosen if one[0] < cut] or chosen
    start, end, kind = max(head, key=lambda one: (one[1], one[0]))
    return kind, " ".join(words[start:end])


def _inside(one: tuple[int, int, Kind], other: tuple[int, int, Kind]) -> bool:
    return other[0] <= one[0] and one[1] <= other[1] and (other[1] - other[0]) > (one[1] - one[0])
