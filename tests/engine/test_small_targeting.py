"""Values of small tables are suppressed with NumPy alone, and nothing changes by it."""

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

from discreet.engine.known_sets.family import family
from discreet.engine.targeting import kernels
from discreet.engine.targeting.state import family_arrays
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

CHANCES = st.lists(st.sampled_from([0.05, 0.3, 0.3, 0.7, 1.0]), min_size=1, max_size=5)
WEIGHTS = (0.0, 0.1, 0.3, 1.0)


def table_of(chances: list[float], records: int, seed: int, share: float) -> tuple[Any, ...]:
    """Counts that fall along the tree, weights with ties, nulls and what may be suppressed, of so many records."""
    random = np.random.default_rng(seed)
    tree = family(chances, 0.02, 1000)
    counts = np.ones((records, len(tree)), dtype=np.int32)
    counts[:, 0] = records + 3
    for node in range(1, len(tree)):
        counts[:, node] = random.integers(1, counts[:, tree.parent[node]] + 1)
    width = len(chances)
    weights = random.choice(WEIGHTS, (records, width))
    nulls = random.random((records, width)) < 0.2
    allowed = random.random((records, width)) < 0.7
    return counts, weights, random.choice(WEIGHTS, width), nulls, allowed, family_arrays(tree, share)


@settings(deadline=None, max_examples=80)
@given(CHANCES, st.integers(0, 12), st.integers(0, 10_000), st.sampled_from([0.0, 0.05, 0.5]), st.sampled_from([0.0, 0.1, 0.6]))
def test_numpy_and_compiled_loops_choose_the_same_values_to_the_last_bit(
    chances: list[float], records: int, seed: int, share: float, limit: float
) -> None:
    counts, weights, null_weights, nulls, allowed, tree = table_of(chances, records, seed, share)
    common = (counts, weights, null_weights)
    calls: tuple[tuple[Any, tuple[Any, ...], Any], ...] = (
        (kernels.compute_risks, (*common, nulls, tree), np.empty(records)),
        (kernels.bound_reachable_risk, (*common, allowed, tree, 2.0), np.empty(records)),
        (kernels.suppress_top_sets, (*common, nulls, allowed, tree, limit, True), np.zeros(nulls.shape, np.bool_)),
        (kernels.suppress_top_sets, (*common, nulls, allowed, tree, limit, False), np.zeros(nulls.shape, np.bool_)),
        (kernels.suppress_heaviest_values, (*common, nulls, allowed, tree, limit), np.zeros(nulls.shape, np.bool_)),
    )
    start = min(1, records)  # a slice must leave the other records alone
    for kernel, arguments, empty in calls:
        small, large = empty.copy(), empty.copy()
        small[:start], large[:start] = 0, 0
        kernel.small(*arguments, small, start, records)
        kernel.machine_code(*arguments, large, start, records)
        assert np.array_equal(small, large), kernel.__name__


def test_counts_are_copied_for_the_active_records_only() -> None:
    copied = np.ones(5, dtype=np.int32)
    kernels.copy_counts(np.array([1, 3, 4], dtype=np.uint32), np.array([7, 8, 9, 10, 11], dtype=np.int32), copied, 0, 2)
    assert copied.tolist() == [1, 8, 1, 10, 1]


@pytest.mark.parametrize("settings_of_step", ["{}", "{'missing': 'category'}", "{'side': 'sensitive'}", "{'passes': 1}"])
def test_values_of_a_small_table_are_suppressed_without_the_compiler(tmp_path: Path, settings_of_step: str) -> None:
    code = (
        "import sys\n"
        "from discreet.engine.draws.draw import KeyedDraw\n"
        "from discreet.masking.targeted_suppression.method import TargetedSuppression\n"
        "from discreet.testing import students\n"
        "data = students(600, dense=True)\n"
        f"method = TargetedSuppression(threshold={{'among': 3}}, **{settings_of_step})\n"
        "masked = method.mask(data, method.choose(data), KeyedDraw(7))\n"
        "assert masked.frame.null_count().sum_horizontal().item() > 0\n"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == 0


def test_a_record_without_anything_that_may_be_suppressed_keeps_its_values() -> None:
    attributes = {"x": {"known": 0.5}, "y": {"known": 0.5}, "z": {"sensitivity": 1.0}}
    frame = pl.DataFrame({"x": ["a", "b", "b"], "y": ["s", "s", "t"], "z": ["u", "u", "u"]})
    data = Microdata(frame, Policy.from_dict({"attributes": attributes}))
    from discreet.engine.draws.draw import KeyedDraw
    from discreet.masking.targeted_suppression.method import TargetedSuppression

    method = TargetedSuppression(alpha=1, threshold=0.01, protect=("y",))
    masked = method.mask(data, ["x"], KeyedDraw(7)).frame
    assert masked["x"].null_count() == 3
    assert masked["y"].to_list() == ["s", "s", "t"]
