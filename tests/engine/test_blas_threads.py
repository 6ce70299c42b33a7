"""Linear algebra on one thread, as long as the environment does not say otherwise."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from threadpoolctl import threadpool_limits

from discreet.engine.runtime.blas_threads import VARIABLE, _controller, one_blas_thread


def threads() -> list[int]:
    return [library["num_threads"] for library in _controller().info() if library["user_api"] == "blas"]


def test_one_thread_is_used_inside_and_the_callers_number_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with one_blas_thread():
            assert set(threads()) == {1}
        assert threads() == before


def test_the_number_in_the_environment_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "2")
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with one_blas_thread():
            assert threads() == before


def test_the_command_line_decides_before_numpy_is_loaded() -> None:
    code = (
        "import sys; from discreet.engine.runtime.lean_start import start_lean; assert 'numpy' not in sys.modules; start_lean();"
        "import os; print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "1"
