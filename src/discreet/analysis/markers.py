"""Texts that mark a missing value, so that '?' does not become a category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

import polars as pl

from discreet.analysis.levels import detect_date_format
from discreet.analysis.missing_codes import MissingCodes, find_missing_codes
from discreet.analysis.orders import detect_order
from discreet.engine.recognition.value_facts import Facts, facts_of
from discreet.model.microdata import Microdata

_MARKERS = frozenset({"?", "", ".", "-", "--", "n/a", "#n/a", "na", "null", "nan", "<na>", "n.a.", "missing", "k.a.", "s/d"})
_WORDS = frozenset(
    """unknown;not known;unk;not stated;not specified;unspecified;not available;not recorded;not reported;not given;no data;
    no answer;no response;not answered;don t know;dont know;do not know;refused;declined;undisclosed;not disclosed;
    prefer not to say;prefer not to answer;unbekannt;nicht bekannt;keine angabe;ohne angabe;keine antwort;weiß nicht;
    weiss nicht;inconnu;inconnue;non renseigné;non renseigne;sans réponse;sans reponse;desconocido;desconocida;sin datos;
    no consta;no sabe;no contesta;sconosciuto;sconosciuta;non noto;non disponibile;onbekend;niet bekend;geen antwoord;
    ei tietoa;tuntematon;okänd;uppgift saknas;ukjent;ukendt;desconhecido;sem informação;nieznany;brak danych""".replace(
        "\n    ", ""
    ).split(";")
)
"""Words that may be a category as well: only beside numbers they are taken for missing values without a question."""
_DELIMITED = frozenset({".csv", ".tsv", ".txt", ".tab"})
_KINDS_WITH_NA = frozenset({"country", "ethnicity", "region"})
"""In these kinds of columns NA can be a code: it is Namibia among countries."""


@dataclass(frozen=True, slots=True)
class MissingValues:
    """What reads like a missing value, by column: texts with their records, codes of numbers, and what is proposed as missing."""

    texts: dict[str, dict[str, int]] = field(default_factory=dict)
    codes: dict[str, MissingCodes] = field(default_factory=dict)
    proposed: dict[str, tuple[str, ...]] = field(default_factory=dict)


def facts_without_markers(data: Microdata) -> tuple[list[Facts], MissingValues]:
    """The facts of every column, and what reads like a missing value.

    Of numbers, dates and steps of a scale that a marker such as 'k.A.' made plain text, the facts are those without it, and so
    are those of numbers beside a code such as -1 that is proposed as missing. What the policy decides on (the texts in
    ``missing``, ``order`` or ``values`` of the attribute) is left out.
    """
    facts = facts_of(data)
    missing = MissingValues()
    columns: dict[str, pl.Series] = {}
    for column in facts:
        given = data.policy.attributes.get(column.name)
        if given is not None and "missing" in given.model_fields_set:
            continue
        named = () if given is None else (*given.values, *(given.order or ()))
        missing.texts[column.name] = {
            text: records for text, records in find_texts_like_missing(column).items() if text not in named
        }
        codes = find_missing_codes(column)
        if codes is not None and not set(codes.records) & set(named):
            missing.codes[column.name] = codes
            missing.proposed[column.name] = codes.beyond_doubt
            if codes.beyond_doubt:
                columns[column.name] = _without_codes(column, codes.beyond_doubt)
            continue
        own = missing.proposed[column.name] = tuple(text for text in find_missing_markers(column) if text not in named)
        for series in (
            dates_behind_markers(column, own), numbers_behind_markers(column, own, data.source), scale_behind_markers(column, own)
        ):  # fmt: skip
            if series is not None:
                columns.setdefault(column.name, series)
    return (facts_of(data.with_columns(columns)) if columns else facts), missing


def _without_codes(facts: Facts, codes: Sequence[str]) -> pl.Series:
    """The column with null for each code."""
    values = facts.column.values
    numbers = pl.Series([float(code) for code in codes], dtype=pl.Float64)
    return _per_record(facts, values.set(values.cast(pl.Float64).is_in(numbers.implode()), None))


def find_texts_like_missing(facts: Facts) -> dict[str, int]:
    """The values of a text column that read like a missing value, and how many records have each.

    >>> from discreet.engine.recognition.value_facts import facts_of
    >>> from discreet.testing import table
    >>> find_texts_like_missing(facts_of(table({"smoker": ["yes", "no", "NA", "Unknown", "no", "Unknown"]}))[0])
    {'NA': 1, 'Unknown': 2}
    """
    if not facts.is_text or facts.distinct < 2:
        return {}
    values = facts.column.values
    is_listed = values.is_in(pl.Series([*_written_as_marker(values), *_written_as_words(values)], dtype=pl.String).implode())
    return dict(
        zip(values.filter(is_listed).to_list(), facts.counts[: facts.distinct][is_listed.to_numpy()].tolist(), strict=True)
    )


def find_missing_markers(facts: Facts) -> tuple[str, ...]:
    """The values of a text column that mark a missing value: signs such as 'n/a', and words such as 'unknown' beside numbers."""
    if not facts.is_text or facts.distinct < 2:
        return ()
    values = facts.column.values
    markers = _written_as_marker(values)
    if facts.naming.kind is not None and facts.naming.kind.name in _KINDS_WITH_NA:
        markers = [text for text in markers if text.strip().lower() != "na"]
    words = _written_as_words(values)
    if words and _as_numbers(_without(values, [*markers, *words])) is not None:
        markers += words
    return tuple(markers)


def _written_as_marker(values: pl.Series) -> list[str]:
    texts: list[str] = values.filter(
        values.str.strip_chars().str.to_lowercase().is_in(pl.Series(sorted(_MARKERS)).implode())
    ).to_list()
    return texts


def _written_as_words(values: pl.Series) -> list[str]:
    """Texts that are such words, whatever the case and the signs between them."""
    plain = values.str.to_lowercase().str.replace_all(r"[^\p{L}]+", " ").str.strip_chars()
    texts: list[str] = values.filter(plain.is_in(pl.Series(sorted(_WORDS)).implode())).to_list()
    return texts


def _without(values: pl.Series, markers: Sequence[str]) -> pl.Series:
    """The distinct values with null for each marker."""
    return values.set(values.is_in(pl.Series(markers, dtype=pl.String).implode()), None)


def _as_numbers(values: pl.Series) -> pl.Series | None:
    """Texts as numbers; None where one is none, where all are null, or where zeros stand in front as in codes."""
    written = values.str.strip_chars()
    if written.null_count() == len(written) or written.str.contains(r"^0\d").any():
        return None
    for decimal in (written, written.str.replace(",", ".", literal=True)):
        for dtype in (pl.Int64, pl.Float64):
            numbers = decimal.cast(dtype, strict=False)
            if numbers.null_count() == written.null_count():
                return numbers
    return None


def numbers_behind_markers(facts: Facts, markers: Sequence[str], source: str) -> pl.Series | None:
    """The column as numbers where only missing-value markers made it text; None elsewhere.

    Only of delimited files: there the markers in the proposed policy make the reader take the column for numbers.

    >>> from discreet.engine.recognition.value_facts import facts_of
    >>> from discreet.testing import table
    >>> weight = facts_of(table({"weight": ["71,5", "k.A.", "80"]}))[0]
    >>> [numbers_behind_markers(weight, ["k.A."], f"table.{ending}") is not None for ending in ("csv", "parquet")]
    [True, False]
    >>> numbers_behind_markers(weight, ["k.A."], "table.csv").to_list()
    [71.5, None, 80.0]
    """
    if not markers or not _DELIMITED.intersection(PurePath(source).suffixes):
        return None
    numbers = _as_numbers(_without(facts.column.values, markers))
    return None if numbers is None else _per_record(facts, numbers)


def dates_behind_markers(facts: Facts, markers: Sequence[str]) -> pl.Series | None:
    """The column without its missing-value markers where all other texts are dates; None elsewhere.

    >>> from discreet.engine.recognition.value_facts import facts_of
    >>> from discreet.testing import table
    >>> hired = facts_of(table({"hired": ["03.05.2001", "n/a", *(f"{day}.08.1999" for day in range(10, 30))]}))[0]
    >>> dates_behind_markers(hired, ["n/a"]).null_count()
    1
    """
    if not markers or (detected := detect_date_format(facts)) is None:
        return None
    _, share = detected
    if round(share * facts.distinct) + len(markers) < facts.distinct:
        return None
    return _per_record(facts, _without(facts.column.values, markers))


def scale_behind_markers(facts: Facts, markers: Sequence[str]) -> pl.Series | None:
    """The column without its missing-value markers where all other texts are steps of an ordered scale; None elsewhere.

    >>> from discreet.engine.recognition.value_facts import facts_of
    >>> from discreet.testing import table
    >>> scale_behind_markers(facts_of(table({"pain": ["low", "high", "NA", "medium"]}))[0], ["NA"]).to_list()
    ['low', 'high', None, 'medium']
    """
    if not markers:
        return None
    steps = _without(facts.column.values, markers)
    return None if detect_order(steps.drop_nulls().to_list()) is None else _per_record(facts, steps)


def _per_record(facts: Facts, values: pl.Series) -> pl.Series:
    """The values that stand for the distinct ones of a column, one for each record."""
    return values.extend_constant(None, 1).gather(facts.column.codes).alias(facts.name)
