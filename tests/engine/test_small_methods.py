"""Masking of small tables works without the compiler, and nothing changes by it."""

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

from discreet.engine.classes.tables import class_table
from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.encoding.columns import encode_series
from discreet.engine.runtime.compiled import Kernel
from discreet.masking.generalization.method import Generalization
from discreet.masking.local_suppression.search import find_suppressions
from discreet.masking.microaggregation import mdav
from discreet.masking.microaggregation.optimal import optimal_groups
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

CELLS = st.sampled_from([None, "a", "a", "b", "c", "d"])


def call_small(kernel: Kernel, *arguments: Any) -> Any:
    """The small version of a kernel, and the Python function itself of one that has none."""
    if kernel.small is None or kernel.small == kernel.interpret:
        return kernel.function(*arguments)
    return kernel.small(*arguments)


def call_compiled(kernel: Kernel, *arguments: Any) -> Any:
    return kernel.machine_code(*arguments)


def run_both_ways(work: Any) -> tuple[Any, Any]:
    """The result of a piece of work by small versions, and by machine code."""
    results = []
    with pytest.MonkeyPatch.context() as changed:
        for call, loaded in ((call_small, False), (call_compiled, True)):
            changed.setattr(Kernel, "__call__", call)
            changed.setattr(mdav, "is_compiler_loaded", lambda loaded=loaded: loaded)
            results.append(work())
    return results[0], results[1]


@st.composite
def columns(draw: st.DrawFn) -> list[pl.Series]:
    width, height = draw(st.integers(1, 4)), draw(st.integers(1, 25))
    return [pl.Series(f"x{at}", [draw(CELLS) for _ in range(height)], dtype=pl.String) for at in range(width)]


@settings(deadline=None, max_examples=60)
@given(columns(), st.integers(0, 1000))
def test_numpy_and_compiled_class_tables_are_the_same(series: list[pl.Series], seed: int) -> None:
    from discreet.engine.classes.kernels import sum_flagged_rows

    encoded = [encode_series(column) for column in series]
    table, _ = class_table([(column.codes, column.cardinality) for column in encoded], len(series[0]))
    random = np.random.default_rng(seed)
    maps = [random.integers(0, 2, card).astype(np.int32) for card in table.cards]
    flags, values = random.random(len(table)) < 0.6, random.random((len(table.cards), max(table.cards)))

    def work() -> tuple[Any, ...]:
        coarse = table.regroup(maps, [2] * len(maps))
        records, sums = sum_flagged_rows(table.codes, table.counts, flags, values)
        return (*table.classes(maps, [2] * len(maps)), coarse.codes, coarse.counts, np.array(records), sums)

    small, machine = run_both_ways(work)
    assert all(np.array_equal(one, other) and one.dtype == other.dtype for one, other in zip(small, machine, strict=True))


@settings(deadline=None, max_examples=60)
@given(columns(), st.integers(2, 4), st.booleans())
def test_local_suppression_of_few_rows_is_the_same(series: list[pl.Series], k: int, blanks_agree: bool) -> None:
    encoded, size = [encode_series(column) for column in series], len(series[0])
    costs = [1.0 + index % 2 for index in range(len(series))]
    if size >= k:
        work = lambda: find_suppressions(encoded, size, k, costs, blanks_agree=blanks_agree)  # noqa: E731
        assert np.array_equal(*run_both_ways(work))


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 60), st.integers(1, 3), st.integers(1, 5), st.booleans(), st.integers(0, 1000))
def test_microaggregation_of_few_rows_is_the_same(rows: int, width: int, size: int, ties: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    nominal = random.random(width) < 0.3
    values = np.where(nominal, random.integers(0, 3, (rows, width)), random.normal(size=(rows, width)).round(1 if ties else 9))
    weights = random.random(width)
    assert np.array_equal(*run_both_ways(lambda: mdav.mdav_groups(values, weights, nominal, size)))
    assert np.array_equal(*run_both_ways(lambda: optimal_groups(np.sort(values[:, 0]), size)))


@settings(deadline=None, max_examples=40)
@given(columns(), st.integers(1, 3), st.sampled_from(["partition", "full_domain"]), st.booleans(), st.integers(0, 1000))
def test_generalization_of_few_rows_is_the_same(series: list[pl.Series], k: int, algorithm: str, strict: bool, seed: int) -> None:
    size = len(series[0])
    ages = pl.Series("age", np.random.default_rng(seed).integers(20, 40, size))
    attributes: dict[str, Any] = {column.name: {"role": "key"} for column in series}
    attributes["age"] = {"role": "key", "hierarchy": {"widths": [5, 10]}}
    attributes["x0"] = {"role": "key", "hierarchy": {"groups": [{"ab": ["a", "b"], "cd": ["c", "d"]}]}}
    policy = Policy.from_dict({"attributes": attributes})
    if size < k:
        return
    limits: dict[str, Any] = {"strict": strict} if algorithm == "partition" else {"suppression_limit": 0.5}
    method = Generalization.model_validate({"k": k, "algorithm": algorithm} | limits)

    def work() -> pl.DataFrame:
        data = Microdata(pl.DataFrame([*series, ages]), policy)
        return method.mask(data, data.columns, KeyedDraw(7)).frame

    small, machine = run_both_ways(work)
    assert small.equals(machine)


def test_small_tables_are_masked_without_the_compiler(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "import discreet\n"
        "from discreet.testing import students\n"
        "frame = students(500).frame\n"
        "keys = {'age': {'role': 'key', 'hierarchy': {'widths': [2, 4]}}, 'gender': {'role': 'key'}}\n"
        "steps = [{'method': 'generalization', 'k': 3, 'columns': ['age'], 'suppression_limit': 0.5}]\n"
        "steps += [{'method': 'microaggregation', 'columns': ['birth_year', 'birth_month'], 'size': 3}]\n"
        "steps += [{'method': 'generalization', 'algorithm': 'partition', 'k': 3, 'columns': ['birth_year']}]\n"
        "steps += [{'method': 'local_suppression', 'k': 3, 'columns': ['age', 'gender']}]\n"
        "discreet.mask(discreet.read(frame, {'attributes': keys}), {'steps': steps})\n"
        "sys.exit('numba' in sys.modules)"
    )
    environment = {"PATH": "/usr/bin", "HOME": str(tmp_path)}
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=False).returncode == 0
