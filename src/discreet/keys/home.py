"""Where discreet keeps what belongs to its user: DISCREET_HOME, or the folder .discreet in the user's own."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "DISCREET_HOME"


def home_folder(home: str | Path | None = None) -> Path:
    """The folder named, else DISCREET_HOME, else ``~/.discreet``; it need not exist yet."""
    return Path(home or os.environ.get(VARIABLE) or Path.home() / ".discreet").expanduser().resolve()
