"""Compiled functions: numba, with a cache that works wherever the package is installed.

Kernels release the interpreter lock and are run from our own threads; numba's threading layers are not used, because they abort
when two threads enter them at once, and do not survive a fork. The compiler itself is imported when a kernel is first needed.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import tempfile
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from discreet.engine.runtime.worker_threads import WorkerThreads

SMALL_ARRAY, SMALL_WORK = 1 << 17, 300_000_000
"""Members of the longest array of a call, and of all calls so far, up to which small versions are used."""
FEW_ROWS = 3000
"""Rows up to which a loop over single values is faster in Python than with the compiler, which must be imported and loaded."""
_PACKAGE = Path(__file__).resolve().parents[2]
_interpreting = threading.local()
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


def compiled(function: F) -> F:
    """Compile at the first call, cache the machine code on disk, and release the interpreter lock while running."""
    kernel: Any = Kernel(function, None)
    return kernel  # type: ignore[no-any-return]


def compiled_unless_small(small: Callable[..., Any], most: int = SMALL_ARRAY) -> Callable[[F], F]:
    """The same for a function that ``small`` computes too, to the last bit, with NumPy alone.

    ``small`` is called while no array has more than ``most`` members and little is to be done: importing the compiler and
    loading the machine code takes seconds.
    """

    def decorate(function: F) -> F:
        kernel: Any = Kernel(function, small, most)
        return kernel  # type: ignore[no-any-return]

    return decorate


def interpreted_if_few(most: int) -> Callable[[F], F]:
    """The same for a function that is run by Python itself, with all kernels that it calls, where no array is longer than this.

    Only for functions of integers, comparisons and the four operations on floats, which give the same bits either way: powers and
    logarithms may differ in the last one.
    """

    def decorate(function: F) -> F:
        kernel: Any = Kernel(function, None, most)
        kernel.small = kernel.interpret
        return kernel  # type: ignore[no-any-return]

    return decorate


class Kernel:
    """A function that is compiled when it is needed; until then nothing of the compiler is imported."""

    _work = 0
    """Members of arrays that small versions have worked on in this process."""
    never_small = False
    """Whether small versions are never used: a process that fills the cache compiles, however few records it has."""

    def __init__(self, function: Callable[..., Any], small: Callable[..., Any] | None, most: int = SMALL_ARRAY) -> None:
        self.function, self.small, self.most = function, small, most
        self._machine_code: Callable[..., Any] | None = None
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        if self._machine_code is None:
            if getattr(_interpreting, "active", False):
                return self.function(*arguments)
            if self.small is not None and not Kernel.never_small and self._is_small(arguments):
                return self.small(*arguments)
            return _run(self.machine_code, arguments)
        return _run(self._machine_code, arguments)

    def interpret(self, *arguments: Any) -> Any:
        """The result by Python itself; kernels that the function calls are interpreted too."""
        _interpreting.active = True
        try:
            return self.function(*arguments)
        finally:
            _interpreting.active = False

    def _is_small(self, arguments: tuple[Any, ...]) -> bool:
        longest = max((argument.size for argument in arguments if isinstance(argument, np.ndarray)), default=0)
        Kernel._work += longest
        return longest <= self.most and Kernel._work <= SMALL_WORK

    @property
    def machine_code(self) -> Callable[..., Any]:
        """The compiled function; other kernels that it calls are compiled into it."""
        if self._machine_code is None:
            names = self.function.__globals__
            called = {
                name: names[name].machine_code for name in self.function.__code__.co_names if isinstance(names.get(name), Kernel)
            }
            function = types.FunctionType(
                self.function.__code__,
                {**names, **called} if called else names,
                self.function.__name__,
                self.function.__defaults__,
            )
            functools.update_wrapper(function, self.function)
            function.__dict__.pop("__wrapped__", None)
            numba = import_numba()
            dispatcher = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
            dispatcher._compile_for_args = _away_from_main_thread(dispatcher._compile_for_args)
            self._machine_code = dispatcher
        return self._machine_code


def _run(machine_code: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Run compiled code. Ctrl-C while its arguments are passed comes back as a SystemError, and is raised as what it was."""
    try:
        return machine_code(*arguments)
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise


def _away_from_main_thread(compile_kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The compiler's entry, run by a thread of its own where the main thread calls it.

    Ctrl-C raises KeyboardInterrupt anywhere in the main thread, also between taking and giving back the compiler's lock: every
    other thread that compiles would wait forever. Here the main thread only waits, and what is compiled reaches the cache.
    """

    def compile_in_thread(*arguments: Any, **options: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            return compile_kernel(*arguments, **options)
        with WorkerThreads(1, thread_name_prefix="compile") as threads:
            return threads.submit(compile_kernel, *arguments, **options).result()

    return compile_in_thread


def is_compiler_loaded() -> bool:
    """Whether a kernel was compiled or loaded in this process, so that another one costs little."""
    return "numba" in sys.modules


def was_compiled(module: str, function: str = "") -> bool:
    """Whether machine code of a module's kernels, or of one of them, is in the cache, so that using it does not take seconds.

    Machine code of another installation, or of this one before an update, does not count: the compiler would not use it. It keeps
    what it compiled in a folder per folder of sources.
    """
    cache = settle_cache_folder()
    for source in _PACKAGE.rglob(f"{module}.py"):
        digest = hashlib.sha1(str(source.parent).encode(), usedforsecurity=False).hexdigest()
        indexes = (cache / f"{source.parent.name}_{digest}").glob(f"{module}.{function}*.nbi")
        if any(index.stat().st_mtime > source.stat().st_mtime for index in indexes):
            return True
    return False


def settle_cache_folder() -> Path:
    """The folder of the compiler's cache, from now on the same for this process and those that it starts."""
    if not os.environ.get("NUMBA_CACHE_DIR"):
        os.environ["NUMBA_CACHE_DIR"] = _cache_folder()
    return Path(os.environ["NUMBA_CACHE_DIR"])


def import_numba() -> Any:
    """The compiler, with its cache in a folder that works wherever the package is installed."""
    settle_cache_folder()
    import numba
    import numba.core.config

    if not numba.core.config.CACHE_DIR:  # numba was imported before us
        numba.core.config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]
    return numba
