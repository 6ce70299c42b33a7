"""Workers of pytest-xdist: Spark starts in one of them only, and no long file is left for the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from sharing import BySession, put_long_units_first


@dataclass
class Item:
    """A test with its marks."""

    nodeid: str
    marks: set[str] = field(default_factory=set)

    def get_closest_marker(self, name: str) -> bool:
        return name in self.marks


def test_all_tests_on_spark_are_one_unit_and_other_files_one_each() -> None:
    class WithoutWorkers(BySession):
        def __init__(self) -> None:
            pass

    unit = WithoutWorkers()._split_scope
    assert len({unit(f"tests/engines/test_{name}.py::test_{name}") for name in ("one_body", "spark_keys", "known_plan")}) == 1
    assert len({unit(f"tests/web/test_{name}.py::test_{name}[sqlite]") for name in ("api", "client")}) == 2
    assert unit("tests/web/test_api.py::test_a[b::c]") == unit("tests/web/test_api.py::test_d")


def test_units_with_expensive_tests_come_first_and_no_test_is_lost() -> None:
    items = [
        Item("tests/a.py::test_quick"), Item("tests/b.py::test_slow", {"slow"}), Item("tests/engines/a.py::test_local"),
        Item("tests/c.py::test_page", {"browser"}), Item("tests/b.py::test_quick"), Item("tests/engines/b.py::test_x", {"spark"}),
        Item("tests/d.py::test_slow", {"slow"}), Item("tests/d.py::test_slower", {"slow"}),
    ]  # fmt: skip
    sorted_items = list(items)
    put_long_units_first(cast("Any", sorted_items))
    assert [item.nodeid for item in sorted_items] == [
        "tests/engines/a.py::test_local", "tests/engines/b.py::test_x", "tests/c.py::test_page", "tests/d.py::test_slow",
        "tests/d.py::test_slower", "tests/b.py::test_slow", "tests/b.py::test_quick", "tests/a.py::test_quick",
    ]  # fmt: skip


def test_other_ways_to_distribute_tests_are_left_to_xdist(pytestconfig: pytest.Config) -> None:
    hook = next(one for one in pytestconfig.hook.pytest_xdist_make_scheduler.get_hookimpls() if "conftest" in one.plugin_name)

    class Handed:
        @staticmethod
        def getoption(name: str) -> str:
            return {"dist": "load"}[name]

    assert hook.function(Handed(), None) is None
