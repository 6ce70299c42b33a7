"""Counters and histograms of one server in the text format of Prometheus, summed over its worker processes.

Each process counts in memory and writes its counts to a file of its own in the data directory; whichever process is asked for the
metrics adds the files of all that are alive. No label holds anything of the data, or the name of a person or project.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from discreet.engine.runtime.private_files import create_private_folder

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the histogram of request durations, in seconds."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
Labels = tuple[tuple[str, str], ...]
Counts = dict[tuple[str, Labels], float]


@dataclass(frozen=True)
class Family:
    """A metric: its name, its type in Prometheus, and what it means."""

    name: str
    kind: str
    meaning: str


REQUESTS = Family("discreet_requests_total", "counter", "Requests by method, route and status.")
SECONDS = Family("discreet_request_seconds", "histogram", "Seconds until the response of a request began, by route.")
FAILED_LOGINS = Family(
    "discreet_logins_failed_total", "counter", "Failed logins by way: password, second factor, single sign-on."
)
DATABASE_ERRORS = Family("discreet_database_errors_total", "counter", "Errors of the server's own database by kind.")
COUNTED = (REQUESTS, SECONDS, FAILED_LOGINS, DATABASE_ERRORS)


@dataclass(frozen=True)
class Sample:
    """One value of a metric."""

    family: Family
    value: float
    labels: Labels = ()


class Metrics:
    """The counts of this process, and on request those of all processes of the server."""

    def __init__(self, home: Path | None = None) -> None:
        self._counts: Counts = {}
        self._lock = threading.Lock()
        self._folder = None if home is None else create_private_folder(home / "metrics")
        self._written: Counts = {}

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        known_method = method if method in METHODS else "other"
        by_route = (("route", route),)
        with self._lock:
            self._add(REQUESTS.name, (("method", known_method), *by_route, ("status", str(status))))
            bucket = bisect_left(BOUNDS, seconds)
            bound = format_number(BOUNDS[bucket]) if bucket < len(BOUNDS) else "+Inf"
            self._add(f"{SECONDS.name}_bucket", (*by_route, ("le", bound)))
            self._add(f"{SECONDS.name}_sum", by_route, seconds)

    def count_failed_login(self, way: str) -> None:
        """Count a failed login."""
        with self._lock:
            self._add(FAILED_LOGINS.name, (("way", way),))

    def count_database_error(self, kind: str) -> None:
        """Count an error of the database."""
        with self._lock:
            self._add(DATABASE_ERRORS.name, (("kind", kind),))

    def write_counts(self) -> None:
        """Write the counts of this process for the others, if they have changed; a full disk does not matter here."""
        if self._folder is None:
            return
        with self._lock:
            counts = dict(self._counts)
        if counts == self._written:
            return
        content = json.dumps([[name, labels, value] for (name, labels), value in counts.items()])
        target, unfinished = self._folder / f"{os.getpid()}.json", self._folder / f"{os.getpid()}.tmp"
        with contextlib.suppress(OSError):
            unfinished.write_text(content, encoding="utf-8")
            os.replace(unfinished, target)
            self._written = counts

    def close(self) -> None:
        """Remove the file of this process."""
        if self._folder is not None:
            (self._folder / f"{os.getpid()}.json").unlink(missing_ok=True)

    def format_all(self, gauges: Iterable[Sample]) -> str:
        """All metrics of the server as text: the counts of its processes, and values that were just read."""
        with self._lock:
            total = dict(self._counts)
        others = list(self._read_other_processes())
        for counts in others:
            for key, value in counts.items():
                total[key] = total.get(key, 0.0) + value
        lines: list[str] = []
        for family in COUNTED:
            lines += _head(family) + _format_family(family, total)
        shown: set[str] = set()
        workers = Sample(Family("discreet_workers", "gauge", "Web processes of the server."), 1.0 + len(others))
        for sample in (*gauges, workers):
            lines += _head(sample.family) if sample.family.name not in shown else []
            shown.add(sample.family.name)
            lines.append(_line(sample.family.name, sample.labels, sample.value))
        return "\n".join(lines) + "\n"

    def _add(self, name: str, labels: Labels, amount: float = 1.0) -> None:
        self._counts[name, labels] = self._counts.get((name, labels), 0.0) + amount

    def _read_other_processes(self) -> Iterable[Counts]:
        for file in sorted(self._folder.glob("*.json")) if self._folder is not None else []:
            if file.stem == str(os.getpid()):
                continue
            if not _is_alive(int(file.stem)):
                file.unlink(missing_ok=True)
                continue
            with contextlib.suppress(OSError, ValueError):
                rows = json.loads(file.read_text(encoding="utf-8"))
                yield {(name, tuple((key, text) for key, text in labels)): value for name, labels, value in rows}


def _format_family(family: Family, counts: Mapping[tuple[str, Labels], float]) -> list[str]:
    if family.kind != "histogram":
        return [_line(name, labels, value) for (name, labels), value in sorted(counts.items()) if name == family.name]
    lines = []
    for (name, labels), total in sorted(counts.items()):
        if name != f"{family.name}_sum":
            continue
        cumulated = 0.0
        for bound in (*map(format_number, BOUNDS), "+Inf"):
            cumulated += counts.get((f"{family.name}_bucket", (*labels, ("le", bound))), 0.0)
            lines.append(_line(f"{family.name}_bucket", (*labels, ("le", bound)), cumulated))
        lines += [_line(f"{family.name}_sum", labels, total), _line(f"{family.name}_count", labels, cumulated)]
    return lines


def _head(family: Family) -> list[str]:
    return [f"# HELP {family.name} {family.meaning}", f"# TYPE {family.name} {family.kind}"]


def _line(name: str, labels: Labels, value: float) -> str:
    shown = ",".join(f'{key}="{_escape(text)}"' for key, text in labels)
    return f"{name}{{{shown}}} {format_number(value)}" if labels else f"{name} {format_number(value)}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def format_number(value: float) -> str:
    """A number as Prometheus reads it, without a fraction where there is none.

    >>> format_number(3.0), format_number(0.25)
    ('3', '0.25')
    """
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
