"""How the command line shows things: numbers on standard output, progress and messages on standard error."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from discreet.errors import redact_credentials

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.model.results import Assessment, Release, Verdict
    from discreet.model.score import Score


def console() -> Console:
    """Standard output; wide where it is not a terminal, so that no number is cut off."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 160, highlight=False, soft_wrap=False)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table; cells are shown as text, never as markup."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    made = Table(title=title or None, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    listed = [list(row) for row in rows]
    for at, column in enumerate(columns):
        numeric = any(isinstance(row[at], int | float) for row in listed)
        made.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in listed:
        made.add_row(*(Text(text(cell)) for cell in row))
    out = console()
    out.print(made)
    out.print()


def text(value: Any) -> str:
    """A cell as a person reads it: thousands marked, floats to six digits."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return str(value)


def say(sentence: str) -> None:
    """A message, beside the numbers."""
    print(redact_credentials(sentence), file=sys.stderr)


def as_json(content: Mapping[str, Any]) -> None:
    """One JSON object on standard output."""
    print(json.dumps(content, ensure_ascii=False, allow_nan=False))


def scores(found: Mapping[str, Score], meanings: Mapping[str, Mapping[str, str]]) -> None:
    """A table a measure: field, number, meaning."""
    for name, score in found.items():
        rows: list[tuple[Any, ...]] = []
        for field, value in score.to_dict().items():
            meaning = meanings.get(name, {}).get(field, "")
            if isinstance(value, Mapping):
                rows.extend((f"{field} {inner}", number, meaning) for inner, number in value.items())
            else:
                rows.append((field, value, meaning))
        table(name, ("field", "value", "meaning"), rows)
        for note in score.notes:
            say(f"{name}: {note}")


@contextmanager
def progress() -> Iterator[None]:
    """A line on standard error that tells how far long work is, once it has taken two seconds."""
    from discreet.engine.runtime.progress import listening

    started, shown, live = time.monotonic(), 0.0, sys.stderr.isatty()

    def listener(what: str, done: int, total: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - started < 2 or now - shown < (0.2 if live else 5.0):
            return
        shown = now
        share = f"{100 * done / total:3.0f} %" if total else f"{done:,}"
        sys.stderr.write(f"\r\x1b[K{what}: {share}" if live else f"{what}: {share}\n")
        sys.stderr.flush()

    try:
        with listening(listener):
            yield
    finally:
        if live and shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def release(made: Release) -> None:
    """What each step did, and how many records went through."""
    steps = [
        (one.step, one.method, ", ".join(one.columns), one.values_changed, one.records_removed, one.records_added, one.seconds)
        for one in made.log
    ]
    table("Steps", ("step", "method", "columns", "values changed", "records removed", "added", "seconds"), steps)
    counts = [
        ("records in the initial microdata, n", made.n),
        ("records in the masked microdata, t", made.t),
        ("of these with an original, r", made.r),
        ("sampling factor, sf = r/n", made.sf),
        ("simulated factor, fs = (t-r)/t", made.fs),
    ]
    table("Release", ("what", "value"), counts)


def verdict(found: Assessment) -> None:
    """The verdict in words, before anything else: what was given up, the state, and each gap in the evidence."""
    print("\n".join(found.sentences) + "\n")


def reasons(found: Assessment, *, headline: bool) -> None:
    """On standard error: a sentence on each limit that is not met or could not be judged, after the verdict where asked for."""
    for sentence in found.sentences if headline else ():
        say(sentence)
    for one in found.verdicts:
        if one.status != "met":
            say(f"{one.status}: {one.sentence}")


def limits(found: Iterable[Verdict]) -> None:
    """The limits, one by one: what is required, what either intruder achieves, and the state."""
    columns = ("limit", "required", "release alone", "attacker knows originals", "status")
    table("Limits", columns, [(one.limit, one.wanted, *_measured(one), one.status) for one in found])


def _measured(one: Verdict) -> tuple[float | None, float | None]:
    """The two numbers of a limit; a loss has one, which is nobody's."""
    return (one.found, None) if one.intruder is None else (one.measured_release, one.measured_informed)


def assessment(found: Assessment) -> None:
    """The verdict, then limits, risks before and after, and losses."""
    verdict(found)
    if found.verdicts:
        limits(found.verdicts)
    rows: list[tuple[Any, ...]] = [("", "records", found.records_before, found.records_after, None)]
    for name, score in found.after.items():
        before = found.before[name].to_dict() if name in found.before else {}
        informed = found.informed[name].to_dict() if name in found.informed else {}
        rows.extend(
            (name, field, before.get(field), value, informed.get(field))
            for field, value in score.to_dict().items()
            if not isinstance(value, Mapping)
        )
    table("Risk", ("measure", "field", "before", "after", "after (attacker knows originals)"), rows)
    losses = [
        (name, field, value) for name, score in found.losses.items() for field, value in score.to_dict().items()
        if not isinstance(value, Mapping)
    ]  # fmt: skip
    table("Loss", ("measure", "field", "value"), losses)
    coverage(found)


_MOST_COLUMNS = 30


def coverage(found: Assessment) -> None:
    """Which step changed each released column, which adversary looked at it, and what is of concern."""
    columns = found.coverage.per_attribute if found.coverage is not None else None
    if columns is None:
        return
    rows = columns.to_dicts()
    if len(rows) > _MOST_COLUMNS:
        rows = [row for row in rows if row["concern"] or row["accepted"]]
    shown = [(row["attribute"], row["steps"] or "–", row["adversaries"] or "–", _concern(row)) for row in rows]
    if shown:
        table("Coverage", ("column", "masked by", "looked at by", "concern"), shown)
    if len(rows) < columns.height:
        say(f"coverage: {columns.height - len(rows):,} other columns are of no concern")


def coverage_rows(found: Assessment) -> list[dict[str, Any]]:
    """The same, column by column, as plain JSON values."""
    columns = found.coverage.per_attribute if found.coverage is not None else None
    return [] if columns is None else columns.to_dicts()


def _concern(row: Mapping[str, Any]) -> str:
    accepted = f"accepted: {row['accepted']}" if row["accepted"] else ""
    return "; ".join(part for part in (accepted, row["concern"]) if part) or "none"
