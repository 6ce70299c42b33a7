"""A process of our own starts without what costs a small table more than its work."""

from __future__ import annotations

import atexit
import gc
import os

from discreet.engine.runtime.blas_threads import VARIABLE

_COLLECT_EVERY = 50_000
"""Objects created between two collections of cyclic garbage. Imports create some hundred thousand that live to the end, and
Python's default of 700 goes through them again and again: a seventh of the time of a small table."""


def start_lean() -> None:
    """Collect garbage less often, not at all at the end, use one thread of BLAS, and search no distributions for plug-ins.

    For the processes of the command line and of jobs: a program that imports discreet decides on this by itself.
    """
    gc.set_threshold(_COLLECT_EVERY, 20, 20)
    atexit.register(gc.freeze)  # the last collection of an ending process frees nothing that anybody needs
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    os.environ.setdefault(VARIABLE, "1")  # before NumPy is imported
