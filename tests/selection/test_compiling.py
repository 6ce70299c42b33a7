"""Kernels are compiled by a second process while a search with a time limit tries plans that need no compiler."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from patience import wait_until

import discreet
from discreet.engine.runtime.compiled import was_compiled
from discreet.model.microdata import Microdata
from discreet.selection import compiling, wizard
from discreet.selection.compiling import BackgroundCompiler, compile_in_background
from discreet.selection.options import SelectOptions
from discreet.selection.proposals import add_missing_hierarchies
from discreet.selection.trials import Trial

MIXED = {"sex": ["f", "m", "f", "m"] * 1000, "age": [20 + at % 60 for at in range(4000)]}


def make_table(**select: Any) -> Microdata:
    attributes = {name: {"role": "key"} for name in MIXED}
    policy = {"attributes": attributes, "limits": {"k_anonymity.k": 5}, "select": select}
    data = discreet.read(pl.DataFrame(MIXED), policy)
    return data.with_policy(add_missing_hierarchies(data))


@pytest.fixture
def cold_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, in which nothing counts as compiled."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_the_second_process_fills_the_cache_says_so_and_ends_when_its_parent_is_gone(cold_cache: Path) -> None:
    assert not was_compiled("mdav", "_form_groups")
    with compile_in_background(make_table(), SelectOptions(seconds=60)) as compiler:
        process = compiler._process
        assert process is not None
        assert process.stdin is not None
        assert "clusters" in compiler.pending
        wait_until(lambda: "clusters" not in compiler.pending, "machine code of microaggregation", seconds=120)
        assert was_compiled("mdav", "_form_groups")
        process.stdin.close()  # as the system does when the parent was killed
        wait_until(lambda: process.poll() is not None, "the end of the process", seconds=30)


def test_a_search_without_a_time_limit_starts_no_process(cold_cache: Path) -> None:
    with compile_in_background(make_table(), SelectOptions(trials=3)) as compiler:
        assert compiler._process is None
        assert compiler.pending == frozenset()


def test_nothing_stays_pending_when_the_process_dies(cold_cache: Path) -> None:
    with compile_in_background(make_table(), SelectOptions(seconds=60)) as compiler:
        assert compiler._process is not None
        os.kill(compiler._process.pid, signal.SIGKILL)
        wait_until(lambda: not compiler.pending, "that nothing is pending", seconds=30)


def test_the_process_ends_with_the_search(cold_cache: Path) -> None:
    with compile_in_background(make_table(), SelectOptions(seconds=60)) as compiler:
        process = compiler._process
        assert process is not None
        assert process.poll() is None
    assert process.poll() is not None


def test_the_owners_key_is_not_handed_over(cold_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    received: list[tuple[Microdata, Any]] = []

    class Recorder(BackgroundCompiler):
        def __init__(self, data: Microdata, plans: Any) -> None:
            received.append((data, plans))

    monkeypatch.setattr(compiling, "BackgroundCompiler", Recorder)
    data = make_table()
    plan = data.policy.plan.model_copy(update={"key": "0123456789abcdef"})
    compile_in_background(data.with_policy(data.policy.with_(plan=plan)), SelectOptions(seconds=60))
    ((few, plans),) = received
    assert plans
    assert few.policy.plan.key is None
    assert all(plan.key is None for plan in plans.values())


def test_a_small_table_does_not_wait_where_nothing_has_loaded_the_compiler(
    cold_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = make_table()
    few = Microdata(data.frame.head(200), data.policy)
    monkeypatch.setattr(compiling, "is_compiler_loaded", lambda: False)
    with compile_in_background(few, SelectOptions(seconds=60)) as compiler:
        assert compiler.pending == frozenset()
        monkeypatch.setattr(compiling, "is_compiler_loaded", lambda: True)
        assert "clusters" in compiler.pending


def test_finishes_that_are_being_compiled_are_tried_after_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    trials: list[Trial] = []

    class Compiler:
        @property
        def pending(self) -> frozenset[str]:
            return frozenset({"clusters", "partition"}) if len(trials) < 10 else frozenset()

    @contextmanager
    def fake(*_: Any) -> Iterator[Compiler]:
        yield Compiler()

    monkeypatch.setattr(wizard, "compile_in_background", fake)
    discreet.select(make_table(trials=24, seed=3), on_trial=trials.append)
    waiting = [
        any(step.get("how") == "mdav" or step.get("algorithm") == "partition" for step in trial.plan.get("steps", ()))
        for trial in trials
    ]
    assert not any(waiting[:10])
    assert any(waiting[10:])
