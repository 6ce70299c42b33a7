"""The address of a database table: ``postgresql://user:password@host/database#schema.table``.

An address is displayed only without its password. A table name is treated as data: it is looked up and quoted, never put
into an SQL statement as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from discreet.convert.databases.odbc_address import (
    EXAMPLE,
    display_connection,
    format_connection,
    parse_connection,
    secret_values,
)
from discreet.errors import SourceError, nearest
from discreet.model.extras import require_libraries

if TYPE_CHECKING:
    from sqlalchemy import URL

SCHEMES = {
    "postgresql": "postgresql", "postgres": "postgresql", "mysql": "mysql", "mariadb": "mysql",
    "sqlite": "sqlite", "duckdb": "duckdb", "odbc": "odbc",
}  # fmt: skip
_LIBRARIES = {
    "postgresql": ("sqlalchemy", "psycopg", "adbc_driver_postgresql"), "mysql": ("sqlalchemy", "pymysql"),
    "sqlite": ("sqlalchemy",), "duckdb": ("sqlalchemy", "duckdb"), "odbc": ("sqlalchemy", "arrow_odbc", "pyodbc"),
}  # fmt: skip
_EMBEDDED_SYSTEMS = ("sqlite", "duckdb")
# of the options after "?", only those that are known to contain no secret are displayed
_PUBLIC_OPTIONS = ("host", "port", "unix_socket", "sslmode", "charset")
_EXAMPLE_URLS = {
    "postgresql": "postgresql://user:password@host/database#table", "mysql": "mysql://user:password@host/database#table",
    "sqlite": "sqlite:///file.db#table", "duckdb": "duckdb:///file.duckdb#table", "odbc": EXAMPLE,
}  # fmt: skip
# at most one @, so that a piece of a password is never taken for the host; no reserved characters outside the password
_SERVER_URL = re.compile(
    r"[\w+.\-]+://(?:[^:/?#@]*(?::[^@]*)?@)?(?:[\w.~\-]*|\[[0-9A-Fa-f:.%]+\])(?::(?P<port>\d{1,5}))?(?:/[^@?#]*)?(?:\?[^@#]*)?"
)
# an empty password may be one that begins with @, unless a host is given as an option, as of a server's socket
_EMPTY_PASSWORD = re.compile(r"[\w+.\-]+://[^:/?#@]*:@(?!/[^/:?#]*\?(?:[^#]*&)?host=)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{0,30}")
_ESCAPES = "%23 for a #, %40 for an @, %2F for a / and %3A for a : in a user name or password"
_NAME_PART = re.compile(r'"((?:[^"]|"")+)"(?=\.|$)|([^."][^.]*)')


@dataclass(frozen=True)
class Address:
    """A table in a database; ``name`` is the address as displayed, without a password."""

    system: str
    url: URL = field(repr=False)
    schema: str | None
    table: str
    name: str

    @property
    def secrets(self) -> list[str]:
        """Texts that no message may contain: the password and unknown options, in several spellings."""
        values = [str(self.url.password or "")]
        values += [
            text
            for key, option in self.url.query.items()
            if key not in _PUBLIC_OPTIONS
            for text in (option if isinstance(option, tuple) else (option,))
        ]
        return [spelling for text in values if text for spelling in {text, quote(text, safe=""), repr(text)[1:-1]}]


def parse_address(text: str) -> Address:
    """Parse a URL with the table after ``#``."""
    scheme = text.partition("://")[0]
    if not _SCHEME.fullmatch(scheme):  # the :// may be part of a password, so nothing of the text is displayed
        raise SourceError(f"…://…: is not the address of a database table; the form is {_EXAMPLE_URLS['postgresql']}")
    scheme = scheme.partition("+")[0].lower()
    if scheme not in SCHEMES:
        raise SourceError(f"{scheme}://…: '{scheme}' is not a supported database system; {nearest(scheme, SCHEMES)}")
    system = SCHEMES[scheme]
    require_libraries(f"a table of {scheme}://…", *_LIBRARIES[system], extra="odbc" if system == "odbc" else "databases")
    if system == "odbc":
        return _parse_odbc(text)
    from sqlalchemy import make_url
    from sqlalchemy.exc import SQLAlchemyError

    base, _, table = text.rpartition("#") if "#" in text else (text, "", "")
    expected = f"the form is {_EXAMPLE_URLS[system]}" + ("" if system in _EMBEDDED_SYSTEMS else f", with {_ESCAPES}")
    malformed = SourceError(f"{scheme}://…: is not the address of a database table; {expected}")
    check_address(base, malformed)
    try:
        url = make_url(base)
    except (SQLAlchemyError, ValueError):
        raise malformed from None
    if not url.database:
        raise SourceError(f"{scheme}://…: names no database; {expected}")
    if "@" in table and system not in _EMBEDDED_SYSTEMS:  # what looks like a table name may be the end of a password
        raise malformed
    public_url = _url_without_password(url, scheme)
    if not table:
        raise SourceError(f"{public_url}: names no table; add it after #, such as {public_url}#patients")
    schema, name = _split_table_name(unquote(table), public_url)
    return Address(system, url, schema, name, f"{public_url}#{unquote(table)}")


def _parse_odbc(text: str) -> Address:
    from sqlalchemy import URL

    base, mark, table = text.rpartition("#")
    if not mark:
        base = text
    pairs = parse_connection(base.partition("://")[2])
    public = display_connection(pairs)
    if not mark or not table:
        raise SourceError(f"{public}: names no table; add it after #, such as {public}#patients")
    if "@" in table or ";" in table:  # what looks like a table's name may be the end of a password
        raise SourceError(f"odbc://…: is not the address of a table; the form is {EXAMPLE}, with %23 for a # in a password")
    schema, name = _split_table_name(unquote(table), public)
    password = next((value for keyword, value in pairs.items() if keyword.lower() in ("pwd", "password")), None)
    secrets = {f"secret{number}": value for number, value in enumerate(secret_values(pairs))}
    url = URL.create("odbc", password=password, query={"connection": format_connection(pairs), **secrets})
    return Address("odbc", url, schema, name, f"{public}#{unquote(table)}")


def check_address(base: str, wrong: SourceError | None = None) -> None:
    """Raise SourceError, without displaying the address, if it is ambiguous which part of it is the password.

    ``base`` is an address without a table.
    """
    scheme, _, rest = base.partition("://")
    wrong = wrong or SourceError(f"{scheme[:30]}://…: is not the address of a database; the form has {_ESCAPES}")
    system = SCHEMES.get(scheme.partition("+")[0].lower())
    if system in _EMBEDDED_SYSTEMS:
        if rest and not rest.startswith("/"):
            raise wrong
    elif system == "odbc":
        parse_connection(rest)
    elif system is not None:
        match = _SERVER_URL.fullmatch(base)
        if match is None or int(match["port"] or 0) > 65535 or _EMPTY_PASSWORD.match(base):
            raise wrong


def _url_without_password(url: URL, scheme: str) -> str:
    """The address as displayed, without its password."""
    if url.password is not None and not url.host:  # the rest of a password that contains an @ looks like a database name
        return f"{scheme}://…"
    user = f"{quote(url.username, safe='')}@" if url.username else ""
    host = (f"[{url.host}]" if url.host and ":" in url.host else url.host) or ""
    port = f":{url.port}" if url.port else ""
    options = "&".join(f"{key}={value}" for key, value in sorted(url.query.items()) if key in _PUBLIC_OPTIONS)
    return f"{scheme}://{user}{host}{port}/{url.database}" + (f"?{options}" if options else "")


def _split_table_name(table: str, public_url: str) -> tuple[str | None, str]:
    """Schema and table; a name that contains a dot is written in double quotes, as in SQL."""
    parts, position = [], 0
    while match := _NAME_PART.match(table, position):
        parts.append(match[1].replace('""', '"') if match[1] is not None else match[2])
        position = match.end()
        if table[position : position + 1] != ".":
            break
        position += 1
    if position != len(table) or not 1 <= len(parts) <= 2 or "\0" in table:
        raise SourceError(f'{public_url}#{table}: is not a table\'s name; write table, schema.table, or "a name with a . in it"')
    return (parts[0] if len(parts) == 2 else None), parts[-1]
