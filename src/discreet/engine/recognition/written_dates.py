"""Dates that are stored as text or as whole numbers, in the ways that people write them."""

from __future__ import annotations

import numpy as np
import polars as pl

_FORMATS = (
    "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d",
    "%d %b %Y", "%d %B %Y", "%d. %B %Y", "%d-%b-%Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%d%b%Y",
    "%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%y-%m-%d",
    "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%m/%d/%Y %H:%M",
    "%d/%m/%Y %H:%M", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f",
)  # fmt: skip
_ENOUGH = 0.95
_TRIED = 400
_EARLIEST, _LATEST = 17_000_101, 22_001_231
_COMPACT = "%Y%m%d"


def date_format(values: pl.Series) -> str | None:
    """The format in which nearly all of some distinct values are dates; None where they are not, or are dates by type."""
    known = values.drop_nulls()
    if not len(known):
        return None
    if len(known) > _TRIED:
        known = known.gather(np.linspace(0, len(known) - 1, _TRIED).astype(np.int64))
    if known.dtype.is_integer():
        inside = known.cast(pl.Int64, strict=False).is_between(_EARLIEST, _LATEST)
        return _COMPACT if inside.mean() == 1 and _share(known, _COMPACT) >= _ENOUGH else None
    if known.dtype != pl.String:
        return None
    # most texts are no dates: they have too few digits, or no common length
    if float(known.str.count_matches(r"\d").is_between(4, 20).mean() or 0) < _ENOUGH:  # type: ignore[arg-type]
        return None
    if float(known.str.strip_chars().str.len_chars().is_between(6, 32).mean() or 0) < _ENOUGH:  # type: ignore[arg-type]
        return None
    best = max(_FORMATS, key=lambda date_format: _share(known, date_format))
    return best if _share(known, best) >= _ENOUGH else None


def read_dates(values: pl.Series, form: str) -> pl.Series:
    """Values as dates; null where a value is none, such as a label of a masked cell."""
    if values.dtype == pl.Date:
        return values
    if isinstance(values.dtype, pl.Datetime):
        return values.dt.date()
    texts = values.cast(pl.String).str.strip_chars()
    if "%H" in form:
        return texts.str.to_datetime(form, strict=False, time_unit="us").dt.date()
    return texts.str.to_date(form, strict=False)


def _share(values: pl.Series, form: str) -> float:
    dates = read_dates(values, form)
    years = dates.dt.year()
    return float((dates.is_not_null() & years.is_between(1700, 2200)).mean() or 0.0)  # type: ignore[arg-type]
