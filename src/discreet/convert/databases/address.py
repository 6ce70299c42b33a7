"""The address of a database table: ``postgresql://user:password@host/database#schema.table``.

Whatever is told of an address to people is told without its password, and a table's name is taken as data: it is
looked up and quoted, never put into a statement as it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from discreet.errors import SourceError, nearest

if TYPE_CHECKING:
    from sqlalchemy import URL

SCHEMES = {
    "postgresql": "postgresql", "postgres": "postgresql", "mysql": "mysql", "mariadb": "mysql",
    "sqlite": "sqlite", "duckdb": "duckdb",
}  # fmt: skip
_FILES = ("sqlite", "duckdb")
# only what is known to be harmless is shown of the options behind "?"
_SHOWN = ("host", "port", "unix_socket", "sslmode", "charset")
_FORM = {
    "postgresql": "postgresql://user:password@host/database#table", "mysql": "mysql://user:password@host/database#table",
    "sqlite": "sqlite:///file.db#table", "duckdb": "duckdb:///file.duckdb#table",
}  # fmt: skip
# one @ at most, so that nobody can take a piece of a password for the host; no reserved character but in the password
_SERVER = re.compile(
    r"[\w+.\-]+://(?:[^:/?#@]*(?::[^@]*)?@)?(?:[\w.~\-]*|\[[0-9A-Fa-f:.%]+\])(?::(?P<port>\d{1,5}))?(?:/[^@?#]*)?(?:\?[^@#]*)?"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{0,30}")
_ESCAPES = "%23 for a #, %40 for an @, %2F for a / and %3A for a : in a user name or password"
_PART = re.compile(r'"((?:[^"]|"")+)"(?=\.|$)|([^."][^.]*)')


@dataclass(frozen=True)
class Address:
    """A table in a database; ``name`` is the address for people."""

    system: str
    url: URL = field(repr=False)
    schema: str | None
    table: str
    name: str

    @property
    def secrets(self) -> list[str]:
        """What no message may hold."""
        held = [str(self.url.password or "")]
        held += [
            text
            for key, given in self.url.query.items()
            if key not in _SHOWN
            for text in (given if isinstance(given, tuple) else (given,))
        ]
        return [form for text in held if text for form in {text, quote(text, safe=""), repr(text)[1:-1]}]


def parse_address(text: str) -> Address:
    """Take a URL with a table behind ``#`` apart."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import SQLAlchemyError

    scheme = text.partition("://")[0]
    if not _SCHEME.fullmatch(scheme):  # it may hold a password, whose :// was taken for that of an address
        raise SourceError(f"…://…: is not the address of a database table; the form is {_FORM['postgresql']}")
    scheme = scheme.partition("+")[0].lower()
    if scheme not in SCHEMES:
        raise SourceError(f"{scheme}://…: '{scheme}' is not a database that can be read; {nearest(scheme, SCHEMES)}")
    system = SCHEMES[scheme]
    base, _, table = text.rpartition("#") if "#" in text else (text, "", "")
    form = f"the form is {_FORM[system]}" + ("" if system in _FILES else f", with {_ESCAPES}")
    wrong = SourceError(f"{scheme}://…: is not the address of a database table; {form}")
    check_address(base, wrong)
    try:
        url = make_url(base)
    except (SQLAlchemyError, ValueError):
        raise wrong from None
    if not url.database:
        raise SourceError(f"{scheme}://…: names no database; {form}")
    if "@" in table and system not in _FILES:  # what looks like a table may be the end of a password
        raise wrong
    shown = _shown(url, scheme)
    if not table:
        raise SourceError(f"{shown}: names no table; put it behind #, such as {shown}#patients")
    schema, name = _parts(unquote(table), shown)
    return Address(system, url, schema, name, f"{shown}#{unquote(table)}")


def check_address(base: str, wrong: SourceError | None = None) -> None:
    """Raise where it is not certain which part of an address is the password; nothing of it is shown.

    ``base`` is an address without a table.
    """
    scheme, _, rest = base.partition("://")
    wrong = wrong or SourceError(f"{scheme[:30]}://…: is not the address of a database; the form has {_ESCAPES}")
    known = SCHEMES.get(scheme.partition("+")[0].lower())
    if known in _FILES:
        if rest and not rest.startswith("/"):
            raise wrong
    elif known is not None:
        parts = _SERVER.fullmatch(base)
        if parts is None or int(parts["port"] or 0) > 65535:
            raise wrong


def _shown(url: URL, scheme: str) -> str:
    """The address without its password."""
    if url.password is not None and not url.host:  # the rest of a password with an @ in it looks like a database
        return f"{scheme}://…"
    user = f"{quote(url.username, safe='')}@" if url.username else ""
    host = (f"[{url.host}]" if url.host and ":" in url.host else url.host) or ""
    port = f":{url.port}" if url.port else ""
    options = "&".join(f"{key}={given}" for key, given in sorted(url.query.items()) if key in _SHOWN)
    return f"{scheme}://{user}{host}{port}/{url.database}" + (f"?{options}" if options else "")


def _parts(table: str, shown: str) -> tuple[str | None, str]:
    """Schema and table; a name with a dot in it stands in double quotes, as in SQL."""
    parts, place = [], 0
    while match := _PART.match(table, place):
        parts.append(match[1].replace('""', '"') if match[1] is not None else match[2])
        place = match.end()
        if table[place : place + 1] != ".":
            break
        place += 1
    if place != len(table) or not 1 <= len(parts) <= 2 or "\0" in table:
        raise SourceError(f'{shown}#{table}: is not a table\'s name; write table, schema.table, or "a name with a . in it"')
    return (parts[0] if len(parts) == 2 else None), parts[-1]
