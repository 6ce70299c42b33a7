"""The version of the installed distribution."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    """The version that the installation records; "0+unknown" if the package is run without being installed."""
    try:
        return version("discreet")
    except PackageNotFoundError:
        return "0+unknown"


VERSION = installed_version()
