"""Ctrl-C and time limits end a block of threads and a compilation without waiting for what has not begun."""

from __future__ import annotations

import threading
from threading import Event

import numpy as np
import pytest

from discreet.engine.runtime.compiled import Kernel
from discreet.engine.runtime.worker_threads import WorkerThreads


def test_an_interrupted_block_begins_nothing_more() -> None:
    begun: list[int] = []
    is_running, may_end = Event(), Event()

    def work(number: int) -> None:
        begun.append(number)
        is_running.set()
        may_end.wait()

    def run_and_interrupt() -> None:
        with WorkerThreads(1) as threads:
            for number in range(20):
                threads.submit(work, number)
            is_running.wait()
            threading.Timer(0.1, may_end.set).start()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_and_interrupt()
    assert begun == [0]


def test_a_finished_block_has_done_everything() -> None:
    done: list[int] = []
    with WorkerThreads(2) as threads:
        for number in range(20):
            threads.submit(done.append, number)
    assert sorted(done) == list(range(20))


def test_the_main_thread_never_holds_the_lock_of_the_compiler() -> None:
    from numba.core import event
    from numba.core.caching import NullCache

    compiling: set[str] = set()

    class Threads(event.Listener):
        def on_start(self, _: event.Event) -> None:
            compiling.add(threading.current_thread().name)

        def on_end(self, _: event.Event) -> None: ...

    def add_one(values: np.ndarray) -> np.ndarray:
        return values + 1

    kernel = Kernel(add_one, None)
    vars(kernel.machine_code)["_cache"] = NullCache()  # compiled here, whatever an earlier run left on disk
    with event.install_listener("numba:compile", Threads()):
        assert kernel(np.arange(3)).tolist() == [1, 2, 3]
        assert kernel(np.arange(3.0)).tolist() == [1.0, 2.0, 3.0]  # a second signature
    assert compiling
    assert threading.main_thread().name not in compiling
