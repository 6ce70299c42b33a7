"""The address of a table behind an ODBC driver: ``odbc://DSN#table`` or ``odbc:///?Driver=…;Server=…#table``.

A connection string is displayed only by the keywords that are known to hold no secret, because drivers have keywords of their
own for passwords and tokens.
"""

from __future__ import annotations

import os
import re
from urllib.parse import unquote

from discreet.errors import ODBC_PUBLIC_KEYWORDS, SourceError

EXAMPLE = "odbc://DSN#table or odbc:///?Driver=…;Server=…;Database=…#table"
USER_VARIABLE, PASSWORD_VARIABLE = "DISCREET_ODBC_USER", "DISCREET_ODBC_PASSWORD"
_PASSWORD_KEYWORDS = ("pwd", "password")
_USER_KEYWORDS = ("uid", "user", "username")
# a value stands in braces where it has a ; in it, and a closing brace inside is doubled
_PAIR = re.compile(r"\s*([^=;{}]+?)\s*=\s*(\{(?:[^}]|\}\})*\}|[^;]*?)\s*(?:;|$)")
_DSN = re.compile(r"(?:(?P<user>[^:@/?]*)(?::(?P<password>[^@]*))?@)?(?P<dsn>[^:@/?;=#{}\[\]()]{1,200})/?")


def parse_connection(rest: str) -> dict[str, str]:
    """The keywords and values of what stands between ``odbc://`` and ``#``, with the credentials of the environment.

    >>> parse_connection("/?Driver={SQLite3};Database=a.db")
    {'Driver': 'SQLite3', 'Database': 'a.db'}
    >>> parse_connection("anna:s%3Bx@clinic")
    {'DSN': 'clinic', 'UID': 'anna', 'PWD': 's;x'}
    """
    malformed = SourceError(f"odbc://…: is not the address of a table; the form is {EXAMPLE}")
    if rest.startswith(("/?", "?")):
        pairs = _parse_pairs(unquote(rest.partition("?")[2]), malformed)
    else:
        match = _DSN.fullmatch(rest)
        if match is None:
            raise malformed
        pairs = {"DSN": unquote(match["dsn"])}
        if match["user"]:
            pairs["UID"] = unquote(match["user"])
        if match["password"]:
            pairs["PWD"] = unquote(match["password"])
    keywords = {keyword.lower() for keyword in pairs}
    if not keywords & {"driver", "dsn", "filedsn"}:
        raise SourceError(f"odbc://…: names neither a data source nor a driver; the form is {EXAMPLE}")
    for variable, keyword, known in ((USER_VARIABLE, "UID", _USER_KEYWORDS), (PASSWORD_VARIABLE, "PWD", _PASSWORD_KEYWORDS)):
        if os.environ.get(variable) and not keywords & set(known):
            pairs[keyword] = os.environ[variable]
    return pairs


def _parse_pairs(text: str, malformed: SourceError) -> dict[str, str]:
    pairs: dict[str, str] = {}
    position = 0
    while position < len(text):
        match = _PAIR.match(text, position)
        if match is None or match.end() == position or "\0" in text:
            raise malformed
        value = match[2]
        pairs[match[1]] = value[1:-1].replace("}}", "}") if value.startswith("{") else value
        position = match.end()
    return pairs


def format_connection(pairs: dict[str, str]) -> str:
    """The connection string for the driver manager; every value that could be misread stands in braces.

    >>> format_connection({"DSN": "clinic", "PWD": "a;b}"})
    'DSN=clinic;PWD={a;b}}}'
    """
    return ";".join(
        f"{keyword}={value}"
        if re.fullmatch(r"[\w./\\:@ -]*", value) and value.strip() == value
        else f"{keyword}={_braced(value)}"
        for keyword, value in pairs.items()
    )


def _braced(value: str) -> str:
    return "{" + value.replace("}", "}}") + "}"


def display_connection(pairs: dict[str, str]) -> str:
    """The address as displayed, without the table: the data source, or the keywords that hold no secret."""
    keywords = {keyword.lower(): value for keyword, value in pairs.items()}
    if "dsn" in keywords:
        return f"odbc://{keywords['dsn']}"
    shown = {keyword: value for keyword, value in pairs.items() if keyword.lower() in ODBC_PUBLIC_KEYWORDS and "@" not in value}
    return f"odbc:///?{format_connection(shown)}"


def secret_values(pairs: dict[str, str]) -> list[str]:
    """The values that no message may contain."""
    return [value for keyword, value in pairs.items() if keyword.lower() not in ODBC_PUBLIC_KEYWORDS and len(value) > 2]


def connection_key(pairs: dict[str, str]) -> tuple[str, ...]:
    """What identifies the database, without the user: two addresses with the same key are one place."""
    ignored = (*_USER_KEYWORDS, *_PASSWORD_KEYWORDS)
    return tuple(sorted(f"{keyword.lower()}={value}" for keyword, value in pairs.items() if keyword.lower() not in ignored))
