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
from functools import cache

from discreet.engine.recognition.compound_heads import find_last_part
from discreet.engine.recognition.confidential_names import CONFIDENTIALS
from discreet.engine.recognition.health_names import DRUG_STEMS
from discreet.engine.recognition.household_numbers import numbers_households
from discreet.engine.recognition.identifier_names import IDENTIFIERS, WEIGHTS
from discreet.engine.recognition.key_names import KEYS
from discreet.engine.recognition.name_rules import PERSON_NAME, RECORD_ID, Kind, word_set

_PREPOSITIONS = word_set("""at of for per in on by from to with de du des di da del della van von vom zum""")
_QUANTITIES = word_set("number num no nr count amount total sum share percentage frequency anzahl nombre numero cantidad")
"""Words before 'of' that say how something is counted: the head of 'number of visits to a doctor' is 'visits'."""
_PEOPLE_AND_THINGS = word_set(
    """patient user person customer client member employee student subject participant respondent child mother father
    parent husband wife spouse partner owner contact doctor physician head hh emergency primary secondary current
    previous prev last first total num number count nbr nr no code type status group class level flag date year month
    day birth death home work visit encounter case record file order claim kunden patienten mitarbeiter schueler"""
)
_MODIFIERS = word_set(
    """good poor bad very high low old young new big small large avg average mean max min median tot any ever never prior
    pct percent share rate ratio index score grp cat dummy ind indicator has had was did own self years yrs year weekly
    monthly annual daily hourly per log sqrt sum diff change raw std adj imputed recoded baseline base follow final initial
    stat"""
)
"""Words that say how something is counted or when; they neither name a kind nor hide one."""
_NEVER_SPLIT = word_set(
    """percentage average message usage image stage page package storage mileage damage manage management passage voltage
    advantage courage garbage heritage linkage marriage mortgage outage postage sausage shortage tonnage vintage wastage cabbage
    engage garage massage sewage stages pages images acreage leverage coverage carriage drainage dosage footage sexton
    essex sussex middlesex unisex racecar grace trace brace terrace surface raced wager lawage bondage foliage cottage village
    language agency agenda agent agents change changes period identity idea hidden valid video android payment manifest
    statement department export exports exported measurement management element segment appointment assessment agreement"""
)
"""Words that hold another word by accident: no age in a percentage."""
_NOT_PEOPLE = word_set(
    """file product brand table column field variable course project event hotel item model dataset test team package
    device ship program programme category label attribute feature app game store shop species street"""
)
CODE_WORDS = word_set(
    """code codes cd type typ category cat class klasse kategorie id icd nace isco group gruppe key schluessel flag
    stratum strata psu"""
)
_REMOTE = word_set("prev previous former past ago father mother parent parents spouse husband wife partner sibling")
_LONGEST_LABEL = 120
_LEAST_EXPLAINED = 0.5
_LEAST_LETTERS = 5
"""Letters of a word that is taken for the beginning of a longer one."""
_NUMBER = re.compile(r"^(?:no|nr|num)(?:\[a-z\]\*)?$")
_LEAST_ABBREVIATED = 4
"""Letters that are left of an abbreviated name."""
_SHORT = frozenset({"id", "no", "nr", "dx", "rx", "wt"})
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
    together = [part for chunk in re.findall(r"[^\W_]+", plain.lower()) for part in _split_into_words(chunk)]
    best: tuple[Kind, str, float] | None = None
    for parts in (camel, together):
        candidate = _find_kind(parts)
        # a specific kind is better evidence than 'id' or 'name'
        if candidate and (best is None or (best[0].weak and not candidate[0].weak)):
            best = (*candidate, _share_explained(parts, candidate[1]))
    name_words = tuple(dict.fromkeys([*camel, *together]))
    if numbers_households(plain):
        return Naming(name_words, _phrases()[("household", "number")], "household number")
    if (expanded := _expand_abbreviations(plain.lower())) is not None:
        return Naming(name_words, *expanded)
    if best is None or best[0].weak:
        last_part = next((part for word in reversed(name_words) if (part := find_last_part(word)) is not None), None)
        if last_part is not None:
            return Naming(name_words, _phrases()[(last_part,)], last_part)
        stem = next((word for word in name_words if len(word) >= 7 and word.endswith(DRUG_STEMS)), None)
        if stem is not None:
            return Naming(name_words, next(kind for kind in CONFIDENTIALS if kind.name == "medication"), stem)
    return Naming(name_words, *best) if best else Naming(name_words, None)


@cache
def _expand_abbreviations(name: str) -> tuple[Kind, str] | None:
    """The kind of the only phrases that a name with dots may abbreviate, and the shortest: 'geb.-datum' is 'geburtsdatum'.

    A dot stands for letters left out, whatever is written together or apart. Runs over the whole vocabulary, a few thousand
    phrases, and only for names with a dot.
    """
    parts = re.findall(r"[^\W\d_]+\.?", name)
    if not any(part.endswith(".") for part in parts) or sum(map(len, parts)) - name.count(".") < _LEAST_ABBREVIATED:
        return None
    if name.count(".") and " " not in name and not name.endswith(".") and ".-" not in name:
        return None  # 'annual.family.income' has dots between whole words
    pattern = re.compile("".join(_NUMBER.sub(r"(?:no|nr|num|number|nummer)", part.replace(".", "[a-z]*")) for part in parts))
    matches = [(text, _phrases()[phrase]) for text, phrase in _written_together().items() if pattern.fullmatch(text)]
    if not matches or len({kind.name for _, kind in matches}) > 1:
        return None
    return matches[0][1], min((text for text, _ in matches), key=lambda text: (len(text), text))


@cache
def complete_truncated_word(word: str) -> tuple[Kind, str] | None:
    """The kind and a word of the vocabulary that begins with this one, where all such words are of one kind.

    >>> complete_truncated_word("disea")[1], complete_truncated_word("qwert")
    ('disease', None)
    """
    if len(word) < _LEAST_LETTERS or not word.isalpha() or word in _NEVER_SPLIT:
        return None
    longer = [
        (phrase[0], kind)
        for phrase, kind in _phrases().items()
        if len(phrase) == 1 and phrase[0] != word and phrase[0].startswith(word)
    ]
    if not longer or len({kind.name for _, kind in longer}) > 1 or longer[0][1].weak:
        return None
    return longer[0][1], min((text for text, _ in longer), key=lambda text: (len(text), text))


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
    neutral = set(phrase.split()) | _MODIFIERS | _PEOPLE_AND_THINGS | _PREPOSITIONS | CODE_WORDS
    real = [word for word in words if not word.isdigit()]
    return sum(word in neutral or word in phrase for word in real) / len(real) if real else 1.0


def _without_accents(name: str) -> str:
    """The name without accents, and with umlauts as plain letters."""
    out = _NORDIC_WAGE.sub("lonn", unicodedata.normalize("NFC", name).replace("ß", "ss"))
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
                raise AssertionError(f"'{' '.join(phrase)}' is a phrase of {table[phrase].name} and of {kind.name}")
            # umlauts may be written as two letters or as one
            single = tuple(re.sub(r"(?<=[a-z])(a|o|u)e(?=[a-z])", r"\1", word) for word in phrase)
            table.setdefault(single, kind)
    return table


@cache
def _written_together() -> dict[str, tuple[str, ...]]:
    return {"".join(phrase): phrase for phrase in _phrases()}


@cache
def _vocabulary() -> frozenset[str]:
    words = {word for phrase in _phrases() for word in phrase}
    words |= _PEOPLE_AND_THINGS | _NOT_PEOPLE | _PREPOSITIONS | _MODIFIERS
    return frozenset(word for word in words if len(word) >= 3) | _SHORT


def _split_into_words(chunk: str) -> list[str]:
    """The fewest words of the vocabulary that cover a chunk completely; the chunk itself where there are none."""
    if chunk in _written_together():
        return list(_written_together()[chunk])
    if len(chunk) > 40 or chunk in _NEVER_SPLIT or chunk in _vocabulary():
        return [chunk]
    known, best = _vocabulary(), {0: []}  # type: tuple[frozenset[str], dict[int, list[str]]]
    for end in range(1, len(chunk) + 1):
        for start in range(end):
            part = chunk[start:end]
            if start in best and (part in known or part.isdigit()) and (end not in best or len(best[start]) + 1 < len(best[end])):
                best[end] = [*best[start], part]
    return best.get(len(chunk), [chunk])


def _find_kind(words: list[str]) -> tuple[Kind, str] | None:
    table = _phrases()
    spans: list[tuple[int, int, Kind]] = []
    for start in range(len(words)):
        for end in range(start + 1, min(start + 5, len(words)) + 1):
            kind_found = table.get(tuple(words[start:end])) or (
                table[_written_together()[joined]] if (joined := "".join(words[start:end])) in _written_together() else None
            )
            if kind_found is not None:
                spans.append((start, end, kind_found))
    spans = [span for span in spans if not any(_is_inside(span, other) for other in spans) and _may_count(words, span)]
    strong = [span for span in spans if not span[2].weak]
    chosen = strong or [span for span in spans if not (span[2].name == PERSON_NAME and _NOT_PEOPLE & set(words))]
    if not chosen:
        return None
    first = 2 if len(words) > 2 and words[0] in _QUANTITIES and words[1] in _PREPOSITIONS else 1
    cut = next((index for index, word in enumerate(words) if word in _PREPOSITIONS and index >= first), len(words))
    head = [span for span in chosen if span[0] < cut] or chosen
    start, end, kind = max(head, key=lambda span: (span[1], span[0]))
    return kind, " ".join(words[start:end])


def _may_count(words: list[str], span: tuple[int, int, Kind]) -> bool:
    """Whether a match counts: an abbreviation of two letters only where it is the whole name, apart from numbers and the like."""
    if span[1] - span[0] > 1 or len(words[span[0]]) > 2 or words[span[0]] in _SHORT:
        return True
    rest = [word for position, word in enumerate(words) if position != span[0] and not word.isdigit()]
    return all(word in _MODIFIERS or len(word) == 1 for word in rest)


def _is_inside(span: tuple[int, int, Kind], longer: tuple[int, int, Kind]) -> bool:
    return longer[0] <= span[0] and span[1] <= longer[1] and (longer[1] - longer[0]) > (span[1] - span[0])
