"""Evidence on what a column is about: from its name or label, its values, and how they are distributed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from discreet.analysis.dictionaries.lookup import match_words
from discreet.analysis.levels import ProposedLevel
from discreet.analysis.orders import parse_band
from discreet.engine.recognition.confidential_names import CONFIDENTIALS
from discreet.engine.recognition.formats import icd_share
from discreet.engine.recognition.identifier_names import IDENTIFIERS, WEIGHTS
from discreet.engine.recognition.key_names import KEYS
from discreet.engine.recognition.name_rules import ROAD_OR_WEATHER, Kind
from discreet.engine.recognition.other_names import OTHERS
from discreet.engine.recognition.value_facts import Facts
from discreet.model.attribute import Level, Role

KIND_BY_NAME: dict[str, Kind] = {}
for _kind in (*IDENTIFIERS, *WEIGHTS, *KEYS, *CONFIDENTIALS, *OTHERS):
    KIND_BY_NAME.setdefault(_kind.name, _kind)

_NAME_WEIGHT, _PARTIAL_NAME_WEIGHT, _WEAK_NAME_WEIGHT = 0.85, 0.6, 0.4
_LABEL_BONUS = 0.05
_WORDS_WEIGHT = 0.95
_BANDS_WEIGHT = 0.55
_FEW_VALUES, _MOST_SORTS = 12, 40
_LEAST_AGE_BAND, _MOST_AGE = 12.0, 120.0
_LEAST_INCOME = 1_000.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """One observation: the kind of attribute it speaks for, how strongly (0 to 1), and the sentence that says so."""

    source: str
    kind: Kind
    weight: float
    sentence: str


def collect_evidence(facts: Facts, level: ProposedLevel) -> list[Evidence]:
    """All evidence that the column itself gives; contradicted names are left out."""
    evidence: list[Evidence] = []
    kind = facts.naming.kind
    if kind is not None and contradiction(kind, facts) is None:
        weight = _WEAK_NAME_WEIGHT if kind.weak else _NAME_WEIGHT if facts.naming.explained >= 0.75 else _PARTIAL_NAME_WEIGHT
        if facts.naming.source != "column name":
            weight = min(0.95, weight + _LABEL_BONUS)
        evidence.append(Evidence("name", kind, weight, facts.naming.description))
    evidence += _evidence_of_words(facts)
    share = icd_share(facts)
    if share >= 0.9:
        sentence = f"{share:.0%} of its distinct values have the form of ICD-10 codes: diagnoses"
        evidence.append(Evidence("format", KIND_BY_NAME["disease"], 0.9, sentence))
    if level.scale == "bands of numbers" and (bands := _evidence_of_bands(facts)) is not None:
        evidence.append(bands)
    return evidence


def contradiction(kind: Kind, facts: Facts) -> str | None:
    """Why the values cannot be of this kind; None where they can."""
    if not facts.distinct:
        return None
    if kind.name == "sex" and facts.distinct > _FEW_VALUES:
        return f"a sex does not have {facts.distinct:,} values"
    if (
        kind.coded
        and facts.is_number
        and not facts.is_whole
        and facts.distinct > _FEW_VALUES
        and kind.role is not Role.IDENTIFIER
    ):
        return "its values are fractions, not codes"
    if kind.name == "age" and facts.is_number and float(facts.extremes[1]) > 40_000:
        return "its values are too large for an age"
    if kind.name == "postal code" and facts.is_number and facts.distinct <= 2:
        return "two values are no postal codes"
    if kind.name == ROAD_OR_WEATHER and facts.distinct > _MOST_SORTS:
        return f"there are not {facts.distinct:,} sorts of roads"
    return None


def combine(evidence: list[Evidence]) -> dict[str, tuple[Kind, float]]:
    """For each kind the probability that not all of its evidence is wrong: 1 - product of (1 - weight)."""
    totals: dict[str, tuple[Kind, float]] = {}
    for piece in evidence:
        before = totals[piece.kind.name][1] if piece.kind.name in totals else 0.0
        totals[piece.kind.name] = (piece.kind, 1 - (1 - before) * (1 - piece.weight))
    return totals


def _evidence_of_words(facts: Facts) -> list[Evidence]:
    texts, counts = facts.words
    if not texts or facts.distinct < 2 or _is_free_text(facts):
        return []
    what = "value labels" if facts.value_labels else "values"
    out = []
    for match in match_words(texts, counts)[:3]:
        kind = KIND_BY_NAME.get(match.kind)
        if kind is None:
            continue
        article = "an" if match.kind[0] in "aeiou" else "a"
        sentence = f"{match.values:,} of its {what}, in {match.share:.0%} of the records, are names of {article} {match.kind}"
        out.append(Evidence("values", kind, _WORDS_WEIGHT * min(1.0, match.strength), sentence))
    return out


def _is_free_text(facts: Facts) -> bool:
    """Whether most texts are sentences of their own, in which words such as 'doctor' say nothing about the column."""
    texts = facts.words[0]
    return facts.records >= 20 and facts.uniqueness >= 0.5 and sum(len(text.split()) >= 4 for text in texts) >= 0.5 * len(texts)


def _evidence_of_bands(facts: Facts) -> Evidence | None:
    """Bands of ages or of money."""
    bands = [band for text in facts.words[0] if (band := parse_band(text)) is not None]
    ends = [end for band in bands for end in band if math.isfinite(end)]
    if len(ends) < 3:
        return None
    if max(ends) >= _LEAST_INCOME:
        return Evidence("values", KIND_BY_NAME["income"], _BANDS_WEIGHT, "its values are bands of amounts, as of an income")
    if _LEAST_AGE_BAND <= max(ends) <= _MOST_AGE and min(ends) >= 0 and max(ends) >= 40:
        return Evidence("values", KIND_BY_NAME["age"], _BANDS_WEIGHT, "its values are bands of numbers from the range of ages")
    return None


def holds_days(facts: Facts, level: ProposedLevel) -> bool:
    """Whether the values are days or points in time, or texts most of which are; times of day and durations are not."""
    if facts.dtype.is_temporal():
        return facts.dtype == pl.Date or isinstance(facts.dtype, pl.Datetime)
    return level.level is Level.DATE or level.date_format is not None
