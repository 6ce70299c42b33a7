"""Identifiers: by the column name, by the format of the values, and by unique values."""

from __future__ import annotations

import re

import polars as pl

from discreet.engine.recognition.findings import Finding
from discreet.engine.recognition.formats import match_form
from discreet.engine.recognition.name_rules import HOUSEHOLD_ID, PERSON_NAME, RECORD_ID
from discreet.engine.recognition.value_facts import Facts
from discreet.model.attribute import Role

_NEARLY_UNIQUE = 0.95
_LEAST_RECORDS = 20
"""With fewer records, unique values are weak evidence."""


_REMARKS = frozenset({
    "remark", "remarks", "comment", "comments", "note", "notes", "annotation", "annotations", "freetext", "narrative",
    "bemerkung", "bemerkungen", "kommentar", "kommentare", "anmerkung", "anmerkungen", "notiz", "notizen", "freitext",
    "remarque", "remarques", "commentaire", "commentaires", "observacion", "observaciones", "comentario", "comentarios",
    "observacao", "observacoes", "nota", "osservazioni", "opmerking", "opmerkingen", "uwagi", "poznamka",
})  # fmt: skip
"""Words in the names of columns that hold remarks."""
_WORDS_OF_REMARK, _LEAST_REMARKS = 3, 3
"""Words of a remark, and remarks that one record alone holds, from which a column named so is free text."""


def by_form(facts: Facts) -> Finding | None:
    """E-mail addresses, phone and account numbers, national numbers, machine addresses."""
    form = match_form(facts)
    return Finding(Role.IDENTIFIER, form.description) if form else None


def by_name(facts: Facts) -> Finding | None:
    """Names, addresses and numbers that identify a person, whether or not they are unique in this table."""
    kind = facts.naming.kind
    if kind is None or kind.role is not Role.IDENTIFIER or kind.name == RECORD_ID:
        return None
    # 'email: yes' says whether there is an address, not which one
    if facts.distinct <= 2 and facts.records > 5 and (facts.yes is not None or not facts.is_text):
        return None
    if kind.name == PERSON_NAME and facts.distinct and not facts.is_text:
        return None
    return Finding(Role.IDENTIFIER, f"{facts.naming.description}; {_uniqueness_text(facts)}")


def by_record_id(facts: Facts) -> Finding | None:
    """A column named as a record number, whose values are nearly unique or number small groups."""
    kind = facts.naming.kind
    if kind is None or kind.name not in (RECORD_ID, HOUSEHOLD_ID) or not facts.distinct or not (facts.is_text or facts.is_whole):
        return None
    if facts.uniqueness >= _NEARLY_UNIQUE:
        return Finding(Role.IDENTIFIER, f"{facts.naming.description}; {_uniqueness_text(facts)}")
    if facts.uniqueness >= 0.05 and facts.distinct >= 20:
        records_per_value = facts.present / facts.distinct
        return Finding(
            Role.IDENTIFIER,
            f"{facts.naming.description}, and each value is shared by {records_per_value:.1f} records on average, as a household "
            "number is; if it identifies a person, use the role person",
        )
    return None


def by_remarks(facts: Facts) -> Finding | None:
    """A column named as remarks with texts of several words that one record alone holds, however often others repeat."""
    if not facts.is_text or not _REMARKS & set(facts.naming.words):
        return None
    alone = facts.column.values.filter(pl.Series(facts.counts[: facts.distinct] == 1))
    remarks = int((alone.str.count_matches(r"\S+") >= _WORDS_OF_REMARK).sum())
    if remarks < _LEAST_REMARKS:
        return None
    return Finding(
        Role.IDENTIFIER,
        f"the column name says remarks, and {remarks:,} of its texts stand in one record alone: they may name people",
    )


def by_uniqueness(facts: Facts) -> Finding | None:
    """Unique texts, and unique whole numbers that count up or have equal length; never a measured quantity."""
    if facts.records < _LEAST_RECORDS or facts.present < 0.5 * facts.records or facts.uniqueness < _NEARLY_UNIQUE:
        return None
    if facts.is_text:
        texts = facts.sample
        if sum(len(text.split()) >= 4 for text in texts) >= 0.5 * len(texts):
            return Finding(Role.IDENTIFIER, f"unique free text, which may name people; {_uniqueness_text(facts)}")
        shapes = {re.sub(r"\d+", "9", text) for text in texts}
        shape = (
            "; all values have the same format, as record numbers have"
            if len(shapes) == 1 and any(map(str.isdigit, texts[0]))
            else ""
        )
        return Finding(Role.IDENTIFIER, f"unique values: {_uniqueness_text(facts)}{shape}")
    if not facts.is_whole or facts.naming.kind is not None or facts.distinct < facts.present:
        return None
    low, high = (int(end) for end in facts.extremes)
    if high - low + 1 <= 1.2 * facts.present:
        return Finding(Role.IDENTIFIER, f"unique whole numbers that count up; {_uniqueness_text(facts)}")
    if low >= 100_000 and len(str(low)) == len(str(high)):
        return Finding(
            Role.IDENTIFIER,
            f"whole numbers of {len(str(low))} digits, all unique, as record numbers are; {_uniqueness_text(facts)}",
        )
    return None


def _uniqueness_text(facts: Facts) -> str:
    return f"{facts.distinct:,} distinct in {facts.present:,} values (ratio {facts.uniqueness:.3g})"
