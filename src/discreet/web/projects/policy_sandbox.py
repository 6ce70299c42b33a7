"""A policy that comes over the web names no file or database of the server's: only tables in the project's own folder.

On a command line whoever writes the policy may read the files it names; here they may not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath, PureWindowsPath
from typing import Any

from discreet.convert.databases.address import SCHEMES
from discreet.convert.files.formats import FORMATS
from discreet.web.errors import Invalid

FOLDER = "files"
"""Where in a project's folder a relative file name is looked for."""
_ALWAYS = ("file", "key_file")
"""Fields that name a file whatever its suffix."""
_URL = re.compile(rf"\s*(?:{'|'.join(SCHEMES)})(?:\+\w+)?://", re.IGNORECASE)


def check(policy: Mapping[str, Any]) -> None:
    """Raise where a policy (as plain values) names something outside."""
    for path, field, text in _texts(policy, "", ""):
        if _URL.match(text):
            raise Invalid(f"{path}: a policy on this server cannot name a database; import its table as a dataset")
        is_file = field in _ALWAYS or text.lower().endswith(tuple(FORMATS))
        if is_file and not _inside(text):
            raise Invalid(f"{path}: a policy on this server cannot name a file outside its project; got '{text[:80]}'")


def _inside(text: str) -> bool:
    paths = (PurePath(text), PureWindowsPath(text))
    return not any(one.is_absolute() or one.drive or ".." in one.parts for one in paths) and not text.startswith("~")


def _texts(value: Any, path: str, field: str) -> Iterator[tuple[str, str, str]]:
    """Every text in a document with where it stands and the field it belongs to; keys are names, not values."""
    if isinstance(value, str):
        yield path, field, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _texts(inner, f"{path}.{name}".lstrip("."), str(name))
    elif isinstance(value, list | tuple):
        for at, inner in enumerate(value, 1):
            yield from _texts(inner, f"{path}.{at}".lstrip("."), field)
