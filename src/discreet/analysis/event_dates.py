"""Columns of dates: those of events are quasi-identifiers, which single people out together with the other keys.

A name such as 'surgery' or 'hearing' says in a column of dates of which event they are, not that the values are treatments or
diseases. All elements of dates that are related to a person are identifying under the HIPAA Privacy Rule, 45 CFR
164.514(b)(2)(i)(C), because others took part in the event or read of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.analysis.evidence import KIND_BY_NAME, Evidence, holds_days
from discreet.analysis.levels import ProposedLevel
from discreet.analysis.quasi_identifiers import refined_class_sizes
from discreet.analysis.roles import Surroundings, propose_by_evidence, propose_by_kind
from discreet.analysis.writing_dates import is_date_of_writing
from discreet.engine.classes.groups import group_columns
from discreet.engine.recognition.findings import Finding, default_numbers, describe_defaults
from discreet.engine.recognition.name_rules import OCCASION
from discreet.engine.recognition.value_facts import Facts
from discreet.model.attribute import Role

_BIRTHS = frozenset({"birth date", "birth year", "birth month"})
_MOST_DIFFER = 0.5
"""Distinct values by records from which a date of writing says which record of the source it was."""
_WHO_KNOWS = "family, neighbours, colleagues, registers or newspapers may know them"


def propose_for_dates(facts: Facts, evidence: Sequence[Evidence], around: Surroundings, followed: str | None) -> Finding:
    """The role of a column of dates; ``followed`` is the event that a date of writing follows within a day."""
    if followed is not None:
        because = f"at most a day from '{followed}' in nearly all records, so that it gives that date back"
        return propose_by_kind(facts, KIND_BY_NAME[OCCASION], because, 0.6)
    if is_date_of_writing(facts) and facts.distinct > 1:
        known, sensitivity, source = default_numbers(Role.OTHER, None)
        because = "its name says when the record was written or transferred, not when something happened to the person"
        if facts.uniqueness >= _MOST_DIFFER:
            because += ", but most records have one of their own: leave it out of the release unless it is needed"
        return Finding(Role.OTHER, f"{because}; {describe_defaults(known, sensitivity, source)}", known, confidence=0.6)
    finding = propose_by_evidence(facts, _as_dates(evidence), around)
    return finding or propose_by_kind(facts, KIND_BY_NAME[OCCASION], f"dates of an event: {_WHO_KNOWS}", 0.6)


def _as_dates(evidence: Sequence[Evidence]) -> list[Evidence]:
    """The evidence with every kind but births as the date of an event, which keeps the sensitivity of what happened."""
    kinds = [piece.kind for piece in evidence]
    sensitivity = max(
        [KIND_BY_NAME[OCCASION].sensitivity, *(kind.sensitivity for kind in kinds if kind.role is Role.CONFIDENTIAL)]
    )
    event = replace(KIND_BY_NAME[OCCASION], sensitivity=sensitivity)
    result = []
    for piece in evidence:
        if piece.kind.name in _BIRTHS:
            result.append(piece)
        else:
            said = "" if piece.kind.name == OCCASION else ", and its values are dates: those of an event"
            said += ", as sensitive as what happened" if piece.kind.role is Role.CONFIDENTIAL else ""
            result.append(replace(piece, kind=event, sentence=f"{piece.sentence}{said}; {_WHO_KNOWS}"))
    return result


def describe_singling_out(facts: Sequence[Facts], levels: Sequence[ProposedLevel], roles: Mapping[str, Role]) -> dict[str, str]:
    """For each key that holds dates: how many records it makes sample uniques together with the keys that are no dates.

    One grouping of the records by these keys, then one count per column of dates.
    """
    keys = [
        (column, holds_days(column, level)) for column, level in zip(facts, levels, strict=True) if roles[column.name] is Role.KEY
    ]
    others = [column for column, dated in keys if not dated]
    records = facts[0].records if facts else 0
    if not records or len(others) == len(keys):
        return {}
    classes, number = group_columns([column.column for column in others], records)
    before = int((np.bincount(classes, minlength=number) == 1).sum()) / records
    sentences = {}
    for column in (column for column, dated in keys if dated and column.distinct > 1):
        unique = int((refined_class_sizes(classes, number, column.column) == 1).sum()) / records
        sentences[column.name] = (
            f"with the keys that are no dates it singles out {unique:.1%} of the records ({before:.1%} without it)"
            if others
            else f"alone it singles out {unique:.1%} of the records"
        )
    return sentences
