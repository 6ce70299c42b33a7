"""Private copies of what is not a file in a folder: standard input, a member of an archive, an object of a store.

The copy lies in a folder that only its owner can open. It is removed as soon as nothing refers to it any more, and at the latest
when the process ends.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import DiscreetError, Redacted


class StagingFolder:
    """A private temporary folder that is removed with the last reference to this object."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="discreet-"))  # mkdtemp creates it with mode 0700
        self._remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def remove(self) -> None:
        """Remove the folder now."""
        self._remove()


@dataclass(frozen=True)
class PlacedFile:
    """A file to read, the name that messages and reports give it, and the folder that must last as long as it is read."""

    path: Path
    name: str
    folder: StagingFolder | None = None

    @property
    def is_copy(self) -> bool:
        """Whether the file is a private copy of something else."""
        return self.folder is not None


@contextmanager
def named_errors(files: Sequence[PlacedFile]) -> Iterator[None]:
    """Put the displayed names in the place of the copies' paths in the messages of errors."""
    try:
        yield
    except DiscreetError as error:
        text = str(error)
        for file in files:
            if file.is_copy:
                text = text.replace(str(file.path), file.name)
        if text == str(error):
            raise
        raise type(error)(Redacted(text)) from None
