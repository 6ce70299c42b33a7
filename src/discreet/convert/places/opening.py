"""The files that a source stands for: one, or several that are read as one table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet.convert.files.cells_file import SUFFIX as CELLS_SUFFIX
from discreet.convert.places.archives import split_member, unpack_table
from discreet.convert.places.object_stores import fetch_object, is_object_address
from discreet.convert.places.several_files import check_named_once, expand_pattern, is_pattern
from discreet.convert.places.staging import PlacedFile
from discreet.convert.places.standard_streams import is_standard_stream, receive_standard_input
from discreet.errors import SourceError


def is_database(place: Any) -> bool:
    """Whether a source or target is a database table rather than a file."""
    return isinstance(place, str) and "://" in place and not is_object_address(place)


def list_places(source: Any) -> list[str | Path] | None:
    """The files that a source names, wildcards resolved; None where it is a database table or a table in memory."""
    if isinstance(source, str | Path):
        if is_database(source):
            return None
        return [*expand_pattern(source)] if is_pattern(source) else [source]
    if isinstance(source, list | tuple) and source and all(isinstance(part, str | Path) for part in source):
        places: list[str | Path] = []
        for part in source:
            if is_database(part):
                raise SourceError(f"{part}: a database table cannot be one of several files of a table")
            places += expand_pattern(part) if is_pattern(part) else [part]
        check_named_once([str(place) for place in places])
        return places
    return None


def open_places(places: Sequence[str | Path], max_bytes: float | None = None) -> list[PlacedFile]:
    """Each place as a file that can be read: a private copy, where it is no file in a folder."""
    return [_open_place(place, max_bytes) for place in places]


def _open_place(place: str | Path, max_bytes: float | None) -> PlacedFile:
    if is_standard_stream(place):
        file = receive_standard_input(place)
        return unpack_table(file.path, None, file.name, max_bytes) if file.path.suffix == ".zip" else file
    if isinstance(place, str) and is_object_address(place):
        address, mark, member = place.partition(".zip#")
        file = fetch_object(f"{address}.zip" if mark else place, (CELLS_SUFFIX,))
        if file.path.suffix.lower() == ".zip":
            return unpack_table(file.path, member or None, file.name, max_bytes)
        return file
    if (parts := split_member(place)) is not None:
        return unpack_table(*parts, str(parts[0]), max_bytes)
    return PlacedFile(Path(place).expanduser(), str(place) if not str(place).startswith("~") else str(Path(place).expanduser()))
