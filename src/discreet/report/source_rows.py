"""The row numbers of a record in the source and in the written release; confidential."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from discreet.engine.encoding.record_links import original_rows, positions_of_records
from discreet.engine.runtime.dispatch import is_distributed
from discreet.masking.release import released_records
from discreet.model.microdata import Microdata
from discreet.model.results import Release

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class RowNumbers:
    """The row numbers of the records of a masked table; None where they are not known."""

    source_rows: NDArray[np.int64] | None
    """For each record its row in the source, from 0; -1 for a synthetic record."""
    release_rows: NDArray[np.int64] | None
    """For each record its row in the release as it is written, from 0."""

    @classmethod
    def of(cls, original: Microdata, masked: Microdata | Release) -> Self:
        """The row numbers of a release, or of a masked table that was read from a file.

        The rows of a release in memory are in the order of the source, and are shuffled when it is written. A file has the
        written order, and its link to the source is known only after ``discreet.link``.
        """
        if not isinstance(masked, Release):
            has_link = not masked.is_initial
            return cls(original_rows(masked, original) if has_link else None, np.arange(len(masked)))
        source_rows = original_rows(masked.masked, original)
        if is_distributed(masked.masked):
            return cls(source_rows, None)
        return cls(source_rows, positions_of_records(masked.masked.records, released_records(masked)))

    def in_source(self, record: int) -> int | None:
        """The source row of a record, from 0; None for a synthetic record and where it is not known."""
        row = -1 if self.source_rows is None else int(self.source_rows[record])
        return row if row >= 0 else None

    def in_release(self, record: int) -> int | None:
        """The row of a record in the written release, from 1; None where it is not known."""
        row = -1 if self.release_rows is None else int(self.release_rows[record])
        return row + 1 if row >= 0 else None
