"""Linear algebra on one thread.

The threads of OpenBLAS wait for each other in a loop: where another program uses one of two cores, the Cholesky factors of a
140 x 140 matrix took 250 ms instead of 0.6 ms. On idle cores the most that a second thread can save is half of a small part.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

VARIABLE = "OPENBLAS_NUM_THREADS"
"""Where the environment sets it, that number of threads is used."""


@lru_cache(maxsize=1)
def _controller() -> Any:
    import numpy  # noqa: F401 - the controller knows the libraries that are loaded when it is made
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context, or decorator, in which NumPy's linear algebra uses one thread; the caller's number is restored at its end."""
    if VARIABLE in os.environ:
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        yield
