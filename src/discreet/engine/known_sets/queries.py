"""Who is counted and who asks: records in classes that tell the same attributes, and queries with what would be learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.known_sets.terms import Pattern

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engine.overlap.relations import Relation


@dataclass(frozen=True)
class RecordClass:
    """Records that tell the same attributes: their rows (all where None), and codes of rows and queries by attribute.

    ``relations`` says which codes of each attribute agree, of one class of all records; where it is empty, equal codes do.
    """

    rows: NDArray[np.uint32] | None
    size: int
    codes: Sequence[NDArray[Any]]
    query_codes: Sequence[NDArray[Any]]
    cardinalities: Sequence[int]
    relations: Sequence[Relation] = ()

    def for_queries(self, chosen: NDArray[np.int64]) -> RecordClass:
        """The same records, asked for by some of the queries."""
        return replace(self, query_codes=[codes[chosen] for codes in self.query_codes])


@dataclass(frozen=True)
class Queries:
    """Who asks: weights (C, the rest's D and P, the c of the singles and their places), and the pattern of each."""

    weight: NDArray[np.float64]
    rest: NDArray[np.float64]
    spread: NDArray[np.float64]
    single: NDArray[np.float64]
    singles: list[int]
    pattern: NDArray[np.int32]
    patterns: list[Pattern]

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def plain(self) -> bool:
        """Whether no sensitive attribute occurs in a kept set, so that every set finds the same consequence."""
        return not self.singles

    @cached_property
    def _blocked(self) -> dict[int, NDArray[np.bool_]]:
        """For each attribute that some pattern does not ask by, which patterns those are."""
        blocked: dict[int, NDArray[np.bool_]] = {}
        for at, shape in enumerate(self.patterns):
            for place in shape.unknown | shape.lost:
                blocked.setdefault(place, np.zeros(len(self.patterns), dtype=np.bool_))[at] = True
        return blocked

    def silent(self, place: int) -> NDArray[np.bool_] | None:
        """Which queries do not ask by an attribute, or None where all do."""
        blocked = self._blocked.get(place)
        return None if blocked is None else blocked[self.pattern]

    def of_patterns(self, begin: int, end: int) -> tuple[NDArray[np.int64], Queries]:
        """The queries with patterns from one number up to another, and which those are."""
        own = np.flatnonzero((self.pattern >= begin) & (self.pattern < end))
        return own, Queries(
            self.weight[own], self.rest[own], self.spread[own], self.single[own], self.singles,
            self.pattern[own] - np.int32(begin), self.patterns[begin:end],
        )  # fmt: skip
