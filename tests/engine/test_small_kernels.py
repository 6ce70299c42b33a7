"""Small tables are counted with NumPy alone, and nothing changes by it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.known_sets import kernels, small_kernels
from discreet.engine.known_sets import threads as known_threads
from discreet.engine.known_sets.sums import known_sets
from discreet.engine.runtime.compiled import Kernel
from discreet.masking.pram.transitions import build_alias_tables, draw_categories
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

CELLS = st.sampled_from([None, "a", "a", "b", "c", "d"])
FIELDS = ("risk", "lower", "upper", "top", "top_node", "likelihood", "count_all", "kept_mass", "whole_mass")


@st.composite
def tables(draw: st.DrawFn) -> Microdata:
    width, height = draw(st.integers(1, 5)), draw(st.integers(1, 20))
    attributes: dict[str, Any] = {}
    columns = {}
    for at in range(width):
        columns[f"x{at}"] = pl.Series([draw(CELLS) for _ in range(height)], dtype=pl.String)
        known = draw(st.sampled_from([0.0, 0.05, 0.3, 0.7, 1.0]))
        attributes[f"x{at}"] = {"known": known, "sensitivity": draw(st.sampled_from([0.0, 0.5, 1.0]))}
        attributes[f"x{at}"] |= draw(st.sampled_from([{}, {"values": {"a": 1.0}}]))  # some values weigh nothing
    attributes["x0"]["known"] = attributes["x0"]["known"] or 0.5
    return Microdata(pl.DataFrame(columns), Policy.from_dict({"attributes": attributes}))


def call_small(kernel: Kernel, *arguments: Any) -> Any:
    return (kernel.small or kernel.machine_code)(*arguments)


def call_compiled(kernel: Kernel, *arguments: Any) -> Any:
    return kernel.machine_code(*arguments)


@settings(deadline=None, max_examples=120)
@given(
    tables(),
    st.sampled_from([0.0, 0.01, 0.2]),
    st.sampled_from(["category", "wildcard"]),
    st.sampled_from([1, 1 << 16]),
    st.booleans(),
)
def test_numpy_and_compiled_kernels_give_the_same_sums_to_the_last_bit(
    data: Microdata, epsilon: float, missing: Any, least: int, everyone: bool
) -> None:
    made = []
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(known_threads, "SMALL", least)  # 1: keys are numbered by sorting, and lists shared out
        for call in (call_small, call_compiled):
            changed.setattr(Kernel, "__call__", call)
            fresh = Microdata(data.frame, data.policy)
            made.append(known_sets(fresh, epsilon=epsilon, max_sets=10_000, missing=missing, everyone=everyone).per_record)
    for name in FIELDS:
        assert np.array_equal(getattr(made[0], name), getattr(made[1], name)), name


@given(st.lists(st.integers(0, 4), max_size=9), st.integers(5, 7))
def test_members_are_sorted_by_group_also_where_the_last_groups_are_empty(group: list[int], groups: int) -> None:
    for sort in (small_kernels.sort_by_group, kernels.sort_by_group.function):
        order, begin = sort(np.array(group, dtype=np.uint32), groups)
        parts = [order[begin[at] : begin[at + 1]].tolist() for at in range(groups)]
        assert parts == [[place for place, own in enumerate(group) if own == at] for at in range(groups)]


def test_the_risk_of_a_small_table_is_measured_without_the_compiler(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from discreet.testing import students\n"
        "from discreet.risks.known_sets.measure import KnownSets\n"
        "from discreet.risks.k_anonymity.measure import KAnonymity\n"
        "data = students(1000, dense=True)\n"
        "KnownSets().measure(data).per_record\n"
        "KAnonymity().measure(data)\n"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == 0


@settings(deadline=None, max_examples=80)
@given(st.integers(1, 6), st.integers(0, 40), st.integers(0, 1000))
def test_numpy_and_compiled_draws_of_categories_are_the_same(size: int, records: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    matrix = random.dirichlet(np.full(size, 0.3), size)
    codes, uniform = random.integers(0, size, records).astype(np.uint8), random.random(records)
    made = []
    with pytest.MonkeyPatch.context() as changed:
        for call in (call_small, call_compiled):
            changed.setattr(Kernel, "__call__", call)
            tables = build_alias_tables(matrix)
            made.append((*tables, draw_categories(codes, tables, uniform)))
    assert all(np.array_equal(one, other) for one, other in zip(*made, strict=True))
