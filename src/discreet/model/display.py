"""How the central objects are displayed in a shell, a log, a traceback or a notebook: by shape and policy.

Never displayed: a row of the original or of the release, a value of a record, a seed, a key.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MAX_NAMES = 12
"""How many names are listed; the rest is only counted."""
SECRET_NAME = re.compile(r"key|seed|secret|salt|password|token", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}")


def format_number(value: float) -> str:
    """A number as sentences and tables show it: six significant digits, and all digits before the point.

    >>> format_number(1234567.0), format_number(0.123456789), format_number(1e6)
    ('1,234,567', '0.123457', '1,000,000')
    """
    return f"{value:,.6g}" if abs(value) < 999_999.5 else f"{value:,.0f}"


class Described:
    """Mixin for ``repr``, ``str`` and the notebook view, all built from a title and facts."""

    def describe(self) -> tuple[str, dict[str, str]]:
        """A short title, and facts by name."""
        raise NotImplementedError

    def __repr__(self) -> str:
        title, facts = self.describe()
        details = "; ".join(f"{name}: {fact}" for name, fact in facts.items())
        return f"<{type(self).__name__} {title}{'; ' if details else ''}{details}>"

    def _repr_html_(self) -> str:
        return facts_as_html(type(self).__name__, *self.describe())


def facts_as_html(kind: str, title: str, facts: Mapping[str, str]) -> str:
    """The facts as a small HTML table; all text is escaped."""
    rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(fact)}</td></tr>" for name, fact in facts.items())
    return f"<div><strong>{html.escape(kind)}</strong> {html.escape(title)}<table><tbody>{rows}</tbody></table></div>"


def table_as_html(headings: Sequence[str], rows: Sequence[Sequence[str]], most: int = 60) -> str:
    """A small HTML table of at most so many rows; all text is escaped."""
    head = "".join(f"<th>{html.escape(heading)}</th>" for heading in headings)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[:most])
    more = f"<p>… and {len(rows) - most:,} more</p>" if len(rows) > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def list_names(names: Iterable[str]) -> str:
    """The first names, separated by commas, and the number of the others."""
    all_names = list(names)
    more = f", and {len(all_names) - MAX_NAMES} more" if len(all_names) > MAX_NAMES else ""
    return ", ".join(all_names[:MAX_NAMES]) + more


def describe_type(value: object) -> str:
    """What a wrong argument is, without its content: ``a str``, ``an int``, or the name of a function or method."""
    if callable(value) and hasattr(value, "__name__"):
        return f"the function {value.__name__}: call it with ()"
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def format_shape(records: int, columns: int) -> str:
    """The number of records and columns of a table as text."""
    return f"{records:,} record{'' if records == 1 else 's'} x {columns:,} column{'' if columns == 1 else 's'}"


def format_parameter(name: str, value: Any) -> str:
    """A parameter as text: numbers and single words are shown; anything else, and anything that may be a secret, is not."""
    if not SECRET_NAME.search(name):
        if value is None or isinstance(value, bool | int | float):
            return f"{name}={value}"
        if isinstance(value, str) and _WORD.fullmatch(value):
            return f"{name}={value}"
    return f"{name}=…"
