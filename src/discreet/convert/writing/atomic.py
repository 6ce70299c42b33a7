"""Files that are written whole or not at all.

The new content goes into a temporary file in the target's own folder, is forced to the disk, and is then moved into
place in one step of the file system. A run that is killed leaves the old file or the new one, never half of one;
an exception (a full disk, Ctrl-C) leaves no temporary file behind. What a killed run left beside a target
(``.name.….part.suffix``) is known to be nobody's by its lock, which the system takes from the dead, and goes when the
same target is written next.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from discreet.convert.errors import convert_errors, first_line
from discreet.engine.runtime.private_files import FILE_MODE
from discreet.errors import SourceError

_TRIES = 200


@contextmanager
def replacing(target: str | Path, *, private: bool = False, overwrite: bool = True) -> Iterator[Path]:
    """A path to write to in place of ``target``; what was written there takes its place when the block ends well.

    A ``private`` file can be read by its owner alone, whoever could read the file before. Without ``overwrite`` an existing
    target is refused, also one that another program created while the block ran.
    """
    place = checked(target)
    if not overwrite and place.exists():
        raise exists_already(target)
    sweep(place)
    # the suffix stays last: some libraries look at it
    temporary = place.with_name(f".{place.stem[:100]}.{secrets.token_hex(8)}.part{place.suffix}")
    held = None
    try:
        with convert_errors(str(target), "cannot be written", words=lambda error: _of_target(error, temporary, target)):
            # made first, and by its owner alone: what is half written is nobody else's to read
            held = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            _lock(held)
            yield temporary
            whole = beside(temporary) / temporary.name
            content = whole if whole.exists() else temporary
            mode = FILE_MODE if private else _mode(place)
            try:
                _settle(content, place, mode, overwrite=overwrite)
            except FileExistsError:
                raise SourceError(f"{target}: another program wrote it first; add --overwrite to replace it") from None
    finally:
        if held is not None:
            os.close(held)
            remove(temporary)


def sweep(place: Path) -> None:
    """Remove what killed runs left beside a target; what a living run is writing there stays."""
    name = re.compile(rf"\.{re.escape(place.stem[:100])}\.[0-9a-f]{{16}}\.part{re.escape(place.suffix)}")
    with suppress(OSError):
        for left in [entry for entry in place.parent.iterdir() if name.fullmatch(entry.name)]:
            with suppress(OSError):
                probe = os.open(left, os.O_RDONLY)
                try:
                    if _lock(probe):
                        remove(left)
                finally:
                    os.close(probe)


def beside(temporary: Path) -> Path:
    """A folder for a library's own temporary files, which goes with the temporary file itself."""
    return temporary.with_name(temporary.name + ".work")


@contextmanager
def apart(temporary: Path) -> Iterator[Path]:
    """A path for a library that writes by threads of its own; what was written there is the content when the block ends well.

    A thread that is still at work when another has failed opens its file once more, after it was removed: it finds no folder.
    """
    work = beside(temporary)
    work.mkdir(mode=0o700, exist_ok=True)
    made = work / f"{secrets.token_hex(4)}{temporary.suffix}"
    yield made
    made.replace(work / temporary.name)


def remove(temporary: Path) -> None:
    """Remove a temporary file and all that belongs to it."""
    work = beside(temporary)
    for _ in range(_TRIES):  # somebody may put a file into it while it is being emptied
        shutil.rmtree(work, ignore_errors=True)
        if not work.exists():
            break
        time.sleep(0.01)
    for suffix in ("-journal", ".wal", ""):  # of SQLite and DuckDB
        with suppress(FileNotFoundError):
            temporary.with_name(temporary.name + suffix).unlink()


def _of_target(error: BaseException, temporary: Path, target: str | Path) -> str:
    """What an exception says, with the target's name in the place of the temporary file's."""
    inner = rf"{re.escape(str(beside(temporary)))}/[^\s/:'\"]+"
    return re.sub(inner, lambda _: str(target), first_line(error)).replace(str(temporary), str(target))


def _lock(file: int) -> bool:
    """Lock an open file for as long as this process has it open; False where another has."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def write_text(target: str | Path, text: str, *, private: bool = False, overwrite: bool = True) -> None:
    """Write a small text file (UTF-8) whole or not at all; see :func:`replacing`."""
    write_bytes(target, text.encode(), private=private, overwrite=overwrite)


def write_bytes(target: str | Path, content: bytes, *, private: bool = False, overwrite: bool = True) -> None:
    """Write a small file whole or not at all; see :func:`replacing`."""
    with replacing(target, private=private, overwrite=overwrite) as temporary:
        temporary.write_bytes(content)


def checked(target: str | Path) -> Path:
    """The place of a target, links followed; raises where no file can be put there."""
    with convert_errors(str(target), "cannot be written"):
        place = Path(os.path.realpath(Path(target).expanduser()))
        if place.is_dir():
            raise SourceError(f"{target}: is a folder; name a file in it")
        if place.exists() and not place.is_file():
            raise SourceError(f"{target}: is not a regular file, so nothing can be moved into its place")
        if not place.parent.is_dir():
            raise SourceError(f"{target}: the folder {place.parent} does not exist")
    return place


def exists_already(target: str | Path) -> SourceError:
    """The refusal to replace what is there."""
    return SourceError(f"{target} exists; add --overwrite to replace it")


def _settle(temporary: Path, place: Path, mode: int, *, overwrite: bool = True) -> None:
    """Force the content to the disk, give it its rights, and move it into place."""
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.chmod(mode)
    if not overwrite:
        _reserve(temporary, place)
    temporary.replace(place)
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _reserve(temporary: Path, place: Path) -> None:
    """Take a name that is free, or raise FileExistsError: of two writers one wins, and the other knows."""
    try:
        os.link(temporary, place)  # the content is there at once, whole
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: an empty file holds the place for a moment
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))


def _mode(place: Path) -> int:
    """The rights of the file that is replaced, or those that the user's mask gives a new one."""
    if place.exists():
        return stat.S_IMODE(place.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
