"""Texts that mark a missing value, so that '?' does not become a category."""

from __future__ import annotations

from pathlib import PurePath

import polars as pl

from discreet.analysis.levels import detect_date_format
from discreet.engine.recognition.value_facts import Facts

_MARKERS = frozenset({"?", "", ".", "-", "--", "n/a", "#n/a", "na", "null", "nan", "<na>", "n.a.", "missing", "k.a.", "s/d"})
_DELIMITED = frozenset({".csv", ".tsv", ".txt", ".tab"})
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


def numbers_behind_markers(facts: Facts, source: str) -> pl.Series | None:
    """The column as numbers where only missing-value markers made it text; None elsewhere.

    Only of delimited files: there the markers in the proposed policy make the reader take the column for numbers.

    >>> from discreet.engine.recognition.value_facts import facts_of
    >>> from discreet.testing import table
    >>> weight = facts_of(table({"weight": ["71,5", "k.A.", "80"]}))[0]
    >>> numbers_behind_markers(weight, "table.csv").to_list(), numbers_behind_markers(weight, "table.parquet")
    ([71.5, None, 80.0], None)
    """
    if not _DELIMITED.intersection(PurePath(source).suffixes) or not (markers := find_missing_markers(facts)):
        return None
    values = facts.column.values
    written = values.set(values.is_in(pl.Series(markers).implode()), None).str.strip_chars()
    if written.null_count() == len(written) or written.str.contains(r"^0\d").any():
        return None
    for decimal in (written, written.str.replace(",", ".", literal=True)):
        for dtype in (pl.Int64, pl.Float64):
            numbers = decimal.cast(dtype, strict=False)
            if numbers.null_count() == written.null_count():
                return numbers.extend_constant(None, 1).gather(facts.column.codes).alias(facts.name)
    return None


def dates_behind_markers(facts: Facts) -> pl.Series | None:
    """The column without its missing-value markers where all other texts are dates; None elsewhere.

    >>> from discreet.engine.recognition.value_facts import facts_of
    >>> from discreet.testing import table
    >>> hired = facts_of(table({"hired": ["03.05.2001", "n/a", *(f"{day}.08.1999" for day in range(10, 30))]}))[0]
    >>> dates_behind_markers(hired).null_count()
    1
    """
    if not (markers := find_missing_markers(facts)) or (detected := detect_date_format(facts)) is None:
        return None
    _, share = detected
    if round(share * facts.distinct) + len(markers) < facts.distinct:
        return None
    values = facts.column.values
    written = values.set(values.is_in(pl.Series(markers).implode()), None)
    return written.extend_constant(None, 1).gather(facts.column.codes).alias(facts.name)
