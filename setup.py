"""The version of a build, from the git tag; everything else is in pyproject.toml.

A tag ``v1.2.3`` is the version 1.2.3, and the seventh commit after it is 1.2.4.dev7. Without a tag or without git the version is
NEXT, and a source distribution carries its version in PKG-INFO.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent
NEXT = "0.1.0"
"""The version that the next tag is expected to have."""


def read_version(root: Path = ROOT) -> str:
    """The version of a source tree."""
    information = root / "PKG-INFO"
    if information.is_file():
        found = re.search(r"^Version: (\S+)$", information.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return found[1]
    return version_of_description(describe_commit(root))


def describe_commit(root: Path) -> str:
    """What ``git describe`` prints for the tree; empty without git, a repository of its own, or a tag."""
    if not (root / ".git").exists():
        return ""
    call = ["git", "-C", str(root), "describe", "--tags", "--long", "--match", "v[0-9]*"]
    try:
        return subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def version_of_description(description: str) -> str:
    """The version for a description such as ``v1.2.3-7-g0a1b2c3``."""
    parts = re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)-(\d+)-g[0-9a-f]+", description)
    if parts is None:
        return NEXT
    major, minor, patch, commits = map(int, parts.groups())
    return f"{major}.{minor}.{patch}" if commits == 0 else f"{major}.{minor}.{patch + 1}.dev{commits}"


if __name__ == "__main__":
    setup(version=read_version())
