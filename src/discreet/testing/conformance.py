"""The conformance kit: one call tells a plug-in's author everything that is wrong, in sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from discreet.model.attribute import Role
from discreet.model.contracts import LossMeasure, RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.testing.class_checks import start
from discreet.testing.findings import Findings
from discreet.testing.samples import Snapshot, fresh, relatives, sample, shuffled
from discreet.testing.score_checks import check_fields, check_same, check_score


def check_risk(plugin: type[RiskMeasure] | RiskMeasure, data: Microdata | None = None) -> None:
    """Raise a :class:`ConformanceError` that lists all that is wrong with a risk measure.

    A class is tried through its ``example()``, on ``data``, or its ``example_data()``, or the kit's own table.

    >>> from discreet.risks.k_anonymity.measure import KAnonymity
    >>> check_risk(KAnonymity)
    """
    findings, measure = start(plugin, "risk", RiskMeasure, "measure")
    if measure is None or findings.sentences:
        findings.tell()  # what is wrong with the class makes the rest guesswork
    table = _table(measure, data)
    original = fresh(table) if measure.original_use == "required" else None

    before = Snapshot(table)
    score = findings.attempt("on a table that fits", measure.measure, table, original=original, must=True)
    _unchanged(findings, before, table)
    if score is not None and check_score(findings, "on a table that fits", measure, score, len(table)):
        check_fields(findings, measure, score)
        _explains(findings, measure, table, original)
        again = findings.attempt("measured again", measure.measure, fresh(table), original=original, must=True)
        if again is not None:
            check_same(findings, "the same table measured twice gives two scores", score, again)
        moved = shuffled(fresh(table))
        other = findings.attempt("on shuffled rows", measure.measure, moved, original=original, must=True)
        if other is not None:
            check_same(findings, "rows in another order give another score", score, other, _places(table.records, moved.records))
    for situation, relative in relatives(table).items():
        _try_risk(findings, measure, situation, relative, fresh(relative) if original is not None else None)
    for situation, masked in masked_versions(table).items():
        _try_risk(findings, measure, f"with original=, {situation}", masked, fresh(table))
        if measure.original_use == "none":
            _needs_no_original(findings, measure, masked, table)
    findings.tell()


def _needs_no_original(findings: Findings, measure: RiskMeasure, masked: Microdata, table: Microdata) -> None:
    """A measure whose answer depends on the original table says so, since an assessment goes by its word."""
    ignored = Findings(findings.subject)
    alone = ignored.attempt("", measure.measure, fresh(masked))
    beside = ignored.attempt("", measure.measure, fresh(masked), original=fresh(table))
    if isinstance(alone, Score) and isinstance(beside, Score):
        check_same(ignored, "", alone, beside)
        differing = bool(ignored.sentences)
    else:
        differing = (alone is None) != (beside is None)
    findings.need(not differing, "original= changes its answer: say original_use = 'optional', or 'required' where it is needed")


def _explains(findings: Findings, measure: RiskMeasure, data: Microdata, original: Microdata | None) -> None:
    """It can say why a record is at risk, or says nothing."""
    for record in (0, len(data) - 1):
        explanation = findings.attempt(
            f"asked to explain record {record}", measure.explain, data, record, original=original, must=True
        )
        sentences = explanation is None or (
            isinstance(explanation, list) and all(isinstance(sentence, str) for sentence in explanation)
        )
        findings.need(sentences, f"explain returns {explanation!r}, not a list of sentences")


def check_loss(plugin: type[LossMeasure] | LossMeasure, data: Microdata | None = None) -> None:
    """Raise a :class:`ConformanceError` that lists all that is wrong with a loss measure; see :func:`check_risk`.

    >>> from discreet.losses.ncp.measure import Ncp
    >>> check_loss(Ncp)
    """
    findings, measure = start(plugin, "loss", LossMeasure, "measure")
    if measure is None or findings.sentences:
        findings.tell()
    table = _table(measure, data)
    situation = "where nothing was masked"
    same = findings.attempt(situation, measure.measure, table, fresh(table), must=True)
    if same is not None and check_score(findings, situation, measure, same, len(table)):
        check_fields(findings, measure, same)
        lost = same.summary.get("loss")
        message = f"{situation}: it finds a loss of {lost}; an unchanged table has lost 0"
        findings.need(not isinstance(lost, int | float) or abs(lost) < 1e-9, message)
    for situation, masked in masked_versions(table).items():
        before, after = Snapshot(table), Snapshot(masked)
        score = findings.attempt(situation, measure.measure, table, masked)
        _unchanged(findings, before, table)
        _unchanged(findings, after, masked)
        if score is None or not check_score(findings, situation, measure, score, len(masked)):
            continue
        moved = shuffled(fresh(masked))
        again = findings.attempt(
            f"{situation}, measured again",
            measure.measure,
            fresh(table),
            fresh(masked),
            must=True,
        )
        if again is not None:
            check_same(findings, f"{situation}: the same tables measured twice give two scores", score, again)
        other = findings.attempt(f"{situation}, shuffled", measure.measure, table, moved, must=True)
        if other is not None:
            order = _places(masked.records, moved.records)
            check_same(findings, f"{situation}: masked rows in another order give another score", score, other, order)
    for situation, relative in relatives(table).items():
        score = findings.attempt(situation, measure.measure, relative, fresh(relative))
        if score is not None:
            check_score(findings, situation, measure, score, len(relative))
    findings.tell()


def masked_versions(data: Microdata) -> dict[str, Microdata]:
    """What a release of this table may look like, by what was done to it."""
    size = len(data)
    records = np.arange(size, dtype=np.int64)
    keys = data.named(Role.KEY)
    third = pl.Series(records % 3 == 0)
    gaps = {name: pl.select(pl.when(third).then(None).otherwise(data.frame[name]).alias(name)).to_series() for name in keys}
    ranges = {
        name: pl.select(
            pl.when(pl.Series(data.frame[name].is_null())).then(None).otherwise(pl.lit(_range(data, name))).alias(name)
        ).to_series()
        for name in keys
        if data.frame.schema[name].is_numeric()
    }
    simulated = np.where(records % 4 == 0, -1 - records, records)
    return {
        "where cells were suppressed": data.with_columns(gaps),
        "where numbers became intervals": data.with_columns(ranges),
        "where identifiers are gone": data.drop(data.named(Role.IDENTIFIER, Role.PERSON)),
        "where half of the records are gone": data.take(records[::2]),
        "where all records are gone": data.take(records[:0]),
        "where some records are simulated": data.replace(data.frame, simulated),
    }


def _range(data: Microdata, name: str) -> str:
    low, high = data.frame[name].min(), data.frame[name].max()
    return f"[{low!r}, {high!r}]" if low is not None else "*"


def _places(records: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """Where in ``records`` each of ``moved`` stands."""
    order = np.argsort(records, kind="stable")
    return np.asarray(order[np.searchsorted(records[order], moved)])


def _table(plugin: Any, data: Microdata | None) -> Microdata:
    chosen = data if data is not None else type(plugin).example_data()
    return fresh(chosen if chosen is not None else sample())


def _unchanged(findings: Findings, before: Snapshot, table: Microdata) -> None:
    for change in before.changes(table):
        findings.add(f"it changes its input: {change} is not what it was; work on a copy")


def _try_risk(findings: Findings, measure: RiskMeasure, situation: str, data: Microdata, original: Microdata | None) -> None:
    score = findings.attempt(situation, measure.measure, data, original=original)
    if score is not None:
        # an intruder who holds the true values has a target an original record
        targets = () if original is None else (len(original),)
        check_score(findings, situation, measure, score, *dict.fromkeys((len(data), *targets)))
