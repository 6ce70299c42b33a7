"""Output of the command line: numbers on standard output, progress and messages on standard error."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from discreet.errors import redact_credentials
from discreet.model.display import format_number
from discreet.model.knowledge import BY_SCENARIO

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.model.results import Assessment, Release, Verdict
    from discreet.model.score import Score

_MOST_COLUMNS = 30
"""Where a release has more columns than this, the coverage table lists only those of concern."""


def open_console() -> Console:
    """A console on standard output; wide where it is not a terminal, so that no number is cut off."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 160, highlight=False, soft_wrap=False)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table; cells are printed as text, never interpreted as markup."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    cells = [list(row) for row in rows]
    for index, column in enumerate(columns):
        numeric = any(isinstance(row[index], int | float) for row in cells)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in cells:
        table.add_row(*(Text(format_cell(cell)) for cell in row))
    console = open_console()
    console.print(table)
    console.print()


def format_cell(value: Any) -> str:
    """A table cell as text: thousands separators, floats with six significant digits."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return format_number(value)
    return str(value)


def format_fields(score: Score) -> dict[str, Any]:
    """The summary of a score for a table; a count or class size that is uncertain over all known sets as its interval."""
    fields = score.to_dict()
    for name, (low, high) in score.certified.items():
        number = round(low) if isinstance(fields.get(name), int) else low
        fields[name] = number if low == high else f"{format_cell(low)} to {format_cell(high)}"
    return fields


def print_message(message: str) -> None:
    """Print a message on standard error, without credentials."""
    print(redact_credentials(message), file=sys.stderr)


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output."""
    print(json.dumps(content, ensure_ascii=False, allow_nan=False))


def print_scores(scores: Mapping[str, Score], meanings: Mapping[str, Mapping[str, str]]) -> None:
    """Print one table per measure: field, value, meaning."""
    for name, score in scores.items():
        rows: list[tuple[Any, ...]] = []
        for field, value in format_fields(score).items():
            meaning = meanings.get(name, {}).get(field, "")
            if isinstance(value, Mapping):
                rows.extend((f"{field} {key}", number, meaning) for key, number in value.items())
            else:
                rows.append((field, value, meaning))
        print_table(name, ("field", "value", "meaning"), rows)
        for note in score.notes:
            print_message(f"{name}: {note}")


@contextmanager
def show_progress() -> Iterator[None]:
    """Show the progress of long work as one line on standard error, once it has taken two seconds."""
    from discreet.engine.runtime.progress import progress_listener

    started, printed, terminal = time.monotonic(), 0.0, sys.stderr.isatty()

    def print_progress(what: str, done: int, total: int) -> None:
        nonlocal printed
        now = time.monotonic()
        if now - started < 2 or now - printed < (0.2 if terminal else 5.0):
            return
        printed = now
        share = f"{100 * done / total:3.0f} %" if total else f"{done:,}"
        sys.stderr.write(f"\r\x1b[K{what}: {share}" if terminal else f"{what}: {share}\n")
        sys.stderr.flush()

    try:
        with progress_listener(print_progress):
            yield
    finally:
        if terminal and printed:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def print_release(release: Release) -> None:
    """Print what each masking step did, and the numbers of records."""
    steps = [
        (
            entry.step, entry.method, ", ".join(entry.columns), entry.values_changed, entry.records_removed, entry.records_added,
            entry.seconds,
        )
        for entry in release.log
    ]  # fmt: skip
    columns = ("step", "method", "columns", "values changed", "records removed", "records added", "seconds")
    print_table("Steps", columns, steps)
    counts = [
        ("records in the initial microdata, n", release.n),
        ("records in the masked microdata, t", release.t),
        ("masked records with an original, r", release.r),
        ("sampling factor, sf = r/n", release.sf),
        ("simulated factor, fs = (t-r)/t", release.fs),
    ]
    print_table("Release", ("quantity", "value"), counts)


def print_verdict(assessment: Assessment) -> None:
    """Print the verdict in sentences: what was given up, the status, and each gap in the evidence."""
    print("\n".join(assessment.sentences) + "\n")


def print_unmet_limits(assessment: Assessment, *, headline: bool) -> None:
    """Print a message for each limit that is not met or could not be judged; with ``headline`` after those of the verdict."""
    for sentence in assessment.sentences if headline else ():
        print_message(sentence)
    for verdict in assessment.verdicts:
        if verdict.status != "met":
            print_message(f"{verdict.status}: {verdict.sentence}")


def print_limits(verdicts: Iterable[Verdict]) -> None:
    """Print the limits: what is required, what was measured against each intruder, and the status."""
    columns = ("limit", "required", "release alone", "attacker knows originals", "status")
    rows = [(verdict.limit, verdict.wanted, *_measured(verdict), verdict.status) for verdict in verdicts]
    print_table("Limits", columns, rows)


def print_presets(assessment: Assessment) -> None:
    """Print what the presets behind the limits check, and under which conditions."""
    if assessment.preset_sentences:
        print("\n".join(assessment.preset_sentences) + "\n")


def _measured(verdict: Verdict) -> tuple[float | None, float | None]:
    """The numbers measured for a limit; an information loss has one only, because it involves no intruder."""
    return (verdict.found, None) if verdict.intruder is None else (verdict.measured_release, verdict.measured_informed)


def print_assessment(assessment: Assessment) -> None:
    """Print the verdict, the limits, the risks before and after, the information loss and the coverage."""
    print_verdict(assessment)
    if assessment.verdicts:
        print_limits(assessment.verdicts)
    print_presets(assessment)
    risks: list[tuple[Any, ...]] = [("", "records", assessment.records_before, assessment.records_after, None)]
    for name, score in assessment.after.items():
        before = format_fields(assessment.before[name]) if name in assessment.before else {}
        informed = format_fields(assessment.informed[name]) if name in assessment.informed else {}
        risks.extend(
            (name, field, before.get(field), value, informed.get(field))
            for field, value in format_fields(score).items()
            if not isinstance(value, Mapping)
        )
    print_table("Risk", ("measure", "field", "before", "after", "after (attacker knows originals)"), risks)
    print_scenarios(assessment)
    losses = [
        (name, field, value) for name, score in assessment.losses.items() for field, value in score.to_dict().items()
        if not isinstance(value, Mapping)
    ]  # fmt: skip
    print_table("Information loss", ("measure", "field", "value"), losses)
    print_coverage(assessment)


def print_scenarios(assessment: Assessment) -> None:
    """Print the numbers of each scenario of the policy, before and after; nothing where it has none."""
    rows: list[tuple[Any, ...]] = []
    for name, score in assessment.after.items():
        for field, values in score.to_dict().items():
            if not isinstance(values, Mapping) or not field.endswith(BY_SCENARIO):
                continue
            before, informed = (
                scores[name].to_dict().get(field, {}) if name in scores else {}
                for scores in (assessment.before, assessment.informed)
            )
            rows += [
                (scenario, name, field.removesuffix(BY_SCENARIO), before.get(scenario), value, informed.get(scenario))
                for scenario, value in values.items()
            ]
    if rows:
        columns = ("scenario", "measure", "field", "before", "after", "after (attacker knows originals)")
        print_table("Scenarios (limits are judged on the worst)", columns, rows)


def print_coverage(assessment: Assessment) -> None:
    """Print which steps changed each released column, which measures examined it, and any concern."""
    columns = coverage_rows(assessment)
    rows = columns
    if len(rows) > _MOST_COLUMNS:
        rows = [row for row in rows if row["concern"] or row["accepted"]]
    cells = [(row["attribute"], row["steps"] or "–", row["adversaries"] or "–", _format_concern(row)) for row in rows]
    if cells:
        print_table("Coverage", ("column", "masked by", "examined by", "concern"), cells)
    if len(rows) < len(columns):
        print_message(f"coverage: no concern about the other {len(columns) - len(rows):,} columns")


def coverage_rows(assessment: Assessment) -> list[dict[str, Any]]:
    """The coverage of each column as plain JSON values; empty where it was not measured."""
    columns = assessment.coverage.per_attribute if assessment.coverage is not None else None
    return [] if columns is None else columns.to_dicts()


def _format_concern(row: Mapping[str, Any]) -> str:
    accepted = f"accepted: {row['accepted']}" if row["accepted"] else ""
    return "; ".join(part for part in (accepted, row["concern"]) if part) or "none"
