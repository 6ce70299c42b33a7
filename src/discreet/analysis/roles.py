"""The role of a column: identifier, household, key, confidential, weight or other, by all the evidence there is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from discreet.analysis.context import ONLY_OF_PEOPLE
from discreet.analysis.evidence import KIND_BY_NAME, Evidence, combine, contradiction
from discreet.analysis.persons import propose_household
from discreet.analysis.weights import propose_for_weight
from discreet.engine.recognition import identifiers
from discreet.engine.recognition.column_names import look_up_name
from discreet.engine.recognition.findings import Finding, default_numbers, describe_defaults
from discreet.engine.recognition.name_rules import OCCASION, PERSON_NAME, SURVEY_WEIGHT, Kind, word_set
from discreet.engine.recognition.name_values import is_written_like_names, share_of_names
from discreet.engine.recognition.value_facts import Facts
from discreet.model.attribute import Role

_RARE_FLAG_SHARE = 0.05
_LEAST_SENSITIVE_SHARE = 0.2
"""A text column is confidential if at least this share of the records has a value that names something very sensitive."""
_VERY_SENSITIVE = 0.8
_MOST_VALUES, _MOST_LETTERS = 200, 60
"""Values of a text column, and letters of a value, that are looked up at most."""
_LEAST_WEIGHT = 0.35
"""Evidence below this does not decide a role."""
_UNKNOWN_IN_PEOPLE, _UNKNOWN_IN_THINGS = 0.3, 0.6
_DESIGN_WORDS = word_set(
    """stratum strata psu ssu cluster wave round edition version batch interviewer interview mode source file dataset sample
    split fold panel session season series episode replicate rownames index idx block blocks study trial phase turnaround"""
)
_TIME_WORDS = word_set(
    "year years yr month months mo quarter qtr week day days date season term semester hour jahr annee anno ano"
)
_UNEXPLAINED = "neither its name nor its values suggest a role"
_COLLECTION = "its name says when or how the record was collected"
_PEOPLE_NAME_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the other columns say: the kinds among them, and whether the table is about people or about things."""

    kinds: frozenset[str] = frozenset()
    people: bool = False
    things: bool = False
    names: frozenset[str] = frozenset()
    beside_names: frozenset[str] = frozenset()
    """Columns that stand beside another part of a person's name, such as 'first' beside 'last'."""


def propose_role(facts: Facts, evidence: list[Evidence], around: Surroundings) -> Finding:
    """The proposed role of a column that holds no dates, by its own evidence and what stands around it."""
    if (finding := identifiers.by_form(facts)) is not None:
        return replace(finding, confidence=0.98)
    if (finding := _propose_by_identifying_name(facts, around)) is not None:
        return finding
    kind = facts.naming.kind
    if (household := propose_household(facts, things=around.things)) is not None:
        return household
    if (finding := identifiers.by_record_id(facts)) is not None:
        return replace(finding, confidence=0.85 if facts.uniqueness >= 0.95 else 0.65)
    if (finding := identifiers.by_remarks(facts)) is not None:
        return replace(finding, confidence=0.8)
    if kind is not None and kind.name == SURVEY_WEIGHT and not any(piece.source == "values" for piece in evidence):
        return propose_for_weight(facts, around.kinds, around.people)
    if kind is not None and kind.role is Role.OTHER and contradiction(kind, facts) is None:
        return propose_by_kind(facts, kind, facts.naming.description, 0.6)
    if (finding := propose_by_evidence(facts, evidence, around)) is not None:
        return finding
    if (finding := _propose_by_person_names(facts, evidence)) is not None:
        return finding
    return _propose_by_values(facts) or _propose_unique(facts) or _propose_unknown(facts, around)


def _propose_by_identifying_name(facts: Facts, around: Surroundings) -> Finding | None:
    kind = facts.naming.kind
    finding = identifiers.by_name(facts)
    if finding is None and facts.name in around.beside_names and facts.is_text:
        return Finding(Role.IDENTIFIER, "stands beside another part of a person's name", confidence=0.85)
    if finding is None or kind is None:
        return None
    if kind.name in (PERSON_NAME, "account number", "address", "picture or voice", "credential") or kind.weak:
        like_names = share_of_names(facts) >= 0.15 or is_written_like_names(replace_naming(facts))
        if kind.name == PERSON_NAME and around.things and not like_names:
            return None  # the name of a car
        if kind.name != PERSON_NAME and facts.distinct <= 12 and facts.records >= 100:
            return None  # 'account: savings, checking' is a type of account
        return replace(finding, confidence=0.9 if like_names or facts.uniqueness > 0.5 else 0.7)
    if kind.name != "person's name" and facts.distinct <= 5 and facts.records >= 200:
        return None  # a flag or a type, not a number of a person
    return replace(finding, confidence=0.9 if facts.naming.explained >= 0.6 else 0.8)


def replace_naming(facts: Facts) -> Facts:
    """The column as if its name said nothing, for detectors that look at the values of unnamed columns only."""
    return replace(facts, naming=replace(facts.naming, kind=None))


def propose_by_evidence(facts: Facts, evidence: list[Evidence], around: Surroundings) -> Finding | None:
    """The kind with the strongest evidence, where it is strong enough."""
    usable = [piece for piece in evidence if piece.kind.role in (Role.KEY, Role.CONFIDENTIAL)]
    if around.things:
        usable = [piece for piece in usable if piece.kind.name not in ONLY_OF_PEOPLE or piece.source != "name"]
    totals = combine(usable)
    if not totals:
        return None
    kind, weight = max(totals.values(), key=lambda total: (total[1], total[0].name))
    if weight < _LEAST_WEIGHT and not around.people:
        return None
    other_roles = [share for other, share in totals.values() if other.role is not kind.role]
    confidence = weight * (1 - 0.5 * max(other_roles, default=0.0))
    if around.people:
        confidence = min(0.98, confidence + 0.05)
    sentences = [piece.sentence for piece in usable if piece.kind.name == kind.name]
    against = [piece.sentence for piece in usable if piece.kind.role is not kind.role]
    text = "; ".join(dict.fromkeys(sentences)) + ("; against it: " + "; ".join(dict.fromkeys(against)) if against else "")
    return propose_by_kind(facts, kind, text, confidence)


def propose_by_kind(facts: Facts, kind: Kind, because: str, confidence: float = 0.8) -> Finding:
    """The role and the numbers of a kind of attribute, if the column has more than one value."""
    known, sensitivity, source = default_numbers(kind.role, kind)
    if facts.distinct <= 1:
        return Finding(Role.OTHER, f"{because}, but {_describe_constant(facts)}", confidence=0.9)
    if facts.naming.is_remote and kind.role is Role.KEY and not kind.weak:
        known, source = known / 4, f"{source} in the past or of a relative"
    reason = f"{because}; {describe_defaults(known, sensitivity, source)}"
    values: dict[str, float] = {}
    if kind.role is Role.CONFIDENTIAL and facts.yes is not None:
        values = {facts.yes[0]: 1.0}
        reason += f"; the sensitive value is '{facts.yes[0]}' ({facts.yes[1]:.2%} of the records)"
    return Finding(kind.role, reason, known, sensitivity, values, confidence, kind)


def _propose_by_person_names(facts: Facts, evidence: list[Evidence]) -> Finding | None:
    """An identifier where the values are names of people and the column's name says nothing else."""
    if not facts.is_text or facts.naming.kind is not None or any(piece.source == "values" for piece in evidence):
        return None
    share = share_of_names(facts)
    if share < _PEOPLE_NAME_SHARE or facts.distinct < 3:
        return None
    reason = f"{share:.0%} of the records hold a frequent given or family name"
    return Finding(Role.IDENTIFIER, reason, confidence=min(0.95, 0.5 + share))


def _propose_by_values(facts: Facts) -> Finding | None:
    """A role that the values suggest: sensitive words, rare flags, times of day or amounts of money; else None."""
    known, sensitivity, source = default_numbers(Role.CONFIDENTIAL, None)
    if (finding := _propose_by_sensitive_words(facts)) is not None:
        return finding
    if facts.yes is not None and facts.yes[1] < _RARE_FLAG_SHARE and facts.records >= 20:
        text, share = facts.yes
        because = f"a flag whose value '{text}' is rare ({share:.2%} of the records)"
        reason = f"{because}; {describe_defaults(known, sensitivity, source)}"
        return Finding(Role.CONFIDENTIAL, reason, known, sensitivity, {text: 1.0}, 0.5)
    if facts.dtype == pl.Time:
        return propose_by_kind(facts, KIND_BY_NAME[OCCASION], "times of day, which are known to acquaintances and registers", 0.6)
    zero_share = _share_of_zero_amounts(facts)
    if zero_share:
        low, high = facts.extremes
        others = f"{facts.distinct - 1:,} other numbers from {low:,} to {high:,}"
        because = f"zero in {zero_share:.0%} of the records, and {others}: probably an amount of money"
        reason = f"{because}; {describe_defaults(known, sensitivity, source)}"
        return Finding(Role.CONFIDENTIAL, reason, known, sensitivity, confidence=0.5)
    return None


def _propose_by_sensitive_words(facts: Facts) -> Finding | None:
    """Confidential if the values are themselves names of something very sensitive, such as diseases or crimes."""
    texts, counts = facts.words
    if not 2 <= len(texts) <= _MOST_VALUES or not facts.present:
        return None
    codes_by_kind: dict[Kind, list[int]] = {}
    for code, value in enumerate(texts):
        naming = look_up_name(value[:_MOST_LETTERS])
        kind = naming.kind
        sensitive = kind is not None and kind.role is Role.CONFIDENTIAL and kind.sensitivity >= _VERY_SENSITIVE
        if kind is not None and sensitive and naming.explained >= 0.5:
            codes_by_kind.setdefault(kind, []).append(code)
    codes = [code for kind_codes in codes_by_kind.values() for code in kind_codes]
    share = float(counts[codes].sum() / facts.present) if codes else 0.0
    if len(codes) < 2 or share < _LEAST_SENSITIVE_SHARE:
        return None
    main_kind = max(codes_by_kind, key=lambda kind: (counts[codes_by_kind[kind]].sum(), kind.name))
    because = f"{len(codes):,} of its values, in {share:.0%} of the records, are names of a {main_kind.name}"
    return propose_by_kind(facts, main_kind, because, 0.6)


def _share_of_zero_amounts(facts: Facts) -> float:
    """The share of zeros if many zeros and many other numbers suggest an amount of money; else 0."""
    if not facts.is_number or facts.distinct < 100 or facts.present == 0:
        return 0.0
    numbers = facts.numbers
    zero = int(np.searchsorted(numbers, 0.0))
    if zero >= len(numbers) or numbers[zero] != 0 or float(np.abs(numbers).max()) < 500:
        return 0.0
    share = float(facts.counts[zero] / facts.present)
    return share if share >= 0.3 else 0.0


def _propose_unique(facts: Facts) -> Finding | None:
    finding = identifiers.by_uniqueness(facts)
    return replace(finding, confidence=0.7) if finding is not None else None


def _propose_unknown(facts: Facts, around: Surroundings) -> Finding:
    """A column that nothing explains: confidential in a table about people, until its owner decides; else other."""
    if facts.distinct <= 1:
        return Finding(Role.OTHER, _describe_constant(facts), confidence=0.95)
    words = {word for word in facts.naming.words if not word.isdigit()}
    known, sensitivity, source = default_numbers(Role.OTHER, None)
    if words and (words & _DESIGN_WORDS or words <= _TIME_WORDS):
        return Finding(Role.OTHER, f"{_COLLECTION}; {describe_defaults(known, sensitivity, source)}", known, confidence=0.5)
    doubt = _UNEXPLAINED
    if facts.naming.kind is not None and (why := contradiction(facts.naming.kind, facts)) is not None:
        doubt = f"{facts.naming.description}, but {why}"
    if not around.people or _numbers_groups(facts):
        confidence = _UNKNOWN_IN_PEOPLE if around.people else _UNKNOWN_IN_THINGS
        return Finding(Role.OTHER, f"{doubt}; {describe_defaults(known, sensitivity, source)}", known, confidence=confidence)
    known, sensitivity, source = default_numbers(Role.CONFIDENTIAL, None)
    because = f"{doubt}; in a table about people it counts as confidential until you decide"
    reason = f"{because}; {describe_defaults(known, sensitivity, source)}"
    return Finding(Role.CONFIDENTIAL, reason, known, sensitivity, confidence=_UNKNOWN_IN_PEOPLE)


def is_unexplained(finding: Finding) -> bool:
    """Whether a role was proposed only because nothing else is known of the column."""
    return finding.reason.startswith((_UNEXPLAINED, _COLLECTION))


def _numbers_groups(facts: Facts) -> bool:
    """Whether whole numbers that a few records share about equally look like numbers of groups rather than quantities."""
    if not facts.is_whole or facts.distinct < 50 or facts.uniqueness < 0.02:
        return False
    counts = facts.counts[: facts.distinct].astype(np.float64)
    return float(counts.var()) <= 1.3 * float(counts.mean())


def _describe_constant(facts: Facts) -> str:
    return f"{'a single value' if facts.distinct else 'no values'}: nothing to know or disclose"
