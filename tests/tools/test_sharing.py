"""Workers of pytest-xdist: Spark starts in one of them only, and no long file is left for the end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from sharing import BySession, put_long_units_first, read_seconds, unit_of


@dataclass
class Item:
    """A test."""

    nodeid: str


def test_all_tests_on_spark_are_one_unit_and_other_files_one_each() -> None:
    class WithoutWorkers(BySession):
        def __init__(self) -> None:
            pass

    unit = WithoutWorkers()._split_scope
    assert len({unit(f"tests/engines/test_{name}.py::test_{name}") for name in ("one_body", "spark_keys", "known_plan")}) == 1
    assert len({unit(f"tests/web/test_{name}.py::test_{name}[sqlite]") for name in ("api", "client")}) == 2
    assert unit("tests/web/test_api.py::test_a[b::c]") == unit("tests/web/test_api.py::test_d")


def test_the_page_on_spark_is_run_where_spark_runs() -> None:
    page = "tests/test_docs.py::test_the_page_runs[docs/tutorials/spark.md]"
    assert (Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "spark.md").exists()
    assert unit_of(page) == unit_of("tests/engines/test_one_body.py::test_x") != unit_of("tests/test_docs.py::test_x")


def test_units_with_the_longest_tests_come_first_and_no_test_is_lost() -> None:
    names = ("a.py::test_quick", "b.py::test_slow[x]", "engines/a.py::test_local", "b.py::test_slow[y]", "b.py::test_quick",
             "engines/b.py::test_x", "d.py::test_slow", "d.py::test_slower")  # fmt: skip
    seconds = {
        "tests/b.py::test_slow": 4.0,
        "tests/engines/b.py::test_x": 9.0,
        "tests/d.py::test_slow": 3.0,
        "tests/d.py::test_slower": 2.0,
    }
    items = [Item(f"tests/{name}") for name in names]
    put_long_units_first(cast("Any", items), seconds)
    assert [item.nodeid.removeprefix("tests/") for item in items] == [
        "engines/a.py::test_local", "engines/b.py::test_x", "d.py::test_slow", "d.py::test_slower", "b.py::test_slow[x]",
        "b.py::test_slow[y]", "b.py::test_quick", "a.py::test_quick",
    ]  # fmt: skip


def test_seconds_are_read_with_the_names_of_tests(tmp_path: Path) -> None:
    file = tmp_path / "slow.txt"
    file.write_text("12 tests/a.py::test_b\n3 src/a.py::a.b\n")
    assert read_seconds(file) == {"tests/a.py::test_b": 12.0, "src/a.py::a.b": 3.0}


def test_other_ways_to_distribute_tests_are_left_to_xdist(pytestconfig: pytest.Config) -> None:
    implementations = pytestconfig.hook.pytest_xdist_make_scheduler.get_hookimpls()
    hook = next(implementation for implementation in implementations if "conftest" in implementation.plugin_name)

    class Handed:
        @staticmethod
        def getoption(name: str) -> str:
            return {"dist": "load"}[name]

    assert hook.function(Handed(), None) is None
