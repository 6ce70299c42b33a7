"""Job processes for the tests of the web application, forked from one process that has imported everything once.

The server starts a new process for each job, which spends a second or more on imports before it does a tenth of a second's work:
in hundreds of jobs, the largest part of these tests' time. Here the supervisor starts a small program instead (``LAUNCHER``) that
passes its pipes, environment and process group to a fork of this module's process, where the product's own worker runs. Signals
to the group, the end of the pipes and the exit code are as in the product. Only the priority is not lowered: a job that gives way
to other tests keeps its own test waiting. Tests of the job processes themselves, and servers that a test harms, use the product's
command.

Only imports are done before the fork: a thread pool that has run before it would not work after it.
"""

from __future__ import annotations

import array
import contextlib
import gc
import hashlib
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_LIBRARIES = ("altair.vegalite.v6.api", "narwhals.stable.v1", "numba", "optuna.samplers", "vl_convert")
"""Libraries that a job imports where it needs them."""
_PACKAGES = (
    "discreet.analysis", "discreet.assessment", "discreet.convert", "discreet.engine", "discreet.losses", "discreet.masking",
    "discreet.report", "discreet.risks", "discreet.selection",
)  # fmt: skip
"""Packages whose modules jobs use; those for Spark import it."""

LAUNCHER = """
import array, json, os, signal, socket, sys
link = socket.socket(socket.AF_UNIX)
link.connect(sys.argv[1])
start = json.dumps({"environment": dict(os.environ), "folder": os.getcwd(), "group": os.getpgrp()}).encode()
descriptors = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
link.sendmsg([len(start).to_bytes(4, "big")], descriptors)
link.sendall(start)
for descriptor in (0, 1, 2):
    os.close(descriptor)
code = int(link.recv(16) or b"70")
if code < 0:
    signal.signal(-code, signal.SIG_DFL) if -code not in (9, 19) else None
    os.kill(os.getpid(), -code)
os._exit(code)
"""


def launch_command(address: str) -> list[str]:
    """What the supervisor starts for a job: the launcher, with the address of the warm process."""
    return [sys.executable, "-I", "-S", "-c", LAUNCHER, address]


@contextlib.contextmanager
def warm_workers() -> Iterator[str]:
    """Run the process that jobs are forked from; its address."""
    with tempfile.TemporaryDirectory(prefix="warm-") as folder:
        address = str(Path(folder) / "socket")
        with subprocess.Popen([sys.executable, "-P", __file__, address], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            try:
                assert process.stdout.readline() == b"ready\n", "the process that jobs are forked from did not start"
                yield address
            finally:
                process.kill()


def _import_everything() -> None:
    import discreet
    import discreet.verbs
    import discreet.web.jobs.exporting
    import discreet.web.jobs.measuring
    import discreet.web.jobs.publishing
    import discreet.web.jobs.releasing
    import discreet.web.jobs.work
    import discreet.web.jobs.worker  # noqa: F401 - imported before the fork
    from discreet import registry
    from discreet.report import page
    from discreet.report.short import page as short_page

    for kind in registry.PLUGIN_TYPES:
        for name in registry.installed_names(kind):
            registry.load(kind, name)
    # the product imports these where they are first used: in a job, seconds for a report or a search
    for name in _LIBRARIES:
        importlib.import_module(name)
    for package in _PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if "spark" not in module.name:
                importlib.import_module(module.name)
    page.page_template()
    short_page.page_template()
    # what numba loads before the first kernel
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    gc.collect()
    gc.freeze()  # a job would look at, and so copy, every object of these modules


class _ChartCache:
    """vl-convert, with the charts that earlier jobs have drawn: its start takes a second of processor time in every process."""

    def __init__(self, library: Any, folder: Path) -> None:
        self._library, self._folder = library, folder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)

    def vegalite_to_svg(self, spec: dict[str, Any]) -> str:
        """The SVG of a specification, which depends on nothing else."""
        file = self._folder / f"{hashlib.sha256(json.dumps(spec).encode()).hexdigest()}.svg"
        if not file.exists():
            part = file.with_suffix(f".{os.getpid()}")
            part.write_text(self._library.vegalite_to_svg(spec), encoding="utf-8")
            part.replace(file)
        return file.read_text(encoding="utf-8")


def _cache_charts(folder: Path) -> None:
    from discreet.report import charts

    library = _ChartCache(charts.load_vl_convert(), folder)
    charts.load_vl_convert = lambda: library


def _serve(address: str) -> None:
    from discreet.web.jobs import worker

    worker._die_with_parent()
    worker._lower_priority = lambda: None
    _import_everything()
    _cache_charts(Path(address).parent)
    links: dict[int, socket.socket] = {}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        listener.settimeout(0.02)  # ended jobs are reaped between two new ones
        print("ready", flush=True)
        while True:
            with contextlib.suppress(TimeoutError):
                link, _ = listener.accept()
                link.setblocking(True)
                pid = os.fork()
                if pid == 0:
                    listener.close()
                    _run(link)
                links[pid] = link
            _reap(links)


def _reap(links: dict[int, socket.socket]) -> None:
    while links:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with links.pop(pid) as link, contextlib.suppress(OSError):
            link.sendall(str(os.waitstatus_to_exitcode(status)).encode())


def _run(link: socket.socket) -> None:
    """Be the worker of one job: with the launcher's pipes, environment, folder and process group."""
    code = 71
    try:
        length, ancillary, *_ = link.recvmsg(4, socket.CMSG_SPACE(3 * array.array("i").itemsize))
        pipes = array.array("i", ancillary[0][2])
        text = b""
        while len(text) < int.from_bytes(length, "big"):
            text += link.recv(65536)
        link.close()
        start = json.loads(text)
        os.setpgid(0, start["group"])
        for descriptor, pipe in enumerate(pipes):
            os.dup2(pipe, descriptor)
            os.close(pipe)
        os.environ.clear()
        os.environ.update(start["environment"])
        os.chdir(start["folder"])
        sys.stdin = os.fdopen(os.dup(0), "r")
        from discreet.web.jobs.worker import main

        code = main()
    finally:
        os._exit(code)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal ends the tests, which end this
    _serve(sys.argv[1])
