"""Which row of the release, and which row of the source, a record is: for the data controller alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from discreet.engine.encoding.record_links import linked, rows_of
from discreet.engine.runtime.dispatch import is_distributed
from discreet.masking.release import released
from discreet.model.microdata import Microdata
from discreet.model.results import Release

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Rows:
    """The places of the records of a masked table; either is None where nobody knows them."""

    sources: NDArray[np.int64] | None
    """For each record its row in the source, from 0; -1 where it was simulated."""
    places: NDArray[np.int64] | None
    """For each record its row in the release as it is written, from 0."""

    @classmethod
    def of(cls, original: Microdata, masked: Microdata | Release) -> Self:
        """The places in a release, or in a masked table that was read from a file.

        A release in memory has its rows in the order of the source, and is written in another. A file has them as they are
        written, and its link to the source is known where ``discreet.link`` gave one.
        """
        if not isinstance(masked, Release):
            known = not masked.is_initial
            return cls(linked(masked, original) if known else None, np.arange(len(masked)))
        sources = linked(masked.masked, original)
        if is_distributed(masked.masked):
            return cls(sources, None)
        return cls(sources, rows_of(masked.masked.records, released(masked).records))

    def source(self, at: int) -> int | None:
        """The row of the source, from 0, that a record comes from; None where it has none or nobody knows."""
        row = -1 if self.sources is None else int(self.sources[at])
        return row if row >= 0 else None

    def release(self, at: int) -> int | None:
        """The row of the written release, from 1."""
        row = -1 if self.places is None else int(self.places[at])
        return row + 1 if row >= 0 else None
