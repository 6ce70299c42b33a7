"""How much memory a job may have: what is free, within the limits that the machine's owner set.

``DISCREET_MEMORY`` (such as ``8GB``) says it outright. Without it, it is what this process holds and what is free, or less where
a control group (a container, a batch job) or the process's own limit allows less.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from discreet.errors import MemoryLimitError

VARIABLE = "DISCREET_MEMORY"
PROGRAM = 350e6
"""About what the program holds itself: the libraries and the compiled kernels."""
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_UNLIMITED = 1 << 60
_GROUPS = Path("/sys/fs/cgroup")


def available_memory() -> int:
    """The bytes that this process may hold in all.

    >>> os.environ["DISCREET_MEMORY"] = "1.5 GB"
    >>> available_memory()
    1500000000
    >>> del os.environ["DISCREET_MEMORY"]
    """
    if asked := os.environ.get(VARIABLE, "").strip():
        return parse_size(asked)
    resident = _kilobytes(Path("/proc/self/status"), "VmRSS") or 0
    available = _kilobytes(Path("/proc/meminfo"), "MemAvailable")
    if available is None:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(available + resident, *(free + resident for free in _group_rooms()), _own_limit())


def parse_size(text: str) -> int:
    """A size in words of people, in bytes; raises MemoryLimitError where it is none."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?i?)b?", text.lower())
    if found is None or found[2] not in _UNITS or not float(found[1]):
        raise MemoryLimitError(f"{VARIABLE} must be a size such as 8GB or 500MB; got '{text}'")
    return int(float(found[1]) * _UNITS[found[2]])


def format_size(size: float) -> str:
    """A size in words of people.

    >>> format_size(5_120_000_000), format_size(341e6), format_size(23e9)
    ('5.1 GB', '341 MB', '23 GB')
    """
    if size >= 1e9:
        return f"{size / 1e9:.1f} GB" if size < 1e10 else f"{size / 1e9:,.0f} GB"
    return f"{max(1, round(size / 1e6))} MB"


def check_memory(need: float, what: str, advice: str) -> str:
    """What a job needs and has, in a sentence; raises MemoryLimitError where that is too little."""
    free = available_memory()
    message = f"{what} needs about {format_size(need)} of memory; {format_size(free)} are free"
    if need > free:
        raise MemoryLimitError(f"{message}, so it was not begun; {advice}, or raise {VARIABLE} where you know better")
    return message


def _kilobytes(path: Path, field: str) -> int | None:
    """A field of a table of kilobytes in /proc, in bytes."""
    try:
        lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    value = next((line.split(":", 1)[1].split()[0] for line in lines if line.startswith(f"{field}:")), None)
    return None if value is None else int(value) * 1024


def _group_rooms(groups: Path = _GROUPS, own: Path = Path("/proc/self/cgroup")) -> Iterator[int]:
    """What is left in each control group that holds this process, of version 1 and 2."""
    try:
        lines = own.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        first = "memory" in controllers.split(",")
        if not first and controllers:
            continue
        base = groups / "memory" if first else groups
        limit, usage = ("memory.limit_in_bytes", "memory.usage_in_bytes") if first else ("memory.max", "memory.current")
        parts = Path(path.lstrip("/")).parts
        for depth in range(len(parts) + 1):
            folder = base.joinpath(*parts[:depth])
            most, held = _number(folder / limit), _number(folder / usage)
            if most is not None and held is not None and most < _UNLIMITED:
                yield max(0, most - held + _reclaimable(folder / "memory.stat"))


def _number(path: Path) -> int | None:
    try:
        text = path.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _reclaimable(path: Path) -> int:
    """Pages of files that the kernel gives up when memory is asked for."""
    try:
        fields = dict(line.split(" ", 1) for line in path.read_text(encoding="ascii").splitlines() if " " in line)
    except OSError:
        return 0
    return int(fields.get("total_inactive_file", fields.get("inactive_file", "0")))


def _own_limit() -> int:
    """The process's limit of address space."""
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return _UNLIMITED if soft == resource.RLIM_INFINITY else soft
