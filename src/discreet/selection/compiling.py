"""Kernels that a search will need, compiled by a second process while the search tries plans that need no compiler.

On a machine that never ran the program the kernels of one finish take ten seconds and more to compile, which nothing can stop: a
search with a time limit would spend most of it waiting. The second process masks a few records of the table with each such
finish, so that exactly the machine code which the search will ask for reaches the cache on disk, and says when it is there.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from discreet.engine.runtime.compiled import FEW_ROWS, Kernel, import_numba, is_compiler_loaded, settle_cache_folder
from discreet.errors import DiscreetError
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan
from discreet.selection.options import SelectOptions
from discreet.selection.space.build import build_space
from discreet.selection.steps.build import build_plan

_RECORDS = 5_000
"""Records that are masked to compile a kernel: as few as the code for large tables accepts."""
_ORDER = ("clusters", "microaggregation", "balanced_partition", "partition")
"""The finishes in the order in which they are compiled, the most promising first."""


class BackgroundCompiler:
    """A process that compiles the kernels of finishes; ``pending`` are those whose machine code is not in the cache yet.

    Records reach the process through a pipe, never a file. It ends with the search, or when the search's process dies.
    """

    def __init__(self, data: Microdata, plans: Mapping[str, Plan]) -> None:
        self._pending, self._is_small = set(plans), len(data) <= FEW_ROWS
        self._process: subprocess.Popen[bytes] | None = None
        if not plans or not sys.executable:
            self._pending.clear()
            return
        settle_cache_folder()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - a constant command: this module
                [sys.executable, "-P", "-m", __name__],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError:  # no second process can be had: the search compiles what it needs
            self._pending.clear()
            return
        content = pickle.dumps((data, dict(plans)))
        self._thread = threading.Thread(target=self._converse, args=(self._process, content), daemon=True)
        self._thread.start()

    @property
    def pending(self) -> frozenset[str]:
        """The finishes that the search should leave until later: using them now would mean compiling them a second time.

        None on a small table, which is masked without the compiler as long as nothing has loaded it.
        """
        return frozenset() if self._is_small and not is_compiler_loaded() else frozenset(self._pending)

    def _converse(self, process: subprocess.Popen[bytes], content: bytes) -> None:
        """Send the records and receive the names of compiled finishes; when the process ends, nothing stays pending."""
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            process.stdin.write(content)
            process.stdin.flush()  # and stays open: its end tells the process that nobody needs it any more
            for line in process.stdout:
                self._pending.discard(line.decode().strip())
        self._pending.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End the process, whatever it is doing: a kernel that is half compiled is not in the cache."""
        if self._process is not None:
            self._process.kill()
            self._thread.join()
            with contextlib.suppress(OSError):  # what the process did not read any more
                self._process.__exit__(kind, error, trace)


def compile_in_background(data: Microdata, options: SelectOptions) -> BackgroundCompiler:
    """A compiler for the finishes that a search with a time limit on this table would have to compile.

    Without a time limit none is started: plans are then tried in an order that depends on the seed alone.
    """
    if options.seconds is None:
        return BackgroundCompiler(data, {})
    few = Microdata(data.frame.head(_RECORDS), data.policy, data.source)
    seeded = data.policy.plan.model_copy(update={"seed": 0, "key": None})  # the owner's key stays in this process
    few = few.with_policy(few.policy.with_(plan=seeded))
    try:
        space = build_space(few, options)
        finishes = [finish for finish in _ORDER if finish in space.uncompiled and finish in space.choices["finish"]]
        plans = {finish: build_plan(few, space, space.unchanged_point() | {"finish": finish}) for finish in finishes}
    except DiscreetError:  # the search itself will meet it on all records, or not
        plans = {}
    return BackgroundCompiler(few, {finish: plan.model_copy(update={"seed": 0, "key": None}) for finish, plan in plans.items()})


def main() -> None:
    """Compile what the parent process sends, and print the name of each finish as soon as its kernels are in the cache."""
    from discreet.masking.generate import run_plan

    data, plans = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the process that started this one
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import_numba()  # methods that find it loaded do not take the ways for small tables
    Kernel.never_small = True
    for finish, plan in plans.items():
        with contextlib.suppress(DiscreetError):  # the search will meet the same error and say so
            run_plan(data, plan)
        print(finish, flush=True)


def _end_with_parent() -> None:
    """End this process when the pipe from the parent closes, which it does when the parent ends in any way."""
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main()
