"""Whether kernels are in the cache of this installation: a search with a time limit uses no others."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import discreet.masking.generalization.mondrian_kernels as kernels
from discreet.engine.runtime.compiled import Kernel, import_numba, was_compiled

SOURCE = Path(kernels.__file__)


def test_what_the_compiler_keeps_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(import_numba().core.config, "CACHE_DIR", str(tmp_path))
    assert not was_compiled("mondrian_kernels")
    fresh = Kernel(kernels.lowest_common.function, None)  # type: ignore[attr-defined]
    assert fresh(np.zeros((2, 3), dtype=np.int32), 2, 0, 1) == 0
    assert was_compiled("mondrian_kernels")
    assert was_compiled("mondrian_kernels", "lowest_common")
    assert not was_compiled("mondrian_kernels", "cut_classes")
    assert not was_compiled("mdav")


def test_machine_code_of_another_installation_or_of_older_sources_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(import_numba().core.config, "CACHE_DIR", str(tmp_path))
    Kernel(kernels.lowest_common.function, None)(np.zeros((2, 3), dtype=np.int32), 2, 0, 1)  # type: ignore[attr-defined]
    (folder,) = tmp_path.iterdir()
    for index in folder.glob("*.nbi"):
        os.utime(index, (0, SOURCE.stat().st_mtime - 1))
    assert not was_compiled("mondrian_kernels")
    for index in folder.glob("*.nbi"):
        os.utime(index)
    assert was_compiled("mondrian_kernels")
    folder.rename(tmp_path / f"{SOURCE.parent.name}_{'0' * 40}")
    assert not was_compiled("mondrian_kernels")
