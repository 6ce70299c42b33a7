"""Which tests are slow: writes tests/slow_tests.txt from the durations of a full run, so that ``make check`` leaves them out.

    pytest -n 2 --dist loadfile --no-loadscope-reorder --durations=0 --durations-min=0.1 > log
    python tools/slow_tests.py log

A test is slow if all its cases together take more than two seconds, setup included. Tests that start a server, a browser or Spark
are in tiers of their own (tests/conftest.py).
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

LIST = Path(__file__).resolve().parents[1] / "tests" / "slow_tests.txt"
SLOW = 2.0
"""Seconds of all cases of a test on a quiet machine."""
_LINE = re.compile(r"^\s*(\d+\.\d+)s (?:setup|call|teardown)\s+(\S+?)(?:\[.*)?$")


def slow_tests(log: str) -> list[str]:
    """The slow tests of a log, in alphabetical order.

    >>> slow_tests("1.50s call   tests/a.py::test_b[x]\\n0.70s setup  tests/a.py::test_b[y]\\n0.10s call   tests/a.py::test_c")
    ['tests/a.py::test_b']
    """
    seconds: dict[str, float] = defaultdict(float)
    for line in log.splitlines():
        if match := _LINE.match(line):
            seconds[match[2]] += float(match[1])
    return sorted(name for name, total in seconds.items() if total > SLOW)


def main() -> None:
    names = slow_tests(Path(sys.argv[1]).read_text(encoding="utf-8"))
    LIST.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    print(f"{len(names):,} slow tests written to {LIST.name}")


if __name__ == "__main__":
    main()
