"""Protection against accidental overwriting: a target must not be a source or another target, and must not exist already.

Two names refer to the same location if they resolve to the same path, are hard links of one file, or are addresses of one
table. The check is made before any work; :func:`discreet.convert.writing.atomic.replacing` and the databases repeat it when
they write.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.convert.databases.address import SCHEMES, Address, parse_address
from discreet.convert.databases.odbc_address import connection_key, parse_connection
from discreet.convert.files.cells_file import SUFFIX
from discreet.convert.places.archives import split_member
from discreet.convert.places.object_stores import is_object_address, object_exists, parse_object_address
from discreet.convert.places.several_files import expand_pattern, is_pattern
from discreet.convert.places.standard_streams import is_standard_stream
from discreet.convert.reading.source import is_url
from discreet.convert.writing.atomic import refuse_key_ring, target_exists_error
from discreet.engine.encoding.policy_paths import resolve_path as place_of
from discreet.errors import DiscreetError, SourceError, redact_credentials
from discreet.model.policy import Policy

Place = str | Path | Sequence[str | Path]
"""A file, a table, or several files that are one table."""

_SPARK_SCHEMES = ("spark", "sc")
_DEFAULT_PORTS = {"postgresql": 5432, "mysql": 3306}
_DEFAULT_SCHEMAS = {"postgresql": "public", "sqlite": "main", "duckdb": "main"}
_LOCAL_HOSTS = ("", "localhost", "127.0.0.1", "::1", "/var/run/postgresql", "/run/postgresql", "/tmp")  # noqa: S108 - a socket's folder


@dataclass(frozen=True)
class Location:
    """Where a table or file is stored; ``keys`` identify it (resolved path, inode, server and database)."""

    keys: frozenset[tuple[Any, ...]]
    table: tuple[str, str] | None = None
    """Schema and table in a database; None for a whole file."""

    def overlaps(self, other: Location) -> bool:
        """Whether writing to one of them changes the other."""
        return bool(self.keys & other.keys) and (self.table is None or other.table is None or self.table == other.table)


def locate(place: str | Path) -> Location:
    """The location of a file name or a ``URL#table``; user name and password are ignored."""
    text = str(place)
    if is_standard_stream(text):
        return Location(frozenset())
    if is_object_address(text):
        return Location(frozenset({("object", text.partition(".zip#")[0])}))
    if not is_url(text):
        member = split_member(text)
        return Location(_file_keys(member[0] if member else Path(text)))
    if text.partition("://")[0].lower() in _SPARK_SCHEMES:
        base, _, table = text.rpartition("#")
        return Location(frozenset({("spark", base.partition("?")[0].partition(";")[0])}), ("", table.lower()))
    address = parse_address(text)
    if address.system in ("sqlite", "duckdb"):
        return Location(_file_keys(Path(str(address.url.database))), _table_key(address))
    if address.system == "odbc":
        return Location(
            frozenset({("odbc", *connection_key(parse_connection(text.rpartition("#")[0].partition("://")[2])))}),
            ((address.schema or "").lower(), address.table.lower()),
        )
    host = str(address.url.host or address.url.query.get("host") or address.url.query.get("unix_socket") or "").lower()
    port = str(address.url.port or address.url.query.get("port") or _DEFAULT_PORTS[address.system])
    server = "localhost" if host in _LOCAL_HOSTS else host
    return Location(frozenset({(address.system, server, port, address.url.database)}), _table_key(address))


def check_targets(
    targets: Mapping[str, Place | None],
    sources: Mapping[str, Place | None],
    *,
    policy: Policy | None = None,
    overwrite: bool = False,
) -> None:
    """Raise if a target is a source, a file that the policy names or another target, or exists and ``overwrite`` is not set.

    The keys of targets and sources name them in messages: ``{"--report": path}``, ``{"the source": path}``; None is ignored.
    """
    given_targets = {name: target for name, target in targets.items() if target is not None}
    if sum(1 for _, source in _with_sidecars(sources) if is_standard_stream(source)) > 1:
        raise SourceError("standard input (-) can be read only once; name a file for the other table")
    inputs = [(f"{name} {format_place(source)}", locate(source)) for name, source in _with_sidecars(sources)]
    inputs += [(f"{path}, which the policy names", locate(path)) for path in _files_named_by(policy)] if policy else []
    outputs: list[tuple[str, Location]] = []
    for name, target in _with_sidecars(given_targets):
        target_name, location = f"{name} {format_place(target)}", locate(target)
        if is_standard_stream(target):
            _check_standard_output(name)
            continue
        if _is_file(target):
            refuse_key_ring(target)
        if (
            conflict := next((description for description, known_location in inputs if location.overlaps(known_location)), None)
        ) is not None:
            raise SourceError(f"{target_name} would overwrite {conflict}; name another target")
        if (
            conflict := next((description for description, known_location in outputs if location.overlaps(known_location)), None)
        ) is not None:
            raise SourceError(f"{target_name} and {conflict} are one target; name two")
        outputs.append((target_name, location))
    if not overwrite:
        for _, target in _with_sidecars(given_targets):
            if exists(target):
                raise target_exists_error(format_place(target))


def check_source(target: str | Path, *sources: str) -> None:
    """Raise SourceError if a target is one of the sources of the data."""
    location = locate(target)
    for source in (part for text in sources for part in {text, *text.split(", ")}):
        try:
            source_location = locate(source)
        except DiscreetError:  # the name of a table in memory is not a location
            continue
        if location.overlaps(source_location):
            raise SourceError(
                f"{format_place(target)} would overwrite {source}, from which the data were read; name another target"
            )


def exists(target: str | Path) -> bool:
    """Whether a file or table exists; for Spark tables False, because Spark checks when it writes."""
    if is_standard_stream(target):
        return False
    if is_object_address(str(target)):
        return object_exists(str(target))
    if not is_url(str(target)):
        return Path(target).expanduser().is_file()  # if it is not a regular file, writing it raises an error
    if str(target).partition("://")[0].lower() in _SPARK_SCHEMES:
        return False
    from discreet.convert.databases.database import open_database

    return open_database(str(target)).exists()


def _check_standard_output(name: str) -> None:
    """Raise where an option asks for standard output, which only the table itself may take."""
    if name.startswith("--"):
        raise SourceError(f"{name} -: only a table can be written to standard output; name a file")


def _is_file(place: str | Path) -> bool:
    return not is_url(str(place)) and not is_standard_stream(place) and not is_object_address(str(place))


def format_place(place: Place) -> str:
    """A file name, or an address without its password, for messages."""
    if not isinstance(place, str | Path):
        return " ".join(format_place(part) for part in place)
    text = str(place)
    if is_object_address(text):
        try:
            parse_object_address(text.partition(".zip#")[0])
        except SourceError:
            return f"{text.partition('://')[0]}://…"
        return text
    if not is_url(text) or text.partition("://")[0].lower() in _SPARK_SCHEMES:
        return redact_credentials(text)
    try:
        return parse_address(text).name
    except SourceError:
        scheme = text.partition("://")[0]
        return f"{scheme}://…" if scheme.partition("+")[0].lower() in SCHEMES else "…"


def _file_keys(path: Path) -> frozenset[tuple[Any, ...]]:
    """The resolved path and, if the file exists, its device and inode, which hard links share."""
    real_path = Path(os.path.realpath(path.expanduser()))
    keys: set[tuple[Any, ...]] = {("path", str(real_path))}
    try:
        status = real_path.stat()
        keys.add(("inode", status.st_dev, status.st_ino))
    except (OSError, ValueError):
        pass
    return frozenset(keys)


def _table_key(address: Address) -> tuple[str, str]:
    """Schema and table in a form that can be compared; case is ignored if the system may ignore it."""
    schema = address.schema or _DEFAULT_SCHEMAS.get(address.system) or str(address.url.database)
    if address.system == "postgresql":
        return schema, address.table
    return schema.lower(), address.table.lower()


def _with_sidecars(places: Mapping[str, Place | None]) -> Iterator[tuple[str, str | Path]]:
    """Every file or table of some places, and the files beside them that describe their labels."""
    for name, place in places.items():
        if place is None:
            continue
        for part in _parts(place):
            yield name, part
            if _is_file(part) and split_member(part) is None:
                yield f"the cells of {name}", f"{part}{SUFFIX}"


def _parts(place: Place) -> list[str | Path]:
    """The single files of a place, wildcards resolved where they match something."""
    parts: list[str | Path] = [place] if isinstance(place, str | Path) else list(place)
    return [name for part in parts for name in (expand_pattern(part) if _is_local_pattern(part) else [part])]


def _is_local_pattern(place: str | Path) -> bool:
    return not is_object_address(str(place)) and is_pattern(place)


def _files_named_by(policy: Policy) -> Iterator[Path]:
    """Every file that a policy names: any text in it that is the path of a file, so that parameters of plug-ins are covered."""
    content = policy.model_dump(mode="json", exclude_defaults=True)
    content.pop("missing", None)
    for text in dict.fromkeys(_strings_in(content)):
        try:
            path = place_of(policy, text)
            if path.is_file():
                yield path
        except (DiscreetError, OSError, ValueError):
            continue


def _strings_in(content: Any) -> Iterator[str]:
    if isinstance(content, Mapping):
        for value in content.values():
            yield from _strings_in(value)
    elif isinstance(content, list):
        for value in content:
            yield from _strings_in(value)
    elif isinstance(content, str) and content and "\0" not in content:
        yield content.partition("#")[0] if "://" in content else content
