"""Small files that only their owner can read, written atomically, whatever the umask."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path


def private_folder(home: Path, *folders: Path) -> None:
    """Create folders with mode 0700; a home folder above them that exists was made private when the ring was opened."""
    if not home.exists():
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        home.chmod(0o700)
    for folder in folders:
        folder.mkdir(mode=0o700, exist_ok=True)
        if stat.S_IMODE(folder.stat().st_mode) != 0o700:
            folder.chmod(0o700)


def write_private(path: Path, text: str) -> None:
    """Write a text file with mode 0600, through a temporary file in the same folder."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
