"""Tables that a parameter names: a dictionary, a list of targets, a file of weights.

Measures and methods may not import the converter (rooms of one rank do not know each other), and the engine lies
below it. So the converter is looked up by name when a file is first asked for: the one place where a lower room
calls a higher one, and only for what a policy names.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.engine.encoding.policy_paths import address, place
from discreet.errors import SourceError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

if TYPE_CHECKING:
    import polars as pl

READER = ("discreet.convert", "read_source")


def load_table(source: Any, policy: Policy) -> pl.DataFrame:
    """The table behind a file name, a database URL or a frame that a policy's parameter names.

    A relative file name starts from the policy's folder. The policy's words for missing values hold; its other
    attributes and reading options speak of the microdata, not of this table, and do not.
    """
    place = resolve(source, policy)
    if isinstance(place, Path) and not place.exists():
        raise SourceError(f"{place}: there is no such file")
    module, function = READER
    loaded: Microdata = getattr(import_module(module), function)(
        str(place) if isinstance(place, Path) else place, Policy(missing=policy.missing)
    )
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
