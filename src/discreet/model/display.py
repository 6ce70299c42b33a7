"""How a noun introduces itself in a shell, a log, a traceback or a notebook: its shape and its policy.

Never shown: a row of the original or of the release, a value of a record, a seed, a key.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from typing import Any

MOST = 12
"""Names that are listed before the rest is only counted."""
SECRET_NAME = re.compile(r"key|seed|secret|salt|password|token", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}")


class Described:
    """Gives a class ``repr``, ``str`` and a notebook's view, all made from its title and facts."""

    def describe(self) -> tuple[str, dict[str, str]]:
        """A title in a few words, and facts by name."""
        raise NotImplementedError

    def __repr__(self) -> str:
        title, facts = self.describe()
        told = "; ".join(f"{name}: {fact}" for name, fact in facts.items())
        return f"<{type(self).__name__} {title}{'; ' if told else ''}{told}>"

    def _repr_html_(self) -> str:
        return facts_as_html(type(self).__name__, *self.describe())


def facts_as_html(kind: str, title: str, facts: Mapping[str, str]) -> str:
    """A small table; every text in it is escaped."""
    rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(fact)}</td></tr>" for name, fact in facts.items())
    return f"<div><strong>{html.escape(kind)}</strong> {html.escape(title)}<table><tbody>{rows}</tbody></table></div>"


def list_names(names: Iterable[str]) -> str:
    """Names in a row, the first dozen; then how many more there are."""
    every = list(names)
    more = f", and {len(every) - MOST} more" if len(every) > MOST else ""
    return ", ".join(every[:MOST]) + more


def shape_of(records: int, columns: int) -> str:
    """How large a table is."""
    return f"{records:,} record{'' if records == 1 else 's'} x {columns:,} column{'' if columns == 1 else 's'}"


def parameter_as_shown(name: str, value: Any) -> str:
    """A parameter for people: numbers and single words as they are, all else, and whatever may be a secret, left out."""
    if not SECRET_NAME.search(name):
        if value is None or isinstance(value, bool | int | float):
            return f"{name}={value}"
        if isinstance(value, str) and _WORD.fullmatch(value):
            return f"{name}={value}"
    return f"{name}=…"
