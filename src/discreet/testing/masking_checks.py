"""The conformance kit for masking methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DiscreetError
from discreet.model.attribute import Level, Role
from discreet.model.contracts import MaskingMethod, Scope
from discreet.model.microdata import Microdata
from discreet.testing.class_checks import start
from discreet.testing.findings import Findings
from discreet.testing.samples import Snapshot, by_record, fresh, relatives, same, sample, shuffled

_DRAW = KeyedDraw(7, 1)


def check_masking(
    plugin: type[MaskingMethod] | MaskingMethod, data: Microdata | None = None, columns: Sequence[str] | None = None
) -> None:
    """Raise a :class:`ConformanceError` that lists all that is wrong with a masking method.

    A class is tried through its ``example()``, on ``data``, or its ``example_data()``, or the kit's own table; on
    ``columns``, or those that it chooses itself, or the first of the table's that its ``check`` accepts.

    >>> from discreet.masking.rounding.method import Rounding
    >>> check_masking(Rounding(base=5))
    """
    findings, method = start(plugin, "masking", MaskingMethod, "mask")
    if method is not None:
        cls = type(method)
        findings.need(isinstance(getattr(cls, "scope", None), Scope), "it has no scope: say CELL, COLUMN, GROUP or TABLE")
        findings.need(bool(cls.preserves), "it does not say what it preserves: a sentence in preserves")
        sentence = cls.describe_step("age", {})
        findings.need(sentence is None or bool(sentence.strip()), "describe_step returns an empty sentence; None is the default")
    if method is None or findings.sentences:
        findings.tell()  # what is wrong with the class makes the rest guesswork
    chosen = data if data is not None else type(method).example_data()
    table = fresh(chosen if chosen is not None else sample())
    names = list(columns) if columns is not None else _columns(findings, method, table)
    if names is None:
        findings.tell()
        return

    before = Snapshot(table)
    release = findings.attempt("on a table that fits", run, method, table, names, must=True)
    findings.need(not (changed := before.changes(table)), f"it changes its input: {', '.join(changed)}; work on a copy")
    if release is not None and _is_microdata(findings, "on a table that fits", release):
        _keeps(findings, table, release, names)
        _repeats(findings, method, table, release, names)
        _tells(findings, method, table, release, names)
    for situation, relative in relatives(table).items():
        own = names if columns is not None or not method.choose(table) else None
        masked = findings.attempt(situation, run, method, relative, own)
        if masked is not None and _is_microdata(findings, situation, masked):
            _keeps(findings, relative, masked, own if own is not None else method.choose(relative), situation)
    for name in table.columns:
        findings.attempt(
            f"asked to mask '{name}' ({table.level(name)}, {table.frame.schema[name]})",
            run,
            method,
            fresh(table),
            [name],
        )
    findings.tell()


def run(method: MaskingMethod, data: Microdata, columns: Sequence[str] | None) -> Microdata:
    """Check and mask as a plan's step does."""
    names = list(method.choose(data)) if columns is None else list(columns)
    method.check(data, names)
    return method.mask(data, names, _DRAW)


def _columns(findings: Findings, method: MaskingMethod, table: Microdata) -> list[str] | None:
    """The columns to try the method on: the first choice that it accepts."""
    refusal = ""
    for some in _choices(method, table):
        try:
            method.check(table, some)
            method.mask(fresh(table), some, _DRAW)
        except DiscreetError as error:
            refusal = refusal or str(error)
        except Exception:  # noqa: BLE001 - told by the attempt that follows
            return some
        else:
            return some
    findings.add(f"it refuses every choice of the table's columns ({refusal}); give it example_data() to try it on")
    return None


def _choices(method: MaskingMethod, table: Microdata) -> Iterator[list[str]]:
    yield list(method.choose(table))
    keys, confidential = table.named(Role.KEY), table.named(Role.CONFIDENTIAL)
    for names in (keys, confidential):
        for level in (Level.NUMERIC, Level.NOMINAL, Level.ORDINAL, Level.DATE):
            if some := [name for name in names if table.level(name) is level]:
                yield some
                yield some[:1]
    yield keys
    yield confidential


def _is_microdata(findings: Findings, situation: str, result: object) -> bool:
    return findings.need(
        isinstance(result, Microdata), f"{situation}: mask returns {type(result).__name__}, not Microdata; see data.with_columns"
    )


def _keeps(findings: Findings, before: Microdata, after: Microdata, columns: Sequence[str], situation: str = "") -> None:
    """Record numbers, policy and the columns it was not asked to change."""
    prefix = f"{situation}: " if situation else ""
    findings.need(
        # a method that draws a sample may say what share of the population is left
        after.policy.with_(sampling=before.policy.sampling) == before.policy,
        f"{prefix}the policy is lost: build the result with data.with_columns, replace, take or drop",
    )
    numbers = after.records[after.records >= 0]
    unknown = np.setdiff1d(numbers, before.records)
    findings.need(
        not len(unknown), f"{prefix}record {unknown[:1]} is not one of the input's: a simulated record has a negative number"
    )
    findings.need(len(np.unique(after.records)) == len(after), f"{prefix}two rows have the same record number")
    added = [name for name in after.columns if name not in before.columns]
    findings.need(not added, f"{prefix}it adds the column '{added[:1]}', which nobody asked for")
    for name in before.columns:
        if name in columns:
            continue
        if name not in after.columns:
            findings.add(f"{prefix}it drops the column '{name}', which it was not asked to")
        elif not _untouched(before, after, name):
            findings.add(
                f"{prefix}it changes '{name}', which it was not asked to, or loses the record numbers: take rows with data.take"
            )


def _untouched(before: Microdata, after: Microdata, name: str) -> bool:
    order = np.argsort(before.records, kind="stable")
    rows = np.flatnonzero(np.isin(after.records, before.records))
    at = order[np.searchsorted(before.records[order], after.records[rows])]
    return same(before.frame[name][at], after.frame[name][rows])


def _repeats(findings: Findings, method: MaskingMethod, table: Microdata, release: Microdata, columns: Sequence[str]) -> None:
    """The same draw gives the same release, whatever the order of the rows, and a cell's method looks at the cell alone."""
    again = findings.attempt("masked again", run, method, fresh(table), columns, must=True)
    if again is not None:
        _agree(findings, "the same draw gives two different releases: take randomness from draw alone", release, again)
    moved = findings.attempt("on shuffled rows", run, method, shuffled(fresh(table)), columns, must=True)
    if moved is not None:
        advice = "key random choices by data.records and break ties by record number, not by position"
        _agree(findings, f"rows in another order give another release: {advice}", release, moved)
    if method.scope is Scope.CELL:
        half = np.arange(0, len(table), 2)
        part = findings.attempt("on half of the rows", run, method, fresh(table).take(half), columns, must=True)
        if part is not None:
            rest = release.take(np.flatnonzero(np.isin(release.records, part.records)))
            _agree(findings, "its scope is CELL, but a value depends on other records: say COLUMN, GROUP or TABLE", rest, part)


def _tells(findings: Findings, method: MaskingMethod, table: Microdata, release: Microdata, columns: Sequence[str]) -> None:
    """What it says of its work, and of what did not last, are sentences."""
    answers = {
        "promise": findings.attempt("asked what it promises", method.promise, release, columns, must=True),
        "broken": findings.attempt("asked what is broken", method.broken, table, release, release, columns, must=True),
        "notes": findings.attempt("asked for notes", method.notes, table, release, columns, must=True),
    }
    for name, answer in answers.items():
        sentences = answer is None or (isinstance(answer, list) and all(isinstance(sentence, str) for sentence in answer))
        findings.need(sentences, f"{name} returns {answer!r}, not a list of sentences")
    answer = answers["promise"]
    findings.need(not answer, f"it says of the table that it has just made: {answer}; promise names what does not hold any more")


def _agree(findings: Findings, sentence: str, release: Microdata, other_release: Microdata) -> None:
    if not np.array_equal(np.sort(release.records), np.sort(other_release.records)):
        findings.add(f"{sentence} (other records are in it)")
        return
    first, second = by_record(release), by_record(other_release)
    differing = [name for name in first.columns if name not in second.columns or not same(first[name], second[name])]
    findings.need(not differing, f"{sentence} ('{', '.join(differing[:3])}' differs)")
