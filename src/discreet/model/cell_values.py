"""Single values of each kind in the notation of the cell grammar, and units of time."""

from __future__ import annotations

import datetime
import math
import re
from typing import Any, Literal, get_args

Kind = Literal["number", "date", "datetime", "time", "duration", "boolean", "text"]
KINDS: tuple[Kind, ...] = get_args(Kind)

NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[+-]?inf"
_CLOCK = r"\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?"
_DAY = r"\d{4}-\d{2}-\d{2}"
_MOMENT = rf"{_DAY}(?:[T ]{_CLOCK}(?:Z|[+-]\d{{2}}:?\d{{2}})?)?"
_SPAN = r"(?:-?\d+ days?, )?\d{1,2}:\d{2}:\d{2}(?:\.\d{1,9})?|-?P[0-9DTHMS.]+"
LITERALS: dict[str, str] = {"number": NUMBER, "date": _MOMENT, "datetime": _MOMENT, "time": _CLOCK, "duration": _SPAN}
_INTEGER = re.compile(r"[+-]?\d+")
_ISO_SPAN = re.compile(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_DAYS_SPAN = re.compile(r"(?:(-?\d+) days?, )?(\d{1,2}):(\d{2}):(\d{2}(?:\.\d{1,9})?)")
_YEAR, _MONTH, _QUARTER, _WEEK, _DECADE = (
    re.compile(pattern) for pattern in (r"\d{4}", r"(\d{4})-(\d{2})", r"(\d{4})-Q([1-4])", r"(\d{4})-W(\d{2})", r"(\d{4})s")
)


def number_text(value: float) -> str:
    """A number as text; a whole number has no '.0'."""
    if isinstance(value, int):
        return str(value)
    return str(int(value)) if math.isfinite(value) and value == int(value) and abs(value) < 2**53 else repr(float(value))


def value_text(value: Any) -> str:
    """A value in the notation of the grammar."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def parse_value(text: str, kind: Kind) -> Any:
    """The value of a kind that a text denotes, or None; a datetime with a time zone is converted to UTC, without a zone."""
    if kind == "text":
        return text
    text = text.strip()
    try:
        return _PARSERS[kind](text)
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> int | float:
    return int(text) if _INTEGER.fullmatch(text) else float(text)


def _moment(text: str) -> datetime.datetime:
    moment = datetime.datetime.fromisoformat(text)
    return moment.astimezone(datetime.UTC).replace(tzinfo=None) if moment.tzinfo is not None else moment


def _day(text: str) -> datetime.date | None:
    if len(text) < 10:
        return None
    moment = _moment(text)
    return moment.date() if moment.time() == datetime.time() else None


def _full_moment(text: str) -> datetime.datetime | None:
    return _moment(text) if len(text) >= 10 else None


def _clock(text: str) -> datetime.time | None:
    return datetime.time.fromisoformat(text).replace(tzinfo=None) if ":" in text else None


def _span(text: str) -> datetime.timedelta | None:
    if (match := _DAYS_SPAN.fullmatch(text)) is not None:
        days, hours, minutes, seconds = (part or "0" for part in match.groups())
        return datetime.timedelta(
            days=int(days), hours=int(hours), minutes=int(minutes), microseconds=round(float(seconds) * 1e6)
        )
    if (match := _ISO_SPAN.fullmatch(text)) is None or len(text) < 3:
        return None
    days, hours, minutes, seconds = (part or "0" for part in match.groups()[1:])
    duration = datetime.timedelta(
        days=int(days), hours=int(hours), minutes=int(minutes), microseconds=round(float(seconds) * 1e6)
    )
    return -duration if match[1] else duration


def _truth(text: str) -> bool | None:
    return {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}.get(text.lower())


_PARSERS: dict[str, Any] = {
    "number": _number, "date": _day, "datetime": _full_moment, "time": _clock, "duration": _span, "boolean": _truth,
}  # fmt: skip


def unit_bounds(text: str, kind: Kind) -> tuple[Any, Any] | None:
    """The first moment of a unit of time such as ``2014-05``, and the first moment after it."""
    try:
        if _YEAR.fullmatch(text):
            first, after = _month(int(text), 1), _month(int(text) + 1, 1)
        elif match := _MONTH.fullmatch(text):
            first, after = _month(int(match[1]), int(match[2])), _month(int(match[1]), int(match[2]) + 1)
        elif match := _QUARTER.fullmatch(text):
            last_month = 3 * int(match[2])
            first, after = _month(int(match[1]), last_month - 2), _month(int(match[1]), last_month + 1)
        elif match := _DECADE.fullmatch(text):
            first, after = _month(int(match[1]), 1), _month(int(match[1]) + 10, 1)
        elif match := _WEEK.fullmatch(text):
            first = datetime.date.fromisocalendar(int(match[1]), int(match[2]), 1)
            after = first + datetime.timedelta(days=7)
        else:
            return None
    except (ValueError, OverflowError):
        return None
    if first is None:
        return None
    if kind == "datetime":
        return _midnight(first), math.inf if after is None else _midnight(after)
    return first, math.inf if after is None else after


def _month(year: int, month: int) -> datetime.date | None:
    """The first day of a month, 13 being the next January; None after the last year that dates support."""
    if month == 13:
        year, month = year + 1, 1
    return None if year > datetime.MAXYEAR else datetime.date(max(year, datetime.MINYEAR), month, 1)


def _midnight(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, datetime.time())
