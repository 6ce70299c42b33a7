"""Which tests share a worker of pytest-xdist, and in which order they are handed out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

SPARK = "tests/engines/"
"""The folder whose tests share one Spark session."""
_SPARK_PAGE = "tests/test_docs.py::test_the_page_runs[docs/tutorials/spark.md]"
"""The page of the documentation that runs on it as well."""


def unit_of(nodeid: str) -> str:
    """The tests that one worker runs: a file, or all tests on Spark.

    >>> unit_of("tests/engines/test_one_body.py::test_a"), unit_of("tests/web/test_api.py::test_b[c]")
    ('tests/engines/', 'tests/web/test_api.py')
    """
    return SPARK if nodeid.startswith(SPARK) or nodeid == _SPARK_PAGE else nodeid.partition("::")[0]


class BySession(LoadFileScheduling):
    """Hands out files to the workers that are free, and all Spark tests to one of them."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def read_seconds(path: Path) -> dict[str, float]:
    """The seconds that slow tests take, from lines such as ``12 tests/a.py::test_b``."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {name: float(seconds) for seconds, name in (line.split(maxsplit=1) for line in lines)}


def put_long_units_first(items: list[pytest.Item], seconds: Mapping[str, float]) -> None:
    """Sort tests so that the longest units come first: a long file at the end would leave the other worker idle."""
    names: dict[str, set[str]] = defaultdict(set)
    for item in items:
        names[unit_of(item.nodeid)].add(item.nodeid.partition("[")[0])
    total = {unit: sum(seconds.get(name, 0.0) for name in tests) for unit, tests in names.items()}
    items.sort(key=lambda item: (-total[unit_of(item.nodeid)], unit_of(item.nodeid)))
