"""Every exception that discreet raises on purpose.

    DiscreetError
    ├── SourceError      a file or table cannot be read or written
    │   └── MissingExtraError   an optional library is not installed
    ├── PolicyError      a policy is invalid
    │   └── ParameterError   a parameter of a measure or method is invalid
    ├── DataError        the data do not allow the operation
    │   └── UnexplainedCellError   a released cell is not a value, and nothing defines its meaning
    ├── MemoryLimitError   a job would need more memory than is available
    └── PluginError      a plug-in cannot be found, loaded or trusted

The message of each is one sentence (or a few) for a person: it names the file, the attribute, the rule
and the value, and where possible, what would work instead.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_SYSTEMS = r"(?:postgres(?:ql)?|mysql|mariadb|sqlite|duckdb|spark|sc|odbc|jdbc|oracle|mssql|redis|mongodb)(?:\+\w+)?"
# an address begins a word, else a password with :// in it would be taken for a second address
_ADDRESS = re.compile(r"(?<![^\s'\"(\[=,;])([A-Za-z][A-Za-z0-9+.\-]{0,30})://")
_HOST = r"(?:local(?:-cluster)?\[[\d*, ]+\]|[\w.\-]*|\[[0-9A-Fa-f:.%]+\])(?::\d{1,5}(?!\d))?"
_PLAIN = re.compile(rf"(?:[^\s:@/?#;'\"]*@)?{_HOST}(?=$|[/\s?#;'\",)\]…]|:\s|:$)")
_WITHOUT_SLASHES = re.compile(rf"\b({_SYSTEMS}):/?(?!/)[^@]*@", re.IGNORECASE | re.DOTALL)
# a password may contain spaces and line ends; where it begins with one, a host and a path or port must follow
_WITHOUT_SCHEME = re.compile(r"[^\s:/@'\"]*:(?!//)(?:(?=\S)[\s\S]*@|[\s\S]*@(?=[\w.\-\[\]]+(?:/|:\d)))")
_OPTION = re.compile(r"\b(\w*(?:passw(?:or)?d|pwd|token|secret|key))=(?:\{(?:[^}]|\}\})*\}?|[^;&\s#]+)", re.IGNORECASE)

ODBC_PUBLIC_KEYWORDS = frozenset(
    {"driver", "dsn", "server", "servername", "host", "port", "database", "db", "dbq", "uid", "user"}
)
"""Keywords of an ODBC connection string that hold no secret; drivers have keywords of their own for passwords and tokens."""
_ODBC_PAIR = re.compile(r"([^=;{}?/#]+)=(\{(?:[^}]|\}\})*\}?|[^;#]*)")


class Redacted(str):
    """A text without passwords: its parts were redacted one by one, so that no part is mistaken for another's password."""

    __slots__ = ()


def redact_credentials(text: str) -> str:
    """The text without the passwords of addresses in it; where an address is malformed, more is removed rather than less.

    >>> redact_credentials("postgresql://anna:se#cr@et@host/db#t: cannot be read")
    'postgresql://…@host/db#t: cannot be read'
    >>> redact_credentials("postgresql://anna@host/db#t: cannot be read")
    'postgresql://anna@host/db#t: cannot be read'
    >>> redact_credentials("mysql://anna:secret")
    'mysql://…'
    """
    if ":" not in text:
        return text
    marks = list(_ADDRESS.finditer(text))
    starts = [*(mark.start() for mark in marks), len(text)]
    before = text[: starts[0]]
    parts = [_WITHOUT_SCHEME.sub("…@", _WITHOUT_SLASHES.sub(r"\1:…@", before))]
    parts += [
        f"{mark[1]}://{_redact_rest(text[mark.end() : end], mark[1].lower())}"
        for mark, end in zip(marks, starts[1:], strict=True)
    ]
    return "".join(parts)


def _redact_rest(rest: str, scheme: str) -> str:
    """The text after ``scheme://``, without what may be a password."""
    if scheme == "odbc" and "=" in rest.partition("#")[0] and rest.startswith(("?", "/?")):
        kept = ODBC_PUBLIC_KEYWORDS
        rest = _ODBC_PAIR.sub(lambda pair: pair[0] if pair[1].strip().lower() in kept else f"{pair[1]}=…", rest)
    elif scheme == "odbc" and re.match(r"[^\s#]*[;{}]", rest):
        return "…"
    last = rest.rfind("@")
    plain = _PLAIN.match(rest)
    if plain is not None and last < plain.end():
        return _OPTION.sub(r"\1=…", rest)
    if last < 0:  # the text after the colon is no port, so it may be a password whose host is missing
        return "…"
    if rest[:last].endswith(":"):  # an empty password: what follows the @ may be the rest of one that begins with @
        return "…"
    host = _PLAIN.match(rest, last + 1)
    following = rest[host.end() : host.end() + 1] if host is not None else ""
    return "…@" + _OPTION.sub(r"\1=…", rest[last + 1 :]) if following in ("/", ":") else "…"


class DiscreetError(Exception):
    """Base of all errors caused by the input or the call, never by a defect of the program; no message holds a password."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(
            *(
                redact_credentials(text) if isinstance(text, str) and not isinstance(text, Redacted) else text
                for text in arguments
            )
        )


class SourceError(DiscreetError):
    """A file or database table cannot be read or written."""


class PolicyError(DiscreetError):
    """A policy is invalid."""


class ParameterError(PolicyError):
    """A parameter of a measure or method is invalid."""


class DataError(DiscreetError):
    """The data do not allow the operation."""


class UnexplainedCellError(DataError):
    """A released cell is not a value, and nothing defines its meaning."""


class MemoryLimitError(DiscreetError):
    """A job would need more memory than is available."""


class MissingExtraError(SourceError):
    """An optional library is not installed; the message names the extra that installs it."""


class PluginError(DiscreetError):
    """A plug-in cannot be found, loaded or trusted."""


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint that names the closest known word, or the known words where none is close."""
    choices = sorted(map(str, known))
    if close := difflib.get_close_matches(word, choices, n=1, cutoff=0.5):
        return f"did you mean '{close[0]}'?"
    if not choices:
        return "there are none"
    shown = ", ".join(choices[:12]) + (", …" if len(choices) > 12 else "")
    return f"known: {shown}"
