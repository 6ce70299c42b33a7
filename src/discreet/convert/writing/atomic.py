"""Atomic writing of files.

The new content is written to a temporary file in the target's folder, flushed to disk, and moved into place by one atomic
rename. A process that is killed leaves the old file or the new one, never a partial one; after an exception (a full disk,
Ctrl-C) no temporary file remains. A temporary file of a killed process (``.name.….part.suffix``) is recognised by its lock,
which the operating system has released, and is removed when the same target is written next.
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

from discreet.convert.errors import convert_errors, summarize_exception
from discreet.engine.runtime.private_files import FILE_MODE, home_folder
from discreet.errors import SourceError

_MAX_REMOVALS = 200


@contextmanager
def replacing(target: str | Path, *, private: bool = False, overwrite: bool = True) -> Iterator[Path]:
    """Yield a temporary path; what is written there replaces ``target`` when the block ends without an exception.

    A ``private`` file is readable only by its owner, whatever the permissions of the old file were. Without ``overwrite`` an
    existing target is an error, also one that another program creates while the block runs.
    """
    path = resolve_target(target)
    if not overwrite and path.exists():
        raise target_exists_error(target)
    remove_abandoned(path)
    # the suffix stays last, because some libraries choose the format by it
    temporary = path.with_name(f".{path.stem[:100]}.{secrets.token_hex(8)}.part{path.suffix}")
    descriptor = None
    try:
        with convert_errors(
            str(target), "cannot be written", describe=lambda error: _describe_with_target(error, temporary, target)
        ):
            # created first with mode 0600, so that nobody else can read partial content
            descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            _try_lock(descriptor)
            yield temporary
            completed = work_folder(temporary) / temporary.name
            content = completed if completed.exists() else temporary
            mode = FILE_MODE if private else _target_mode(path)
            try:
                _move_into_place(content, path, mode, overwrite=overwrite)
            except FileExistsError:
                raise SourceError(f"{target}: another program wrote it first; add --overwrite to replace it") from None
    finally:
        if descriptor is not None:
            os.close(descriptor)
            remove_temporary(temporary)


def remove_abandoned(path: Path) -> None:
    """Remove temporary files that killed processes left; those of running processes are locked and stay."""
    name = re.compile(rf"\.{re.escape(path.stem[:100])}\.[0-9a-f]{{16}}\.part{re.escape(path.suffix)}")
    with suppress(OSError):
        for abandoned in [entry for entry in path.parent.iterdir() if name.fullmatch(entry.name)]:
            with suppress(OSError):
                descriptor = os.open(abandoned, os.O_RDONLY)
                try:
                    if _try_lock(descriptor):
                        remove_temporary(abandoned)
                finally:
                    os.close(descriptor)


def work_folder(temporary: Path) -> Path:
    """The folder for a library's own temporary files; it is removed together with the temporary file."""
    return temporary.with_name(temporary.name + ".work")


@contextmanager
def in_work_folder(temporary: Path) -> Iterator[Path]:
    """Yield a path in the work folder, for a library that writes with its own threads; what is written there is the content.

    If one of the threads fails, another may still open its file again after it was removed; without its folder it cannot.
    """
    folder = work_folder(temporary)
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{secrets.token_hex(4)}{temporary.suffix}"
    yield path
    path.replace(folder / temporary.name)


def remove_temporary(temporary: Path) -> None:
    """Remove a temporary file, its work folder, and the journals of SQLite and DuckDB."""
    folder = work_folder(temporary)
    for _ in range(_MAX_REMOVALS):  # a thread may add a file while the folder is being emptied
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(0.01)
    for suffix in ("-journal", ".wal", ""):  # of SQLite and DuckDB
        with suppress(FileNotFoundError):
            temporary.with_name(temporary.name + suffix).unlink()


def _describe_with_target(error: BaseException, temporary: Path, target: str | Path) -> str:
    """The message of an exception, with the name of the temporary file replaced by that of the target."""
    work_file = rf"{re.escape(str(work_folder(temporary)))}/[^\s/:'\"]+"
    return re.sub(work_file, lambda _: str(target), summarize_exception(error)).replace(str(temporary), str(target))


def _try_lock(descriptor: int) -> bool:
    """Lock an open file until it is closed; False if another process has locked it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def write_text(target: str | Path, text: str, *, private: bool = False, overwrite: bool = True) -> None:
    """Write a small text file (UTF-8) atomically; see :func:`replacing`."""
    write_bytes(target, text.encode(), private=private, overwrite=overwrite)


def write_bytes(target: str | Path, content: bytes, *, private: bool = False, overwrite: bool = True) -> None:
    """Write a small file atomically; see :func:`replacing`."""
    with replacing(target, private=private, overwrite=overwrite) as temporary:
        temporary.write_bytes(content)


def resolve_target(target: str | Path) -> Path:
    """The path of a target after resolving links; raises SourceError if no file can be written there."""
    with convert_errors(str(target), "cannot be written"):
        path = Path(os.path.realpath(Path(target).expanduser()))
        if path.is_dir():
            raise SourceError(f"{target}: is a folder; name a file in it")
        if path.exists() and not path.is_file():
            raise SourceError(f"{target}: is not a regular file, so it cannot be replaced")
        if not path.parent.is_dir():
            raise SourceError(f"{target}: the folder {path.parent} does not exist")
    refuse_key_ring(target)
    return path


def refuse_key_ring(target: str | Path) -> None:
    """Raise SourceError if a target is in the folder of the key ring, whose files are never to be replaced by anything else."""
    try:
        folder = os.path.realpath(home_folder() / "keys")
    except RuntimeError:  # there is no home folder, so there is no ring
        return
    if Path(os.path.realpath(Path(target).expanduser())).is_relative_to(folder):
        raise SourceError(f"{target}: is in the folder of the key ring; name another target")


def target_exists_error(target: str | Path) -> SourceError:
    """The error that a target exists and may not be replaced."""
    return SourceError(f"{target} exists; add --overwrite to replace it")


def _move_into_place(temporary: Path, target: Path, mode: int, *, overwrite: bool = True) -> None:
    """Flush the content to disk, set its permissions, and move it to the target."""
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.chmod(mode)
    if not overwrite:
        _claim_name(temporary, target)
    temporary.replace(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _claim_name(temporary: Path, target: Path) -> None:
    """Create the target, or raise FileExistsError; of two concurrent writers exactly one succeeds."""
    try:
        os.link(temporary, target)  # atomic, with the complete content
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: an empty file reserves the name for a moment
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))


def _target_mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those that the umask gives a new one."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
