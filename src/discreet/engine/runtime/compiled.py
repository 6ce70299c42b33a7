"""Compiled functions: numba, with a cache that works wherever the package is installed.

Kernels release the interpreter lock and are run from our own threads; numba's threading layers are not used, because they abort
when two threads enter them at once, and do not survive a fork.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def _cache_folder() -> str:
    """A writable folder: beside the user's other caches, or a private temporary folder."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    for folder in (Path(home) / "discreet" / "numba", Path(tempfile.gettempdir()) / f"discreet-numba-{os.getuid()}"):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        if os.access(folder, os.W_OK) and folder.stat().st_uid == os.getuid():
            return str(folder)
    return tempfile.mkdtemp(prefix="discreet-numba-")


if "NUMBA_CACHE_DIR" not in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = _cache_folder()

import numba  # noqa: E402 - the cache folder is read when numba is imported
import numba.core.config  # noqa: E402

if not numba.core.config.CACHE_DIR:  # numba was imported before us
    numba.core.config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]


def compiled(function: F) -> F:
    """Compile at the first call, cache the machine code on disk, and release the interpreter lock while running."""
    kernel: F = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return kernel
