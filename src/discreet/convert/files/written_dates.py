"""Dates as people write them: which formats fit all values of a column, and what to do where several do.

A format counts where every value fits and lies between 1800 and 2100. Where day and month cannot be told apart (01/03/1970
throughout), the column stays text until the policy's ``read.dates`` says which comes first. Years of two digits are read with
the policy's pivot.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from discreet.convert.files.reading_notes import Choice, add_note, record_choice
from discreet.errors import SourceError
from discreet.model.policy import Policy
from discreet.model.sections.reading import Reading

_SAMPLE = 500
_FIRST_YEAR, _LAST_YEAR = 1800, 2100
_CLOCKS = (("", ""), (" %H:%M", r" \d{1,2}:\d{2}"), (" %H:%M:%S", r" \d{1,2}:\d{2}:\d{2}"))
_DAYS = (
    ("%Y/%m/%d", r"\d{4}/\d{1,2}/\d{1,2}"), ("%Y.%m.%d", r"\d{4}\.\d{1,2}\.\d{1,2}"), ("%d.%m.%Y", r"\d{1,2}\.\d{1,2}\.\d{4}"),
    ("%d/%m/%Y", r"\d{1,2}/\d{1,2}/\d{4}"), ("%m/%d/%Y", r"\d{1,2}/\d{1,2}/\d{4}"), ("%d-%m-%Y", r"\d{1,2}-\d{1,2}-\d{4}"),
    ("%m-%d-%Y", r"\d{1,2}-\d{1,2}-\d{4}"), ("%d.%m.%y", r"\d{1,2}\.\d{1,2}\.\d{2}"), ("%d/%m/%y", r"\d{1,2}/\d{1,2}/\d{2}"),
    ("%m/%d/%y", r"\d{1,2}/\d{1,2}/\d{2}"), ("%d %b %Y", r"\d{1,2} [A-Za-z]{3} \d{4}"),
    ("%d-%b-%Y", r"\d{1,2}-[A-Za-z]{3}-\d{4}"),
    ("%d%b%Y", r"\d{1,2}[A-Za-z]{3}\d{4}"), ("%d-%b-%y", r"\d{1,2}-[A-Za-z]{3}-\d{2}"), ("%d%b%y", r"\d{1,2}[A-Za-z]{3}\d{2}"),
    ("%d %B %Y", r"\d{1,2} [A-Za-z]{4,9} \d{4}"), ("%d. %B %Y", r"\d{1,2}\. [A-Za-z]{3,9} \d{4}"),
    ("%b %d, %Y", r"[A-Za-z]{3} \d{1,2}, \d{4}"), ("%B %d, %Y", r"[A-Za-z]{3,9} \d{1,2}, \d{4}"),
)  # fmt: skip
_FORMATS = (
    *((day + clock, pattern + time) for clock, time in _CLOCKS for day, pattern in _DAYS),
    ("%Y-%m-%d %H:%M", r"\d{4}-\d{2}-\d{2} \d{1,2}:\d{2}"),
)


def formats_that_fit(texts: pl.Series) -> tuple[str, ...]:
    """The formats in which all of these texts (none null) are dates.

    >>> formats_that_fit(pl.Series(["01/03/1970", "25/12/1981"])), formats_that_fit(pl.Series(["01/03/1970"]))
    (('%d/%m/%Y',), ('%d/%m/%Y', '%m/%d/%Y'))
    """
    if not len(texts):
        return ()
    first = texts[0].strip()
    likely = [(form, pattern) for form, pattern in _FORMATS if re.fullmatch(pattern, first, re.ASCII)]
    if not likely:
        return ()
    stripped = texts.str.strip_chars()
    if len(stripped) > _SAMPLE:
        likely = [entry for entry in likely if _fits(stripped.head(_SAMPLE), *entry)]
    return tuple(form for form, pattern in likely if _fits(stripped, form, pattern))


def _fits(texts: pl.Series, form: str, pattern: str) -> bool:
    if not texts.str.contains(f"^(?:{pattern})$").all():
        return False
    parsed = texts.to_frame("x").select(parse_dates(pl.col("x"), form)).to_series()
    return parsed.null_count() == 0 and bool(parsed.dt.year().is_between(_FIRST_YEAR, _LAST_YEAR).all())


def parse_dates(text: pl.Expr, form: str, pivot: int = 30) -> pl.Expr:
    """Texts as dates, or as datetimes where the format has a time; null where a text does not fit."""
    trimmed = text.str.strip_chars()
    if "%y" in form:
        trimmed = _with_century(trimmed, form, pivot)
        form = form.replace("%y", "%Y")
    if "%H" in form or "%I" in form:
        return trimmed.str.to_datetime(form, strict=False, time_unit="us")
    return trimmed.str.to_date(form, strict=False)


def _with_century(text: pl.Expr, form: str, pivot: int) -> pl.Expr:
    """The texts with a year of four digits where the format has one of two."""
    before = re.sub(
        r"%[dmHMSI]",
        r"\\d{1,2}",
        re.escape(form.split("%y", maxsplit=1)[0]).replace("%b", "[A-Za-z]{3}").replace("%B", "[A-Za-z]+"),
    )
    pattern = rf"^({before})(\d{{2}})(\D.*)?$"
    year = text.str.extract(pattern, 2).cast(pl.Int32, strict=False)
    century = pl.when(year < pivot).then(pl.lit("20")).otherwise(pl.lit("19"))
    return text.str.extract(pattern, 1) + century + text.str.extract(pattern, 2) + text.str.extract(pattern, 3).fill_null("")


def describe_choice(name: str, choice: Sequence[str], reading: Reading) -> str:
    """The sentence that says how a column of dates was read, or what is asked for."""
    if len(choice) > 1:
        return (
            f"'{name}' holds dates, but day and month cannot be told apart and it stays text; "
            f"set read: {{dates: {{{name}: '{choice[0]}'}}}} or '{choice[1]}'"
        )
    sentence = f"'{name}' was read as dates written {choice[0]}"
    if "%y" in choice[0]:
        last = reading.pivot - 1
        sentence += f"; years 00 to {last:02d} are 2000 to 20{last:02d}, the others 19.. (read.pivot)"
    return sentence


def convert_date_columns(lazy: pl.LazyFrame, policy: Policy, source: str, names: Sequence[str]) -> pl.LazyFrame:
    """Text columns, of those named, whose values are all dates in one format as dates; ISO dates in text are left as they are."""
    schema = lazy.collect_schema()
    explicit = policy.read.dates
    for name in explicit:
        if name not in schema:
            raise SourceError(f"{source}: the policy's read.dates names '{name}', which is not a column")
    candidates = [name for name in names if schema[name] == pl.String and name not in policy.read.text and name not in explicit]
    expressions = [
        _explicit_dates(lazy, name, policy, source) for name in explicit if name in names and schema[name] == pl.String
    ]
    if candidates:
        head = lazy.select(candidates).head(_SAMPLE).collect()
        likely = [name for name in candidates if formats_that_fit(_known(head[name]))]
        expressions += [expression for name in likely if (expression := _guessed_dates(lazy, name, policy)) is not None]
    return lazy.with_columns(expressions) if expressions else lazy


def _known(column: pl.Series) -> pl.Series:
    return column.str.strip_chars().replace("", None).drop_nulls()


def _guessed_dates(lazy: pl.LazyFrame, name: str, policy: Policy) -> pl.Expr | None:
    remaining: tuple[str, ...] | None = None
    for batch in lazy.select(name).collect_batches():
        texts = _known(batch[name]).unique()
        if len(texts):
            fitting = formats_that_fit(texts)
            remaining = fitting if remaining is None else tuple(form for form in remaining if form in fitting)
            if not remaining:
                return None
    if not remaining:
        return None
    add_note(describe_choice(name, remaining, policy.read))
    record_choice(_date_choice(name, remaining))
    return (
        parse_dates(pl.col(name).replace("", None), remaining[0], policy.read.pivot).alias(name) if len(remaining) == 1 else None
    )


def _date_choice(name: str, formats: Sequence[str]) -> Choice:
    if len(formats) == 1:
        return Choice(f"dates.{name}", formats[0], "the only format in which all values are dates")
    return Choice(f"dates.{name}", "", "day and month cannot be told apart: choose a format", alternatives=tuple(formats))


def _explicit_dates(lazy: pl.LazyFrame, name: str, policy: Policy, source: str) -> pl.Expr:
    form = policy.read.dates[name]
    record_choice(Choice(f"dates.{name}", form, "set in the options", given=True))
    parsed = parse_dates(pl.col(name), form, policy.read.pivot)
    blank = pl.col(name).is_null() | (pl.col(name).str.strip_chars() == "")
    wrong = lazy.select(name).filter(parsed.is_null() & ~blank).head(1).collect()
    if wrong.height:
        raise SourceError(f"{source}: '{name}' holds '{wrong.item()}', which is no date written {form} (the policy's read.dates)")
    return parsed.alias(name)
