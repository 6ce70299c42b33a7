"""Policies from the web may refer only to files in the project's own folder, not to other files or databases of the server.

On the command line the author of a policy has access to the files it names; on a server they have not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath, PureWindowsPath
from typing import Any

from discreet.convert.databases.address import SCHEMES
from discreet.convert.files.formats import FORMATS
from discreet.convert.places.object_stores import SCHEMES as OBJECT_SCHEMES
from discreet.web.errors import InvalidRequest

FOLDER = "files"
"""The subfolder of a project's folder that relative file names refer to."""
_FILE_FIELDS = ("file", "key_file")
"""Fields that always hold a file name, whatever its suffix."""
_URL = re.compile(rf"\s*(?:{'|'.join((*SCHEMES, *OBJECT_SCHEMES))})(?:\+\w+)?://", re.IGNORECASE)


def check_confined(policy: Mapping[str, Any]) -> None:
    """Raise if a policy (as JSON values) refers to a database or to a file outside the project's folder."""
    for path, field, text in _iterate_texts(policy, "", ""):
        if _URL.match(text):
            raise InvalidRequest(f"{path}: a policy on this server cannot name a database; import its table as a dataset")
        is_file = field in _FILE_FIELDS or text.lower().endswith(tuple(FORMATS))
        if is_file and not _is_inside(text):
            raise InvalidRequest(f"{path}: a policy on this server cannot name a file outside its project; got '{text[:80]}'")


def _is_inside(text: str) -> bool:
    paths = (PurePath(text), PureWindowsPath(text))
    return not any(path.is_absolute() or path.drive or ".." in path.parts for path in paths) and not text.startswith("~")


def _iterate_texts(value: Any, path: str, field: str) -> Iterator[tuple[str, str, str]]:
    """Yield path, field name and text of every text value in a document; keys of mappings are not values."""
    if isinstance(value, str):
        yield path, field, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _iterate_texts(inner, f"{path}.{name}".lstrip("."), str(name))
    elif isinstance(value, list | tuple):
        for position, inner in enumerate(value, 1):
            yield from _iterate_texts(inner, f"{path}.{position}".lstrip("."), field)
