"""Texts that stand for a missing value, so that '?' is not taken for a category."""

from __future__ import annotations

import polars as pl

from discreet.engine.recognition.value_facts import Facts

_MARKERS = frozenset({"?", "", ".", "-", "--", "n/a", "#n/a", "na", "null", "nan", "<na>", "n.a.", "missing", "k.a.", "s/d"})
_CODED_COUNTRY = frozenset({"country", "ethnicity", "region"})
"""NA is Namibia, and a county somewhere."""


def markers_of(facts: Facts) -> tuple[str, ...]:
    """The markers among the values of a text column."""
    if not facts.is_text or facts.distinct < 2:
        return ()
    values = facts.column.values
    found = values.filter(values.str.strip_chars().str.to_lowercase().is_in(pl.Series(sorted(_MARKERS)).implode())).to_list()
    if facts.naming.kind is not None and facts.naming.kind.name in _CODED_COUNTRY:
        found = [text for text in found if text.strip().lower() != "na"]
    return tuple(found)
