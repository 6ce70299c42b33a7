"""Key, confidential, weight or other: by the name of the column, else by what it holds."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from discreet.analysis.levels import LevelFound
from discreet.engine.recognition import identifiers
from discreet.engine.recognition.column_names import naming
from discreet.engine.recognition.confidential_names import CONFIDENTIALS
from discreet.engine.recognition.findings import Finding, numbers_for, start
from discreet.engine.recognition.formats import icd_share
from discreet.engine.recognition.key_names import KEYS
from discreet.engine.recognition.name_rules import BODY_WEIGHT, OCCASION, SURVEY_WEIGHT, Kind
from discreet.engine.recognition.value_facts import Facts
from discreet.model.attribute import Level, Role

_RARE = 0.05
_TOLD, _VERY, _MOST_WORDS, _LONGEST_WORDS = 0.2, 0.8, 200, 60
"""Of a text whose values are looked up as names: the share of records that must be told, the least sensitivity of what counts,
and the most values and letters that are looked at."""
_DISEASE = next(kind for kind in CONFIDENTIALS if kind.name == "disease")
_OCCASION = next(kind for kind in KEYS if kind.name == OCCASION)
_BODY = next(kind for kind in KEYS if kind.name == BODY_WEIGHT)
_BODILY = frozenset({"looks", "disease", "laboratory result", "treatment", "medication"})


def role_of(facts: Facts, level: LevelFound, kinds: Collection[str]) -> Finding:
    """The proposal for one column; ``kinds`` are those of all columns, for names that only the company explains."""
    for detector in (identifiers.by_form, identifiers.by_name, identifiers.by_record_id):
        if (found := detector(facts)) is not None:
            return found
    kind = facts.naming.kind
    if kind is not None and kind.name == SURVEY_WEIGHT:
        return _weight(facts, kinds)
    if kind is not None and kind.role in (Role.KEY, Role.CONFIDENTIAL):
        return _by_kind(facts, kind, facts.naming.said)
    return _by_content(facts, level) or identifiers.by_uniqueness(facts) or _other(facts)


def _by_kind(facts: Facts, kind: Kind, because: str) -> Finding:
    known, sensitivity, source = numbers_for(kind.role, kind)
    if facts.distinct <= 1:
        return Finding(Role.OTHER, f"{because}, but {_nothing(facts)}")
    if facts.naming.is_remote and kind.role is Role.KEY and not kind.weak:
        known, source = known / 4, f"{source} in the past or of a relative"
    reason = f"{because}; {start(known, sensitivity, source)}"
    values: dict[str, float] = {}
    if kind.role is Role.CONFIDENTIAL and facts.yes is not None:
        values = {facts.yes[0]: 1.0}
        reason += f"; '{facts.yes[0]}' ({facts.yes[1]:.2%} of the records) is what matters"
    return Finding(kind.role, reason, known, sensitivity, values)


def _weight(facts: Facts, kinds: Collection[str]) -> Finding:
    """A survey weight is a positive number with many values; a body's weight stands among other bodily things."""
    phrase = facts.naming.phrase
    if not facts.is_number or not facts.distinct:
        return _by_kind(facts, _BODY, f"named '{phrase}', and text is no survey weight, so a body's weight")
    low, high = (float(end) for end in facts.extremes)
    plain = phrase in ("weight", "wt", "wgt", "gewicht", "poids")
    if plain and high <= 700 and _BODILY & set(kinds):
        return _by_kind(facts, _BODY, f"named '{phrase}' among bodily attributes, from {low:g} to {high:g}, so a body's weight")
    if plain and "looks" in kinds:
        return Finding(
            Role.OTHER, f"named '{phrase}' beside a height, but up to {high:g}: the weight of a thing, not a survey weight"
        )
    if low < 0:
        return Finding(Role.OTHER, f"named '{phrase}', but a survey weight is never negative and its least value is {low:g}")
    return Finding(Role.WEIGHT, f"{facts.naming.said}; numbers from {low:g} to {high:g}, {facts.distinct:,} distinct")


def _by_content(facts: Facts, level: LevelFound) -> Finding | None:
    known, sensitivity, source = numbers_for(Role.CONFIDENTIAL, None)
    share = icd_share(facts)
    if share >= 0.9:
        disease = _DISEASE
        return _by_kind(facts, disease, f"{share:.0%} of its distinct values read as ICD-10 codes, so diagnoses")
    if (found := _by_words(facts)) is not None:
        return found
    if facts.yes is not None and facts.yes[1] < _RARE and facts.records >= 20:
        text, yes = facts.yes
        because = f"a flag whose '{text}' is rare ({yes:.2%} of the records) and so says something of few"
        return Finding(Role.CONFIDENTIAL, f"{because}; {start(known, sensitivity, source)}", known, sensitivity, {text: 1.0})
    if level.level is Level.DATE:
        return _by_kind(facts, _OCCASION, "dates, which acquaintances and registers know")
    zeros = _zeros_of_an_amount(facts)
    if zeros:
        low, high = facts.extremes
        others = f"{facts.distinct - 1:,} other numbers from {low:,} to {high:,}"
        because = f"zero for {zeros:.0%} of the records, and {others}: reads as an amount of money"
        return Finding(Role.CONFIDENTIAL, f"{because}; {start(known, sensitivity, source)}", known, sensitivity)
    return None


def _by_words(facts: Facts) -> Finding | None:
    """A text whose values are themselves names of something very sensitive, such as diseases or crimes."""
    if not facts.is_text or not 2 <= facts.distinct <= _MOST_WORDS or not facts.present:
        return None
    told: dict[Kind, list[int]] = {}
    for code, value in enumerate(facts.column.values.to_list()):
        kind = naming(value[:_LONGEST_WORDS]).kind
        if kind is not None and kind.role is Role.CONFIDENTIAL and kind.sensitivity >= _VERY:
            told.setdefault(kind, []).append(code)
    codes = [code for some in told.values() for code in some]
    share = float(facts.counts[codes].sum() / facts.present) if codes else 0.0
    if len(codes) < 2 or share < _TOLD:
        return None
    most = max(told, key=lambda kind: (facts.counts[told[kind]].sum(), kind.name))
    return _by_kind(facts, most, f"{len(codes):,} of its values, of {share:.0%} of the records, are names of a {most.name}")


def _zeros_of_an_amount(facts: Facts) -> float:
    """The share of zeros where many zeros and a long tail of many different numbers speak for a sum of money; 0 elsewhere."""
    if not facts.is_number or facts.distinct < 100 or facts.present == 0:
        return 0.0
    numbers = facts.numbers
    at = int(np.searchsorted(numbers, 0.0))
    if at >= len(numbers) or numbers[at] != 0 or float(np.abs(numbers).max()) < 500:
        return 0.0
    share = float(facts.counts[at] / facts.present)
    return share if share >= 0.3 else 0.0


def _other(facts: Facts) -> Finding:
    if facts.distinct <= 1:
        return Finding(Role.OTHER, _nothing(facts))
    known, sensitivity, source = numbers_for(Role.OTHER, None)
    return Finding(Role.OTHER, f"neither its name nor its values say what it is; {start(known, sensitivity, source)}", known)


def _nothing(facts: Facts) -> str:
    return f"{'one value' if facts.distinct else 'no value'} throughout: nothing to learn or know"
