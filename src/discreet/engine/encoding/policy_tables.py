"""Tables that a parameter names: a dictionary, a list of targets, a file of weights.

Measures and methods may not import the converter, and the engine lies below it: the function that reads a table is a
service that the package provides (:mod:`discreet.model.services`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.engine.encoding.policy_paths import address, place
from discreet.errors import SourceError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.services import service

if TYPE_CHECKING:
    import polars as pl


def load_table(source: Any, policy: Policy) -> pl.DataFrame:
    """The table behind a file name, a database URL or a frame that a policy's parameter names.

    A relative file name starts from the policy's folder. The policy's words for missing values hold; its other
    attributes and reading options speak of the microdata, not of this table, and do not.
    """
    place = resolve(source, policy)
    if isinstance(place, Path) and not place.exists():
        raise SourceError(f"{place}: there is no such file")
    loaded: Microdata = service("read_table")(str(place) if isinstance(place, Path) else place, Policy(missing=policy.missing))
    return loaded.frame


def written(source: Any, policy: Policy) -> tuple[int, int] | None:
    """When a file that a parameter names was last written, and its size; None for what does not tell, such as a database."""
    place = resolve(source, policy)
    if not isinstance(place, Path):
        return None
    try:
        found = place.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def resolve(source: Any, policy: Policy) -> Any:
    """A file name as a path from the policy's folder; a URL or a frame as it is."""
    if not isinstance(source, str | Path):
        return source
    return address(policy, str(source)) if "://" in str(source) else place(policy, source)
