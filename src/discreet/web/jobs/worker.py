"""A job's process: ``python -m discreet.web.jobs.worker``.

The first line of standard input says all it needs; later lines ask it to stop; the end of standard input means that the
server is gone, and the process leaves at once. Progress and the result are lines of JSON on what was standard output: whatever
a library prints there goes to standard error instead.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from typing import Any, BinaryIO

from discreet.web.jobs.messages import Cancelled, Voice, trace


def main() -> int:
    """Do one job."""
    _die_with_parent()
    voice = Voice(_private_output())
    source = sys.stdin.buffer
    brief = json.loads(source.readline() or b"null")
    if not isinstance(brief, dict):
        return 2
    threading.Thread(target=_listen, args=(source, voice), daemon=True).start()
    os.environ["DISCREET_HOME"] = str(brief.get("home", ""))  # keys that the job draws go into the server's ring
    _give_way()
    return perform(brief, voice)


def perform(brief: dict[str, Any], voice: Voice) -> int:
    """Do what a brief asks for and say how it went."""
    from discreet.engine.runtime.progress import listening
    from discreet.errors import DiscreetError
    from discreet.web.jobs.work import WORK

    try:
        with listening(voice.progress):
            found = WORK[brief["kind"]](brief, voice)
        voice.say("result", **found)
    except Cancelled:
        voice.say("cancelled")
    except DiscreetError as error:
        voice.say("failed", sentence=_shown(str(error), brief))
    except MemoryError:
        voice.say("failed", sentence="there is not enough memory for this job")
    except OSError as error:
        why = f"the server's disk or database could not be used: {error.strerror or type(error).__name__}"
        voice.say("error", type=type(error).__name__, trace=trace(error), sentence=why)
    except Exception as error:  # noqa: BLE001 - whatever it is, the server hears of it
        voice.say("error", type=type(error).__name__, trace=trace(error))
    return 0


def _shown(sentence: str, brief: Mapping[str, Any]) -> str:
    """A sentence without the places of the server's files."""
    for place, name in brief.get("shown", {}).items():
        sentence = sentence.replace(place, name)
    return sentence


def _die_with_parent() -> None:
    """On Linux the kernel ends this process with the one that started it, even where that is killed and this one computes."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _private_output() -> BinaryIO:
    kept = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(kept, "wb")


def _give_way() -> None:
    """The server answers first, and where memory runs out the system takes this process rather than the server."""
    with contextlib.suppress(OSError):
        os.nice(10)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("800")


def _listen(source: BinaryIO, voice: Voice) -> None:
    for _line in iter(source.readline, b""):
        voice.stop.set()
    # the server is gone: whatever runs here is nobody's any more, nor is what it started
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(3)


if __name__ == "__main__":
    os._exit(main())  # a thread waits on standard input, and an orderly end would wait for it
