"""The files, tables and variables that a policy names, found from its folder.

A policy that a stranger may have written (in the web application) is confined: it can name files in its own folder and
nothing else of the machine: no other file, no address, no variable of the environment.
"""

from __future__ import annotations

import os
from pathlib import Path

from discreet.errors import PolicyError
from discreet.model.policy import Policy


def place(policy: Policy, name: str | Path) -> Path:
    """A file that a policy names; a relative name starts from the policy's folder."""
    found = Path(policy.folder or ".") / Path(name).expanduser()
    if policy.confined and (policy.folder is None or not _inside(found, Path(policy.folder))):
        raise _refused(policy, f"the file '{name}'")
    return found


def address(policy: Policy, text: str) -> str:
    """An address that a policy names."""
    if policy.confined:
        raise _refused(policy, "the address of a table")
    return text


def variable(policy: Policy, name: str) -> str | None:
    """A variable of the environment that a policy names; None where it is not set."""
    if policy.confined:
        raise _refused(policy, f"the environment variable {name}")
    return os.environ.get(name)


def _inside(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _refused(policy: Policy, what: str) -> PolicyError:
    return PolicyError(f"{policy.origin} names {what}; on a server a policy can name only files of its own project")
