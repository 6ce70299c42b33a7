"""The server for tests that share it: forked jobs, passwords hashed at the lowest cost, and pages that learn of changes at once.

Run as ``quick_server.py ADDRESS serve …`` with the address of ``warm_workers``. A server that a test harms is the product's own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from patience import patient
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from warm_workers import launch_command

from discreet.web.api import releases as api_releases
from discreet.web.auth import accounts
from discreet.web.jobs import events, process
from discreet.web.limits import turns
from discreet.web.pages import downloads


def use_cheap_hashes(patch: Callable[[Any, str, Any], None] = setattr) -> None:
    """Hash passwords at the lowest cost of Argon2: a hash of the real cost takes longer than most of the tests."""
    hasher = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1),))
    patch(accounts, "_hasher", hasher)
    patch(accounts, "_dummy_hash", hasher.hash("nobody has this password"))


def wait_for_slow_machines(patch: Callable[[Any, str, Any], None] = setattr) -> None:
    """Let requests wait as long as a busy machine needs.

    The product shows a page where a download takes ten seconds, and refuses a request, such as that for one of a page's charts,
    which waits for others of the same person for half a minute.
    """
    for module in (api_releases, downloads):
        patch(module, "WAIT_SECONDS", patient(60.0))
    patch(turns, "WAITING_SECONDS", 4 * patient(turns.WAITING_SECONDS))


def report_changes_soon() -> None:
    """Have pages learn of the end of a job, and of other people's changes, at once: the product asks twice a second."""
    events.stream_job.__defaults__ = (0.15,)
    events.Watcher.follow.__defaults__ = (0.3,)


if __name__ == "__main__":
    from discreet.cli import main

    use_cheap_hashes()
    wait_for_slow_machines()
    report_changes_soon()
    process.COMMAND = launch_command(sys.argv.pop(1))
    main()
