"""Tables that a parameter names: a dictionary, a list of targets, a file of weights.

Measures, methods and the engine may not import the converter, so the function that reads a table is a registered service
(:mod:`discreet.model.services`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.engine.encoding.policy_paths import resolve_address, resolve_path
from discreet.errors import SourceError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.services import get_service

if TYPE_CHECKING:
    import polars as pl


def load_table(source: Any, policy: Policy) -> pl.DataFrame:
    """The table behind a file name, a database URL or a frame that a policy's parameter names.

    A relative file name starts from the policy's folder. The policy's texts for missing values apply; its attributes and reading
    options describe the microdata, not this table, and do not.
    """
    location = resolve_source(source, policy)
    if isinstance(location, Path) and not location.exists():
        raise SourceError(f"{location}: there is no such file")
    loaded: Microdata = get_service("read_table")(
        str(location) if isinstance(location, Path) else location, Policy(missing=policy.missing)
    )
    return loaded.frame


def file_version(source: Any, policy: Policy) -> tuple[int, int] | None:
    """Modification time and size of a file that a parameter names; None for anything else, such as a database table."""
    location = resolve_source(source, policy)
    if not isinstance(location, Path):
        return None
    try:
        status = location.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def resolve_source(source: Any, policy: Policy) -> Any:
    """A file name as a path from the policy's folder; a URL or a frame as it is."""
    if not isinstance(source, str | Path):
        return source
    return resolve_address(policy, str(source)) if "://" in str(source) else resolve_path(policy, source)
