"""The role of a column: identifier, key, confidential, weight or other, by its name, else by its values."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from discreet.analysis.levels import ProposedLevel
from discreet.engine.recognition import identifiers
from discreet.engine.recognition.column_names import look_up_name
from discreet.engine.recognition.confidential_names import CONFIDENTIALS
from discreet.engine.recognition.findings import Finding, default_numbers, describe_defaults
from discreet.engine.recognition.formats import icd_share
from discreet.engine.recognition.key_names import KEYS
from discreet.engine.recognition.name_rules import BODY_WEIGHT, OCCASION, SURVEY_WEIGHT, Kind
from discreet.engine.recognition.value_facts import Facts
from discreet.model.attribute import Level, Role

_RARE_FLAG_SHARE = 0.05
_LEAST_SENSITIVE_SHARE = 0.2
"""A text column is confidential if at least this share of the records has a value that names something very sensitive."""
_VERY_SENSITIVE = 0.8
_MOST_VALUES, _MOST_LETTERS = 200, 60
"""Values of a text column, and letters of a value, that are looked up at most."""
_DISEASE_KIND = next(kind for kind in CONFIDENTIALS if kind.name == "disease")
_EVENT_DATE_KIND = next(kind for kind in KEYS if kind.name == OCCASION)
_BODY_WEIGHT_KIND = next(kind for kind in KEYS if kind.name == BODY_WEIGHT)
_BODILY_KINDS = frozenset({"looks", "disease", "laboratory result", "treatment", "medication"})


def propose_role(facts: Facts, level: ProposedLevel, kinds: Collection[str]) -> Finding:
    """The proposed role of a column; ``kinds`` are those of all columns, for names that depend on the other columns."""
    for detector in (identifiers.by_form, identifiers.by_name, identifiers.by_record_id):
        if (finding := detector(facts)) is not None:
            return finding
    kind = facts.naming.kind
    if kind is not None and kind.name == SURVEY_WEIGHT:
        return _propose_for_weight(facts, kinds)
    if kind is not None and kind.role in (Role.KEY, Role.CONFIDENTIAL):
        return _propose_by_kind(facts, kind, facts.naming.description)
    return _propose_by_values(facts, level) or identifiers.by_uniqueness(facts) or _propose_other(facts)


def _propose_by_kind(facts: Facts, kind: Kind, because: str) -> Finding:
    """The role and the numbers of a kind of attribute, if the column has more than one value."""
    known, sensitivity, source = default_numbers(kind.role, kind)
    if facts.distinct <= 1:
        return Finding(Role.OTHER, f"{because}, but {_describe_constant(facts)}")
    if facts.naming.is_remote and kind.role is Role.KEY and not kind.weak:
        known, source = known / 4, f"{source} in the past or of a relative"
    reason = f"{because}; {describe_defaults(known, sensitivity, source)}"
    values: dict[str, float] = {}
    if kind.role is Role.CONFIDENTIAL and facts.yes is not None:
        values = {facts.yes[0]: 1.0}
        reason += f"; the sensitive value is '{facts.yes[0]}' ({facts.yes[1]:.2%} of the records)"
    return Finding(kind.role, reason, known, sensitivity, values)


def _propose_for_weight(facts: Facts, kinds: Collection[str]) -> Finding:
    """A sampling weight is a number that is never negative; a body weight is a column among other bodily attributes."""
    phrase = facts.naming.phrase
    if not facts.is_number or not facts.distinct:
        return _propose_by_kind(
            facts, _BODY_WEIGHT_KIND, f"column name matches '{phrase}'; text cannot be a sampling weight, so a body weight"
        )
    low, high = (float(end) for end in facts.extremes)
    plain = phrase in ("weight", "wt", "wgt", "gewicht", "poids")
    if plain and high <= 700 and _BODILY_KINDS & set(kinds):
        return _propose_by_kind(
            facts,
            _BODY_WEIGHT_KIND,
            f"column name matches '{phrase}' among bodily attributes; {low:g} to {high:g}, so a body weight",
        )
    if plain and "looks" in kinds:
        return Finding(
            Role.OTHER,
            f"column name matches '{phrase}' beside a height, but up to {high:g}: the weight of a thing, not a sampling weight",
        )
    if low < 0:
        return Finding(
            Role.OTHER, f"column name matches '{phrase}', but a sampling weight is never negative and the minimum is {low:g}"
        )
    return Finding(Role.WEIGHT, f"{facts.naming.description}; numbers from {low:g} to {high:g}, {facts.distinct:,} distinct")


def _propose_by_values(facts: Facts, level: ProposedLevel) -> Finding | None:
    """A role that the values suggest: diagnoses, sensitive words, rare flags, dates or amounts of money; else None."""
    known, sensitivity, source = default_numbers(Role.CONFIDENTIAL, None)
    share = icd_share(facts)
    if share >= 0.9:
        return _propose_by_kind(
            facts, _DISEASE_KIND, f"{share:.0%} of its distinct values have the form of ICD-10 codes: diagnoses"
        )
    if (finding := _propose_by_sensitive_words(facts)) is not None:
        return finding
    if facts.yes is not None and facts.yes[1] < _RARE_FLAG_SHARE and facts.records >= 20:
        text, share = facts.yes
        because = f"a flag whose value '{text}' is rare ({share:.2%} of the records)"
        return Finding(
            Role.CONFIDENTIAL, f"{because}; {describe_defaults(known, sensitivity, source)}", known, sensitivity, {text: 1.0}
        )
    if level.level is Level.DATE:
        return _propose_by_kind(facts, _EVENT_DATE_KIND, "dates, which are known to acquaintances and registers")
    zero_share = _share_of_zero_amounts(facts)
    if zero_share:
        low, high = facts.extremes
        others = f"{facts.distinct - 1:,} other numbers from {low:,} to {high:,}"
        because = f"zero in {zero_share:.0%} of the records, and {others}: probably an amount of money"
        return Finding(Role.CONFIDENTIAL, f"{because}; {describe_defaults(known, sensitivity, source)}", known, sensitivity)
    return None


def _propose_by_sensitive_words(facts: Facts) -> Finding | None:
    """Confidential if the values are themselves names of something very sensitive, such as diseases or crimes."""
    if not facts.is_text or not 2 <= facts.distinct <= _MOST_VALUES or not facts.present:
        return None
    codes_by_kind: dict[Kind, list[int]] = {}
    for code, value in enumerate(facts.column.values.to_list()):
        kind = look_up_name(value[:_MOST_LETTERS]).kind
        if kind is not None and kind.role is Role.CONFIDENTIAL and kind.sensitivity >= _VERY_SENSITIVE:
            codes_by_kind.setdefault(kind, []).append(code)
    codes = [code for kind_codes in codes_by_kind.values() for code in kind_codes]
    share = float(facts.counts[codes].sum() / facts.present) if codes else 0.0
    if len(codes) < 2 or share < _LEAST_SENSITIVE_SHARE:
        return None
    main_kind = max(codes_by_kind, key=lambda kind: (facts.counts[codes_by_kind[kind]].sum(), kind.name))
    return _propose_by_kind(
        facts, main_kind, f"{len(codes):,} of its values, in {share:.0%} of the records, are names of a {main_kind.name}"
    )


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


def _propose_other(facts: Facts) -> Finding:
    if facts.distinct <= 1:
        return Finding(Role.OTHER, _describe_constant(facts))
    known, sensitivity, source = default_numbers(Role.OTHER, None)
    return Finding(
        Role.OTHER, f"neither its name nor its values suggest a role; {describe_defaults(known, sensitivity, source)}", known
    )


def _describe_constant(facts: Facts) -> str:
    return f"{'a single value' if facts.distinct else 'no values'}: nothing to know or disclose"
