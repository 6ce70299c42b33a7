"""Which tests are slow: writes tests/slow_tests.txt from the durations of full runs.

    make durations                                  # a full run, on a quiet machine
    python tools/slow_tests.py durations.log more   # the same from logs of ``pytest --durations=0 --durations-min=0.1``

A test is slow if all its cases together take more than one second, setup included. ``make check`` leaves slow tests out, and
``make test`` hands out the files with the longest tests first (tests/shared/sharing.py). Where several logs name a test, the last
one counts, so that a part of the tests can be measured again.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

LIST = Path(__file__).resolve().parents[1] / "tests" / "slow_tests.txt"
SLOW = 1.0
"""Seconds of all cases of a test on a quiet machine."""
_LINE = re.compile(r"^\s*(\d+\.\d+)s (?:setup|call|teardown)\s+(\S+?)(?:\[.*)?$")


def measured_tests(*logs: str) -> dict[str, float]:
    """The tests of some logs in alphabetical order, with the seconds of all their cases.

    >>> measured_tests("1.50s call  tests/a.py::test_b[x]\\n0.70s setup tests/a.py::test_b[y]\\n0.10s call  tests/a.py::test_c")
    {'tests/a.py::test_b': 2.2, 'tests/a.py::test_c': 0.1}
    """
    latest: dict[str, float] = {}
    for log in logs:
        seconds: dict[str, float] = defaultdict(float)
        for line in log.splitlines():
            if match := _LINE.match(line):
                seconds[match[2]] += float(match[1])
        latest |= seconds
    return dict(sorted(latest.items()))


def main() -> None:
    measured = measured_tests(*(Path(log).read_text(encoding="utf-8") for log in sys.argv[1:]))
    slow = {name: seconds for name, seconds in measured.items() if seconds > SLOW}
    LIST.write_text("".join(f"{seconds:.0f} {name}\n" for name, seconds in slow.items()), encoding="utf-8")
    others = sum(measured.values()) - sum(slow.values())
    print(f"{len(slow):,} slow tests of {sum(slow.values()):,.0f} s written to {LIST.name}; the others take {others:,.0f} s")


if __name__ == "__main__":
    main()
