"""The process of a job: ``python -m discreet.web.jobs.worker``.

The first line of standard input holds the inputs; later lines ask the job to stop; the end of standard input means that the
server is gone, and the process exits immediately. Progress and result are lines of JSON on the original standard output;
whatever a library prints to standard output is redirected to standard error.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import resource
import signal
import sys
import threading
from collections.abc import Mapping
from typing import Any, BinaryIO

from discreet.engine.runtime.lean_start import start_lean
from discreet.web.jobs.key_project import key_project
from discreet.web.jobs.messages import Cancelled, MessageWriter, format_traceback

UNUSED_DATA_BYTES = 1 << 30
"""Data that the libraries' allocators and thread stacks reserve without using it."""


def main() -> int:
    """Run one job."""
    start_lean()
    _die_with_parent()
    messages = MessageWriter(_reserve_output())
    source = sys.stdin.buffer
    inputs = json.loads(source.readline() or b"null")
    if not isinstance(inputs, dict):
        return 2
    threading.Thread(target=_watch_input, args=(source, messages), daemon=True).start()
    os.environ["DISCREET_HOME"] = str(inputs.get("home", ""))  # secret keys drawn by the job go into the server's key ring
    # a key's id is public, so a job must not use the keys of other projects by naming them in its policy
    os.environ["DISCREET_KEY_PROJECT"] = key_project(inputs)
    _lower_priority()
    _limit_resources(inputs.get("limits") or {})
    return run_job(inputs, messages)


def run_job(inputs: dict[str, Any], messages: MessageWriter) -> int:
    """Run the job that the inputs describe, and report the outcome."""
    from discreet.engine.runtime.progress import progress_listener
    from discreet.errors import DiscreetError
    from discreet.web.jobs.work import HANDLERS

    try:
        with progress_listener(messages.progress):
            message = HANDLERS[inputs["kind"]](inputs, messages)
        messages.send("result", **message)
    except Cancelled:
        messages.send("cancelled")
    except DiscreetError as error:
        messages.send("failed", sentence=_replace_paths(str(error), inputs))
    except MemoryError:
        messages.send("failed", sentence=_describe_memory_error(inputs))
    except OSError as error:
        if error.errno in (errno.EFBIG, errno.ENOSPC, errno.EDQUOT):
            messages.send(
                "failed", sentence="the result needs more room on the disk than the quota leaves; delete something first"
            )
            return 0
        reason = f"the server's disk or database could not be used: {error.strerror or type(error).__name__}"
        messages.send("error", type=type(error).__name__, trace=format_traceback(error), sentence=reason)
    except Exception as error:  # noqa: BLE001 - every error is reported to the server
        messages.send("error", type=type(error).__name__, trace=format_traceback(error))
    return 0


def _describe_memory_error(inputs: Mapping[str, Any]) -> str:
    memory = (inputs.get("limits") or {}).get("memory")
    allowed = f"; a job of this server may use {memory / 1e9:.3g} GB" if memory else ""
    return f"not enough memory for this job{allowed}"


def _replace_paths(sentence: str, inputs: Mapping[str, Any]) -> str:
    """Replace paths of the server's files in a sentence by the names that users know."""
    for path, name in inputs.get("display_names", {}).items():
        sentence = sentence.replace(path, name)
    return sentence


def _die_with_parent() -> None:
    """On Linux, ask the kernel to kill this process when its parent dies, even if the parent is killed."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _reserve_output() -> BinaryIO:
    descriptor = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(descriptor, "wb")


def _lower_priority() -> None:
    """Give the server priority for CPU time, and make this process the first victim if memory runs out."""
    with contextlib.suppress(OSError):
        os.nice(10)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("800")


def _limit_resources(limits: Mapping[str, Any]) -> None:
    """Limit the memory of this process and of its children, and the size of the files that they write.

    The limit is on data (RLIMIT_DATA), not on the address space, most of which libraries reserve without using it.
    """
    if memory := limits.get("memory"):
        os.environ.setdefault("DISCREET_MEMORY", str(memory))
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (memory + UNUSED_DATA_BYTES, memory + UNUSED_DATA_BYTES))
    if (file_bytes := limits.get("file_bytes")) is not None:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))


def _watch_input(source: BinaryIO, messages: MessageWriter) -> None:
    for _line in iter(source.readline, b""):
        messages.stop_requested.set()
    # the server is gone: end this process and its children
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(3)


if __name__ == "__main__":
    os._exit(main())  # a normal exit would wait for the thread that blocks on standard input
