"""Files and folders that only their owner can read, whatever the umask: originals, links, keys, policies with seeds.

What is made here is private from the first moment. It is never made with the usual rights and tightened afterwards,
because another account could open it in between and keep reading.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from discreet.errors import SourceError

FILE_MODE = 0o600
FOLDER_MODE = 0o700
_OTHERS = 0o077


def home_folder() -> Path:
    """The data directory DISCREET_HOME, else ``~/.discreet``; it is not created here."""
    return Path(os.environ.get("DISCREET_HOME") or Path.home() / ".discreet").expanduser().resolve()


def create_private_folder(folder: str | Path) -> Path:
    """A folder of its owner alone: created with its missing parents, or tightened where it exists and others can read it."""
    path = Path(folder)
    for missing in reversed([one for one in (path, *path.parents) if not one.exists()]):
        try:
            missing.mkdir(mode=FOLDER_MODE, exist_ok=True)
        except OSError as error:
            raise SourceError(f"{missing}: the folder cannot be created: {error.strerror}") from None
    if not path.is_dir():
        raise SourceError(f"{path}: is a file, not a folder; name another place")
    if path.stat().st_mode & stat.S_ISVTX:  # such as /tmp, which belongs to everybody
        raise SourceError(f"{path}: everybody shares this folder, so it cannot be made private; name a folder of its own")
    make_private(path)
    return path


def create_private_file(path: str | Path) -> Path:
    """An empty file of its owner alone, or the existing one tightened; for libraries that open a file by its name."""
    place = Path(path)
    try:
        os.close(os.open(place, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, FILE_MODE))
    except OSError as error:
        raise SourceError(f"{place}: cannot be written: {error.strerror}") from None
    make_private(place)
    return place


def make_private(path: Path) -> None:
    """Take the rights of group and others from a file or folder; raises where that is not ours to do."""
    try:
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode) or not found.st_mode & _OTHERS:
            return
        path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)
    except FileNotFoundError:
        return  # a temporary file of a running process has gone
    except OSError as error:
        raise SourceError(
            f"{path}: other accounts can read it, and its rights cannot be changed ({error.strerror}); "
            "its owner must run chmod go-rwx on it, or name another place"
        ) from None


def make_tree_private(folder: Path) -> None:
    """Take the rights of group and others from a folder and all in it; links are not followed."""
    for path in _tree(folder):
        make_private(path)


def _tree(folder: Path) -> Iterator[Path]:
    if not folder.exists() and not folder.is_symlink():
        return
    yield folder
    if folder.is_dir() and not folder.is_symlink():
        for inside, folders, files in os.walk(folder):
            yield from (Path(inside) / name for name in (*folders, *files))
