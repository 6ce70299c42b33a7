"""Nothing is overwritten by accident: no target is a source or another target, and none exists unless that is wanted.

Two names stand for one place where they resolve to one path, are hard links of one file, or are addresses of one table.
The check is made before any work; :func:`discreet.convert.writing.atomic.replacing` and the databases make it again when
they write.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.convert.databases.address import SCHEMES, Address, parse_address
from discreet.convert.files.cells_file import SUFFIX
from discreet.convert.reading.source import is_url
from discreet.convert.writing.atomic import exists_already
from discreet.engine.encoding.policy_paths import place as place_of
from discreet.errors import DiscreetError, SourceError, redact_credentials
from discreet.model.policy import Policy

_ON_SPARK = ("spark", "sc")
_PORTS = {"postgresql": 5432, "mysql": 3306}
_SCHEMAS = {"postgresql": "public", "sqlite": "main", "duckdb": "main"}
_HERE = ("", "localhost", "127.0.0.1", "::1", "/var/run/postgresql", "/run/postgresql", "/tmp")  # noqa: S108 - a socket's folder


@dataclass(frozen=True)
class Place:
    """Where a table or file lies; ``keys`` are the names that the system itself has for it."""

    keys: frozenset[tuple[Any, ...]]
    table: tuple[str, str] | None = None
    """Schema and table in a database; None for a whole file."""

    def same(self, other: Place) -> bool:
        """Whether writing to one changes the other."""
        return bool(self.keys & other.keys) and (self.table is None or other.table is None or self.table == other.table)


def locate(place: str | Path) -> Place:
    """Where a file name or a ``URL#table`` leads; the password plays no part."""
    text = str(place)
    if not is_url(text):
        return Place(_file_keys(Path(text)))
    if text.partition("://")[0].lower() in _ON_SPARK:
        base, _, table = text.rpartition("#")
        return Place(frozenset({("spark", base.partition("?")[0].partition(";")[0])}), ("", table.lower()))
    address = parse_address(text)
    if address.system in ("sqlite", "duckdb"):
        return Place(_file_keys(Path(str(address.url.database))), _table(address))
    host = str(address.url.host or address.url.query.get("host") or address.url.query.get("unix_socket") or "").lower()
    port = str(address.url.port or address.url.query.get("port") or _PORTS[address.system])
    server = "here" if host in _HERE else host
    return Place(frozenset({(address.system, server, port, address.url.database)}), _table(address))


def check_targets(
    targets: Mapping[str, str | Path | None],
    sources: Mapping[str, str | Path | None],
    *,
    policy: Policy | None = None,
    overwrite: bool = False,
) -> None:
    """Raise where a target is a source, a file that the policy names or another target; or exists, without ``overwrite``.

    Targets and sources are named as people know them: ``{"--report": path}``, ``{"the source": path}``; None is left out.
    """
    wanted = {name: target for name, target in targets.items() if target is not None}
    inputs = [(f"{name} {shown_place(source)}", locate(source)) for name, source in _with_sidecars(sources)]
    inputs += [(f"{path}, which the policy names", locate(path)) for path in _named_by(policy)] if policy else []
    outputs: list[tuple[str, Place]] = []
    for name, target in _with_sidecars(wanted):
        shown, where = f"{name} {shown_place(target)}", locate(target)
        if (other := next((what for what, one in inputs if where.same(one)), None)) is not None:
            raise SourceError(f"{shown} would overwrite {other}; name another target")
        if (other := next((what for what, one in outputs if where.same(one)), None)) is not None:
            raise SourceError(f"{shown} and {other} are one target; name two")
        outputs.append((shown, where))
    if not overwrite:
        for _, target in _with_sidecars(wanted):
            if exists(target):
                raise exists_already(shown_place(target))


def check_source(target: str | Path, *sources: str) -> None:
    """Raise where a target is where the data came from."""
    where = locate(target)
    for source in sources:
        try:
            found = locate(source)
        except DiscreetError:  # a table in memory has a name that leads nowhere
            continue
        if where.same(found):
            raise SourceError(f"{shown_place(target)} would overwrite {source}, where the data come from; name another target")


def exists(target: str | Path) -> bool:
    """Whether a file or table is there; what Spark holds is asked for by Spark when it writes."""
    if not is_url(str(target)):
        return Path(target).expanduser().is_file()  # what is no file is no target, and whoever writes will say so
    if str(target).partition("://")[0].lower() in _ON_SPARK:
        return False
    from discreet.convert.databases.database import open_database

    return open_database(str(target)).exists()


def shown_place(place: str | Path) -> str:
    """A file name or an address without its password."""
    text = str(place)
    if not is_url(text) or text.partition("://")[0].lower() in _ON_SPARK:
        return redact_credentials(text)
    try:
        return parse_address(text).name
    except SourceError:
        scheme = text.partition("://")[0]
        return f"{scheme}://…" if scheme.partition("+")[0].lower() in SCHEMES else "…"


def _file_keys(path: Path) -> frozenset[tuple[Any, ...]]:
    """The resolved path, and device and number of the file where there is one, which hard links share."""
    place = Path(os.path.realpath(path.expanduser()))
    keys: set[tuple[Any, ...]] = {("path", str(place))}
    try:
        found = place.stat()
        keys.add(("inode", found.st_dev, found.st_ino))
    except (OSError, ValueError):
        pass
    return frozenset(keys)


def _table(address: Address) -> tuple[str, str]:
    """Schema and table as the system compares them; where that depends on its settings, as if case made no difference."""
    schema = address.schema or _SCHEMAS.get(address.system) or str(address.url.database)
    if address.system == "postgresql":
        return schema, address.table
    return schema.lower(), address.table.lower()


def _with_sidecars(places: Mapping[str, str | Path | None]) -> Iterator[tuple[str, str | Path]]:
    for name, place in places.items():
        if place is not None:
            yield name, place
            if not is_url(str(place)):
                yield f"the cells of {name}", f"{place}{SUFFIX}"


def _named_by(policy: Policy) -> Iterator[Path]:
    """Every file that a policy names: any text in it that leads to one, so that those of plug-ins are found too."""
    content = policy.model_dump(mode="json", exclude_defaults=True)
    content.pop("missing", None)
    for text in dict.fromkeys(_texts(content)):
        try:
            found = place_of(policy, text)
            if found.is_file():
                yield found
        except (DiscreetError, OSError, ValueError):
            continue


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, Mapping):
        for value in content.values():
            yield from _texts(value)
    elif isinstance(content, list):
        for value in content:
            yield from _texts(value)
    elif isinstance(content, str) and content and "\0" not in content:
        yield content.partition("#")[0] if "://" in content else content
