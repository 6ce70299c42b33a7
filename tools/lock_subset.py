"""The part of requirements.lock that some extras need, with its hashes, for an installation without development tools.

    python tools/lock_subset.py wanted web databases > wanted.txt
    pip install --dry-run --ignore-installed --report report.json -c constraints.txt -r wanted.txt
    python tools/lock_subset.py locked report.json > runtime.lock
    pip install --require-hashes -r runtime.lock

pip decides which packages the extras need on this platform; the versions and hashes are those of the lock.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_OWN_EXTRAS = re.compile(r"discreet\[([^\]]*)\]")


class LockError(Exception):
    """The lock and what is wanted do not fit."""


def list_requirements(extras: Iterable[str], project: dict[str, Any]) -> Iterator[str]:
    """The requirements of the base and of some extras, with those of the extras that they name."""
    optional: dict[str, list[str]] = project["optional-dependencies"]
    waiting, seen = list(extras), set[str]()
    yield from project["dependencies"]
    while waiting:
        extra = waiting.pop()
        if extra not in optional:
            raise LockError(f"pyproject.toml has no extra '{extra}'; it has {', '.join(sorted(optional))}")
        if extra in seen:
            continue
        seen.add(extra)
        for line in optional[extra]:
            if own := _OWN_EXTRAS.match(line):
                waiting += [name.strip() for name in own[1].split(",")]
            else:
                yield line


def select_entries(report: dict[str, Any], lock: str) -> list[str]:
    """The entries of the lock, with their hashes, of the packages that pip's report would install."""
    entries = {
        normalize(entry.partition("==")[0]): entry for entry in re.findall(r"(?m)^[A-Za-z0-9][^\n]*(?:\n[ \t]+[^\n]*)*", lock)
    }
    names = sorted(normalize(item["metadata"]["name"]) for item in report["install"])
    if missing := [name for name in names if name not in entries]:
        raise LockError(f"requirements.lock has no {', '.join(missing)}; make it anew with tools/supply.py lock")
    return [entries[name] for name in names]


def normalize(name: str) -> str:
    """A package's name as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def main(arguments: Sequence[str]) -> int:
    """Print the requirements of extras, or the part of the lock."""
    try:
        match arguments:
            case ["wanted", *extras]:
                project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
                lines = [*list_requirements(extras, project), "setuptools>=77"]  # which builds discreet itself
            case ["locked", report]:
                lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
                lines = select_entries(json.loads(Path(report).read_text(encoding="utf-8")), lock)
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    except LockError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
