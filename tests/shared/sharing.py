"""Which tests share a worker of pytest-xdist, and in which order they are handed out."""

from __future__ import annotations

from collections import defaultdict

import pytest
from xdist.scheduler import LoadFileScheduling

SPARK = "tests/engines/"
"""The folder whose tests share one Spark session."""
_LONGEST_FIRST = ("spark", "browser", "servers", "slow")


def unit_of(nodeid: str) -> str:
    """The tests that one worker runs: a file, or all tests on Spark.

    >>> unit_of("tests/engines/test_one_body.py::test_a"), unit_of("tests/web/test_api.py::test_b[c]")
    ('tests/engines/', 'tests/web/test_api.py')
    """
    return SPARK if nodeid.startswith(SPARK) else nodeid.partition("::")[0]


class BySession(LoadFileScheduling):
    """Hands out files to the workers that are free, and all Spark tests to one of them."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def put_long_units_first(items: list[pytest.Item]) -> None:
    """Sort tests so that units with expensive tests come first: a long file at the end would leave the other worker idle."""
    expensive: dict[str, int] = defaultdict(int)
    for item in items:
        rank = next((place for place, mark in enumerate(_LONGEST_FIRST) if item.get_closest_marker(mark)), None)
        if rank is not None:
            expensive[unit_of(item.nodeid)] += 10 ** (len(_LONGEST_FIRST) - rank)
    items.sort(key=lambda item: (-expensive[unit_of(item.nodeid)], unit_of(item.nodeid)))
