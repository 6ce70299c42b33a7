"""Ballast: a file that is given up when the disk is full, so that people can still log in and delete something."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

FILE = ".ballast"
SIZE = 16 << 20


class Ballast:
    """The ballast of a data directory."""

    def __init__(self, home: Path) -> None:
        self.path = home / FILE

    def keep(self) -> None:
        """Create it where there is room for many times its size."""
        with suppress(OSError):
            if self.path.exists() or shutil.disk_usage(self.path.parent).free < 20 * SIZE:
                return
            descriptor = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            try:
                os.posix_fallocate(descriptor, 0, SIZE)
            finally:
                os.close(descriptor)

    def release(self) -> bool:
        """Give its space back; whether there was any."""
        try:
            self.path.unlink()
        except OSError:
            return False
        return True
