"""Identifiers: by the name of the column, by the form of its values, and by values that nobody shares."""

from __future__ import annotations

import re

from discreet.engine.recognition.findings import Finding
from discreet.engine.recognition.formats import form_of
from discreet.engine.recognition.name_rules import PERSON_NAME, RECORD_ID
from discreet.engine.recognition.value_facts import Facts
from discreet.model.attribute import Role

_NEARLY_UNIQUE = 0.95
_LEAST_RECORDS = 20
"""With fewer records, values that differ say little."""


def by_form(facts: Facts) -> Finding | None:
    """E-mail addresses, phone and account numbers, national numbers, machine addresses."""
    found = form_of(facts)
    return Finding(Role.IDENTIFIER, found.words) if found else None


def by_name(facts: Facts) -> Finding | None:
    """Names, addresses and numbers that point at one person whether or not they are unique here."""
    kind = facts.naming.kind
    if kind is None or kind.role is not Role.IDENTIFIER or kind.name == RECORD_ID:
        return None
    # 'email: yes' says whether there is one, not which
    if facts.distinct <= 2 and facts.records > 5 and (facts.yes is not None or not facts.is_text):
        return None
    if kind.name == PERSON_NAME and facts.distinct and not facts.is_text:
        return None
    return Finding(Role.IDENTIFIER, f"{facts.naming.said}; {_shares(facts)}")


def by_record_id(facts: Facts) -> Finding | None:
    """A column named as a record's number, where the values are as good as unique or number small groups."""
    kind = facts.naming.kind
    if kind is None or kind.name != RECORD_ID or not facts.distinct or not (facts.is_text or facts.is_whole):
        return None
    if facts.uniqueness >= _NEARLY_UNIQUE:
        return Finding(Role.IDENTIFIER, f"{facts.naming.said}; {_shares(facts)}")
    if facts.uniqueness >= 0.05 and facts.distinct >= 50:
        each = facts.present / facts.distinct
        return Finding(
            Role.IDENTIFIER,
            f"{facts.naming.said} and shared by {each:.1f} records each, such as a household's number; "
            "if it stands for a person, give it the role person",
        )
    return None


def by_uniqueness(facts: Facts) -> Finding | None:
    """Text that nobody shares, and whole numbers that count up or have one length; never a measured quantity."""
    if facts.records < _LEAST_RECORDS or facts.present < 0.5 * facts.records or facts.uniqueness < _NEARLY_UNIQUE:
        return None
    if facts.is_text:
        texts = facts.sample
        if sum(len(text.split()) >= 4 for text in texts) >= 0.5 * len(texts):
            return Finding(Role.IDENTIFIER, f"free text that nobody shares, which may name people; {_shares(facts)}")
        shapes = {re.sub(r"\d+", "9", text) for text in texts}
        shape = (
            "; the values share one shape, as record numbers do" if len(shapes) == 1 and any(map(str.isdigit, texts[0])) else ""
        )
        return Finding(Role.IDENTIFIER, f"nobody shares a value: {_shares(facts)}{shape}")
    if not facts.is_whole or facts.naming.kind is not None or facts.distinct < facts.present:
        return None
    low, high = (int(end) for end in facts.extremes)
    if high - low + 1 <= 1.2 * facts.present:
        return Finding(Role.IDENTIFIER, f"whole numbers that count up, each once; {_shares(facts)}")
    if low >= 100_000 and len(str(low)) == len(str(high)):
        return Finding(
            Role.IDENTIFIER, f"whole numbers of {len(str(low))} digits, each once, as record numbers are; {_shares(facts)}"
        )
    return None


def _shares(facts: Facts) -> str:
    return f"{facts.distinct:,} distinct in {facts.present:,} values (ratio {facts.uniqueness:.3g})"
