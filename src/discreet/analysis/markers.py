"""Texts that mark a missing value, so that '?' does not become a category."""

from __future__ import annotations

import polars as pl

from discreet.engine.recognition.value_facts import Facts

_MARKERS = frozenset({"?", "", ".", "-", "--", "n/a", "#n/a", "na", "null", "nan", "<na>", "n.a.", "missing", "k.a.", "s/d"})
_KINDS_WITH_NA = frozenset({"country", "ethnicity", "region"})
"""In these kinds of columns NA can be a code: it is Namibia among countries."""


def find_missing_markers(facts: Facts) -> tuple[str, ...]:
    """The values of a text column that mark a missing value."""
    if not facts.is_text or facts.distinct < 2:
        return ()
    values = facts.column.values
    markers = values.filter(values.str.strip_chars().str.to_lowercase().is_in(pl.Series(sorted(_MARKERS)).implode())).to_list()
    if facts.naming.kind is not None and facts.naming.kind.name in _KINDS_WITH_NA:
        markers = [text for text in markers if text.strip().lower() != "na"]
    return tuple(markers)
