"""A page as PDF, printed by Chromium where it is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from discreet.errors import DiscreetError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
"""The browser makes no requests of its own, and does not use the profile of the user."""


def find_chromium() -> str | None:
    """The path of the Chromium of this machine; None where there is none."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def print_pdf(page: str) -> bytes:
    """Print a page to PDF."""
    browser = find_chromium()
    if browser is None:
        raise DiscreetError(
            "a PDF needs Chromium on this machine (Debian: apt-get install chromium); or print the HTML file from any browser"
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
