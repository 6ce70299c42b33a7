"""A page as PDF, printed by a Chromium where one is present."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from discreet.errors import DiscreetError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
"""Nothing of the browser's own goes out, and nothing of the user's profile comes in."""


def chromium() -> str | None:
    """The browser of this machine, or None."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def pdf(page: str) -> bytes:
    """A page printed to PDF."""
    browser = chromium()
    if browser is None:
        raise DiscreetError(
            "a PDF needs Chromium on this machine (Debian: apt-get install chromium); the HTML file prints as well"
        )
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_text(page, encoding="utf-8")
        command = [
            browser,
            *FLAGS,
            f"--user-data-dir={folder}/profile",
            "--no-pdf-header-footer",
            f"--print-to-pdf={target}",
            source.as_uri(),
        ]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=120)  # noqa: S603 - our own page, no shell
        except (subprocess.SubprocessError, OSError) as error:
            raise DiscreetError(f"{browser} did not print the report: {type(error).__name__}") from None
        if not target.is_file():
            raise DiscreetError(f"{browser} did not print the report")
        return target.read_bytes()
