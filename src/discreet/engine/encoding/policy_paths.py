"""Resolving the files, database addresses and environment variables that a policy names.

A policy that an untrusted user may have written (in the web application) is confined: it can name files in its own folder only,
and no other file, address or environment variable of the machine.
"""

from __future__ import annotations

import os
from pathlib import Path

from discreet.errors import PolicyError
from discreet.model.policy import Policy


def resolve_path(policy: Policy, name: str | Path) -> Path:
    """The path of a file that a policy names; a relative name starts from the policy's folder."""
    path = Path(policy.folder or ".") / Path(name).expanduser()
    if policy.confined and (policy.folder is None or not _is_inside(path, Path(policy.folder))):
        raise _confinement_error(policy, f"the file '{name}'")
    return path


def resolve_address(policy: Policy, text: str) -> str:
    """A database address that a policy names; raises PolicyError where the policy is confined."""
    if policy.confined:
        raise _confinement_error(policy, "the address of a table")
    return text


def read_variable(policy: Policy, name: str) -> str | None:
    """The value of an environment variable that a policy names; None where it is not set."""
    if policy.confined:
        raise _confinement_error(policy, f"the environment variable {name}")
    return os.environ.get(name)


def _is_inside(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _confinement_error(policy: Policy, what: str) -> PolicyError:
    return PolicyError(f"{policy.origin} names {what}; on a server a policy can name only files of its own project")
