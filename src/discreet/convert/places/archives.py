"""Zip archives: one table inside, or the member that is named as ``archive.zip#member.csv``.

A member is copied under a name of our own, so that no path in an archive is ever followed. What it expands to is bounded while
it is unpacked, because the sizes in an archive's directory are only claims.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path, PurePosixPath

from discreet.convert.files.formats import FORMATS, format_of
from discreet.convert.places.staging import PlacedFile, StagingFolder
from discreet.engine.runtime.memory import format_size
from discreet.errors import DataError, DiscreetError, SourceError, nearest

SUFFIX = ".zip"
MAX_EXPANDED_BYTES = float(1 << 36)
"""Most bytes that a member may expand to, where nothing lower is asked for: 64 GiB."""
_CHUNK = 1 << 20
_MOST_LISTED = 10
_ENCRYPTED = 0x1


def split_member(source: str | Path) -> tuple[Path, str | None] | None:
    """The archive and the member that a source names; None where it names no archive."""
    text = str(source)
    archive, mark, member = text.partition(f"{SUFFIX}#")
    if mark and member and not Path(text).is_file():
        return Path(archive + SUFFIX).expanduser(), member
    return (Path(text).expanduser(), None) if text.lower().endswith(SUFFIX) else None


def unpack_table(archive_path: Path, member: str | None, name: str, max_bytes: float | None = None) -> PlacedFile:
    """Copy the named member, or the only table of an archive, to a private file; ``name`` is the archive's in messages."""
    if not archive_path.is_file():
        raise SourceError(f"{name}: there is no such file")
    try:
        with zipfile.ZipFile(archive_path) as archive:
            entry = _choose_member(archive, member, name)
            folder = StagingFolder()
            path = folder.path / f"table{_suffix_of(entry.filename)}"
            _copy_bounded(archive, entry, path, name, MAX_EXPANDED_BYTES if max_bytes is None else max_bytes)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeError):
        raise SourceError(f"{name}: is damaged, encrypted or packed in a way that cannot be read as a zip archive") from None
    except OSError as error:
        raise SourceError(f"{name}: cannot be read: {error.strerror or error}") from None
    return PlacedFile(path, f"{name}#{_printable(entry.filename)}", folder)


def _choose_member(archive: zipfile.ZipFile, member: str | None, name: str) -> zipfile.ZipInfo:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if member is not None:
        match = [entry for entry in entries if entry.filename == member]
        if not match:
            known = [_printable(entry.filename) for entry in entries]
            raise SourceError(f"{name}: has no member '{member}'; {nearest(member, known)}")
        chosen = match[-1]  # the last entry of a name is the valid one
    else:
        tables = list({entry.filename: entry for entry in entries if _is_table(entry.filename)}.values())
        if not tables:
            raise SourceError(f"{name}: contains no file of a known format")
        if len(tables) > 1:
            listed = ", ".join(_printable(entry.filename) for entry in tables[:_MOST_LISTED])
            more = f" and {len(tables) - _MOST_LISTED:,} more" if len(tables) > _MOST_LISTED else ""
            example = f"{name}#{_printable(tables[0].filename)}"
            raise SourceError(f"{name}: contains {len(tables):,} tables ({listed}{more}); name one, such as {example}")
        chosen = tables[0]
    if chosen.flag_bits & _ENCRYPTED:
        raise SourceError(f"{name}: '{_printable(chosen.filename)}' is encrypted; unpack it first")
    return chosen


def _is_table(filename: str) -> bool:
    path = PurePosixPath(filename)
    hidden = any(part.startswith((".", "__MACOSX")) for part in path.parts)
    try:
        format_of(Path(path.name))
    except DiscreetError:
        return False
    return not hidden


def _suffix_of(filename: str) -> str:
    """The suffix of a known format that a member ends with; nothing else of its name is used."""
    lowered = filename.lower()
    matching = [suffix for suffix in FORMATS if lowered.endswith(suffix)]
    if not matching:
        format_of(Path(PurePosixPath(filename).name))  # raises with the formats that are known
    return max(matching, key=len)


def _copy_bounded(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, name: str, limit: float) -> None:
    size = 0
    with archive.open(entry) as packed, path.open("wb") as file:
        while chunk := packed.read(_CHUNK):
            size += len(chunk)
            if size > limit:
                raise DataError(
                    f"{name}: '{_printable(entry.filename)}' expands to more than {format_size(limit)}, the most allowed: "
                    "split the file or leave columns out"
                )
            file.write(chunk)


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)[:200]
