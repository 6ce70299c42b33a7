"""Dates on which a record was written or transferred: they describe the data, unless they follow an event of the person."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import polars as pl

from discreet.analysis.dictionaries.lookup import normalise_value
from discreet.analysis.evidence import holds_days
from discreet.analysis.levels import ProposedLevel
from discreet.engine.recognition.value_facts import Facts
from discreet.engine.recognition.written_dates import date_format, read_dates

_WRITING = (
    "data entry|created?|creation|updated?|modified|modification|inserted|insert|exported|export|imported|import|loaded|load|"
    "uploaded|upload|downloaded|download|extracted|extract|data extraction|synced|sync|synchroni[sz]ed|ingested|ingestion|"
    "generated|refreshed|refresh|etl|batch|dump|backup|snapshot|changed|erstellt|erstellungs?|angelegt|geandert|geaendert|"
    "anderungs?|aenderungs?|aktualisiert|aktualisierungs?|eingabe|erfasst|erfassungs?|eingelesen|geladen|lade|abzugs?|"
    "exportiert|importiert|cree|creation|modifie|maj|mise a jour|creado|creacion|actualizado|actualizacion|modificado|carga|"
    "aangemaakt|gewijzigd|bijgewerkt|luotu|muokattu|paivitetty|skapad|andrad|oprettet|opprettet|endret"
)
"""Words for the writing or the transfer of a record."""
_BESIDE_WRITING = (
    "datetime|timestamp|dates?|datum|datei|days?|tag|times?|zeit|dt|ts|at|on|by|in|am|um|le|de|la|du|of|the|and|und|when|was|"
    "is|this|last|latest|letzte|first|fecha|data|daten|row|records?|rec|entry|file|database|db|dataset|table|source|system|utc|gmt"
)
_TECHNICAL = re.compile(rf"(?:(?:{_WRITING}|{_BESIDE_WRITING}) ?)+")
_NAMES_WRITING = re.compile(rf"(?:{_WRITING})")
_LONGEST_NAME = 40
"""Letters of a name that is looked at: the pattern has more than one way to read some names."""
_LEAST_FOLLOWING, _LEAST_DAYS = 0.9, 20
"""The share of the records whose date is at most a day from that of an event, and the days that the event must have."""


def is_date_of_writing(facts: Facts) -> bool:
    """Whether the label, else the name, says nothing but that a record was written or transferred.

    >>> from discreet.engine.recognition.value_facts import facts_of
    >>> from discreet.testing import table
    >>> [is_date_of_writing(facts_of(table({name: []}))[0]) for name in ("createdAt", "Exportdatum", "account_created", "date")]
    [True, True, False, False]
    """
    text = normalise_value(facts.label or facts.name)
    return len(text) <= _LONGEST_NAME and bool(_TECHNICAL.fullmatch(text)) and bool(_NAMES_WRITING.search(text))


def find_followed_events(facts: Sequence[Facts], levels: Sequence[ProposedLevel]) -> dict[str, str]:
    """For each date of writing the event, if any, that is at most a day away in nearly all records."""
    dated = [column for column, level in zip(facts, levels, strict=True) if holds_days(column, level)]
    writing = [column for column in dated if is_date_of_writing(column)]
    events = [column for column in dated if column not in writing and column.distinct >= _LEAST_DAYS] if writing else []
    days = {column.name: _days_per_record(column) for column in (*writing, *events)} if events else {}
    followed = {}
    for column in writing if events else ():
        apart = {event.name: np.abs(days[column.name] - days[event.name]) for event in events}
        shares = {name: float((gaps <= 1).mean()) for name, gaps in apart.items()}  # a null is NaN, which is not near
        nearest = max(shares, key=lambda name: shares[name])
        if shares[nearest] >= _LEAST_FOLLOWING:
            followed[column.name] = nearest
    return followed


def _days_per_record(facts: Facts) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The day of every record as a number, NaN where there is none."""
    values = facts.column.values
    days = values if facts.dtype.is_temporal() else values.cast(pl.String)
    form = date_format(values)
    read = read_dates(days, form or "%Y-%m-%d").cast(pl.Int32).cast(pl.Float64)
    table = np.append(read.fill_null(float("nan")).to_numpy(), np.nan)
    return np.asarray(table[facts.column.codes], dtype=np.float64)
