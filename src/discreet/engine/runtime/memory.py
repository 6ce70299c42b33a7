"""How much memory a job may use: what is free, within the limits of the machine.

``DISCREET_MEMORY`` (such as ``8GB``) sets it; default: what this process holds plus what is free, or less where a control group
(a container, a batch job) or the process's own limit allows less.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from discreet.errors import MemoryLimitError

VARIABLE = "DISCREET_MEMORY"
PROGRAM = 350e6
"""Approximate memory of the program itself: the libraries and the compiled kernels."""
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_UNLIMITED = 1 << 60
_GROUPS = Path("/sys/fs/cgroup")


def available_memory() -> int:
    """The total number of bytes that this process may hold.

    >>> os.environ["DISCREET_MEMORY"] = "1.5 GB"
    >>> available_memory()
    1500000000
    >>> del os.environ["DISCREET_MEMORY"]
    """
    if setting := os.environ.get(VARIABLE, "").strip():
        return parse_size(setting)
    resident = resident_memory()
    available = _read_kilobytes(Path("/proc/meminfo"), "MemAvailable")
    if available is None:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(available + resident, *(free + resident for free in _free_in_control_groups()), _address_space_limit())


def resident_memory() -> int:
    """The number of bytes that this process holds in memory; 0 where the system does not say."""
    return _read_kilobytes(Path("/proc/self/status"), "VmRSS") or 0


def parse_size(text: str, name: str = VARIABLE) -> int:
    """The bytes of a size such as ``8GB``; raises MemoryLimitError, which names the setting, where the text is not a size."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?i?)b?", text.lower())
    if match is None or match[2] not in _UNITS or not float(match[1]):
        raise MemoryLimitError(f"{name} must be a size such as 8GB or 500MB; got '{text}'")
    return int(float(match[1]) * _UNITS[match[2]])


def format_size(size: float) -> str:
    """A size with its unit.

    >>> format_size(5_120_000_000), format_size(341e6), format_size(23e9)
    ('5.1 GB', '341 MB', '23 GB')
    """
    if size >= 1e9:
        return f"{size / 1e9:.1f} GB" if size < 1e10 else f"{size / 1e9:,.0f} GB"
    return f"{max(1, round(size / 1e6))} MB"


def check_memory(need: float, what: str, advice: str) -> str:
    """A sentence with the memory that a job needs and that is free; raises MemoryLimitError where it needs more than is free."""
    free = available_memory()
    message = f"{what} needs about {format_size(need)} of memory; {format_size(free)} are free"
    if need > free:
        raise MemoryLimitError(f"{message}, so it was not started; {advice}, or set {VARIABLE} to a larger size")
    return message


def _read_kilobytes(path: Path, field: str) -> int | None:
    """A field of a file in /proc that lists kilobytes, in bytes."""
    try:
        lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    value = next((line.split(":", 1)[1].split()[0] for line in lines if line.startswith(f"{field}:")), None)
    return None if value is None else int(value) * 1024


def _free_in_control_groups(groups: Path = _GROUPS, own: Path = Path("/proc/self/cgroup")) -> Iterator[int]:
    """The free memory in each control group of this process, for cgroups of version 1 and 2."""
    try:
        lines = own.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        is_version_1 = "memory" in controllers.split(",")
        if not is_version_1 and controllers:
            continue
        base = groups / "memory" if is_version_1 else groups
        limit, usage = ("memory.limit_in_bytes", "memory.usage_in_bytes") if is_version_1 else ("memory.max", "memory.current")
        parts = Path(path.lstrip("/")).parts
        for depth in range(len(parts) + 1):
            folder = base.joinpath(*parts[:depth])
            limit_bytes, used_bytes = _read_number(folder / limit), _read_number(folder / usage)
            if limit_bytes is not None and used_bytes is not None and limit_bytes < _UNLIMITED:
                yield max(0, limit_bytes - used_bytes + _reclaimable(folder / "memory.stat"))


def _read_number(path: Path) -> int | None:
    try:
        text = path.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _reclaimable(path: Path) -> int:
    """Bytes of the page cache that the kernel frees when memory is needed."""
    try:
        fields = dict(line.split(" ", 1) for line in path.read_text(encoding="ascii").splitlines() if " " in line)
    except OSError:
        return 0
    return int(fields.get("total_inactive_file", fields.get("inactive_file", "0")))


def _address_space_limit() -> int:
    """The process's limit on its address space."""
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return _UNLIMITED if soft == resource.RLIM_INFINITY else soft
