"""Files and folders that only their owner can read, whatever the umask: originals, links, keys, policies with seeds.

Files and folders created here are private from the first moment. They are never created with default permissions and tightened
afterwards, because another account could open them in between and keep reading.
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
    """A folder that only its owner can read: created with its missing parents, or tightened where it exists."""
    path = Path(folder)
    for missing in reversed([folder_path for folder_path in (path, *path.parents) if not folder_path.exists()]):
        try:
            missing.mkdir(mode=FOLDER_MODE, exist_ok=True)
        except OSError as error:
            raise SourceError(f"{missing}: the folder cannot be created: {error.strerror}") from None
    if not path.is_dir():
        raise SourceError(f"{path}: is a file, not a folder; name another path")
    if path.stat().st_mode & stat.S_ISVTX:  # such as /tmp, which belongs to everybody
        raise SourceError(f"{path}: everybody shares this folder, so it cannot be made private; name a folder of its own")
    make_private(path)
    return path


def create_private_file(path: str | Path) -> Path:
    """An empty file that only its owner can read, or the existing one tightened; for libraries that open a file by name."""
    file = Path(path)
    try:
        os.close(os.open(file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, FILE_MODE))
    except OSError as error:
        raise SourceError(f"{file}: cannot be written: {error.strerror}") from None
    make_private(file)
    return file


def make_private(path: Path) -> None:
    """Remove the permissions of group and others; raises SourceError where this process may not change them."""
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode) or not status.st_mode & _OTHERS:
            return
        path.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS)
    except FileNotFoundError:
        return  # a temporary file of a running process has gone
    except OSError as error:
        raise SourceError(
            f"{path}: other accounts can read it, and its permissions cannot be changed ({error.strerror}); "
            "its owner must run chmod go-rwx on it, or name another path"
        ) from None


def make_tree_private(folder: Path) -> None:
    """Remove the permissions of group and others from a folder and everything in it; symbolic links are not followed."""
    for path in _tree(folder):
        make_private(path)


def _tree(folder: Path) -> Iterator[Path]:
    if not folder.exists() and not folder.is_symlink():
        return
    yield folder
    if folder.is_dir() and not folder.is_symlink():
        for inside, folders, files in os.walk(folder):
            yield from (Path(inside) / name for name in (*folders, *files))
