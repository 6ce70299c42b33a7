"""Small files that their owner alone can read, written whole or not at all, whatever the umask."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path


def private_folder(home: Path, *folders: Path) -> None:
    """Make folders of 0700; the home above them is left as it is where it exists."""
    if not home.exists():
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        home.chmod(0o700)
    for folder in folders:
        folder.mkdir(mode=0o700, exist_ok=True)
        if stat.S_IMODE(folder.stat().st_mode) != 0o700:
            folder.chmod(0o700)


def write_private(place: Path, text: str) -> None:
    """Write a text file of 0600 by way of a temporary file beside it."""
    temporary = place.with_name(f".{place.name}.{secrets.token_hex(8)}.part")
    try:
        held = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(held, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(place)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
