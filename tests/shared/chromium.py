"""The Chromium of this machine."""

from __future__ import annotations

import shutil

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    """The path of the Chromium of this machine; None where there is none."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)
