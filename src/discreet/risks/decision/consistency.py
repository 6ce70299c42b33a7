r"""Who in a dictionary is consistent with a disclosed record: $|\rho(y, \theta)|$ of seed 004, Definition 6.

Exact values by group counts (:func:`discreet.engine.classes.groups.count_agreeing_rows`); coarse cells and similar texts by a
relation on distinct values (:mod:`discreet.risks.decision.relation_counts`). A null on either side agrees with anything,
or is one more value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from discreet.engine.cells.atoms import agreeing_codes, atoms_of, read_sides
from discreet.engine.cells.positions import kind_of
from discreet.engine.cells.reader import Reading
from discreet.engine.classes.groups import count_agreeing_rows, group_ids
from discreet.engine.encoding.columns import Column, encode_series
from discreet.engine.encoding.shared_codes import encode_shared
from discreet.engine.linkage.value_pairs import SLACK, merged, similar_pairs, similarities
from discreet.model.cells import ColumnCells
from discreet.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.risks.decision.relation_counts import Related

Missing = Literal["wildcard", "category"]


class Similarity(BaseModel):
    """When texts agree that are not equal."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    threshold: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.8, description="Jaro similarity from which values agree"
    )
    of: Literal["attribute", "record"] = Field(
        default="attribute", description="each attribute must reach the threshold, or their mean over the record"
    )
    block: tuple[str, ...] = Field(default=(), description="attributes that must be equal; the others are compared by similarity")


def consistent(
    disclosed: pl.DataFrame,
    dictionary: pl.DataFrame,
    attributes: Sequence[str],
    *,
    missing: Missing = "wildcard",
    similarity: Similarity | None = None,
    coarse: bool = True,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    cells: Mapping[str, ColumnCells] | None = None,
    true: bool = False,
) -> NDArray[np.int64]:
    """For each disclosed record how many rows of the dictionary are consistent with it.

    Where ``coarse``, a disclosed cell agrees with all it may stand for: ``cells`` says it of labels, ``hierarchies`` where
    that does not. ``true``: the dictionary holds the original values, so that a text it does not explain is an error.

    >>> book = pl.DataFrame({"first": ["Mary", "Mary", "John"], "city": ["Rome", None, "Rome"]})
    >>> consistent(pl.DataFrame({"first": ["Mary", None], "city": ["Rome", "Rome"]}), book, ["first", "city"])
    array([2, 3])
    """
    if not disclosed.height or not dictionary.height:
        return np.zeros(disclosed.height, dtype=np.int64)
    relation = _Meaning(missing, similarity, hierarchies or {}, cells or {}, true)
    wide = coarse and any(relation.is_wide(disclosed[name], dictionary[name]) for name in attributes)
    if similarity is None and not wide:
        shared = encode_shared(disclosed, dictionary, [(name, name) for name in attributes])
        nulls = [one.null if missing == "wildcard" else None for one in shared]
        cardinalities = [one.cardinality for one in shared]
        return count_agreeing_rows([one.left for one in shared], [one.right for one in shared], cardinalities, nulls)
    return _by_relation(disclosed, dictionary, attributes, relation)


def _by_relation(
    disclosed: pl.DataFrame, dictionary: pl.DataFrame, attributes: Sequence[str], relation: _Meaning
) -> NDArray[np.int64]:
    from discreet.risks.decision.relation_counts import related_counts

    asked, back, _ = _distinct(disclosed, attributes)
    held, _, times = _distinct(dictionary, attributes)
    similarity = relation.similarity
    threshold = similarity.threshold - SLACK if similarity is not None and similarity.of == "record" else None
    related = [relation.related(asked[name], held[name]) for name in attributes]
    return related_counts(related, times, threshold)[back]


@dataclass(frozen=True)
class _Meaning:
    """When a disclosed cell and a dictionary's agree."""

    missing: Missing
    similarity: Similarity | None
    hierarchies: Mapping[str, Hierarchy]
    cells: Mapping[str, ColumnCells]
    true: bool

    def _read(self, left: Column, right: Column, name: str) -> list[Reading]:
        sides = [(left, self.cells.get(name)), (right, None)]
        return read_sides(sides, hierarchy=self.hierarchies.get(name), reference=1 if self.true else None)

    def is_wide(self, one: pl.Series, two: pl.Series) -> bool:
        """Whether agreement is more than being equal: some cell stands for several values, or types differ."""
        name = one.name
        if name not in self.cells and name not in self.hierarchies and one.dtype == two.dtype and one.dtype != pl.String:
            return False
        if kind_of(one.dtype) != kind_of(two.dtype):
            return True
        readings = self._read(encode_series(one), encode_series(two), name)
        labelled = name in self.cells and bool(self.cells[name].labels)
        return labelled or any(side.cells or side.blank[: len(side.plain)].any() for side in readings)

    def related(self, one: pl.Series, two: pl.Series) -> Related:
        """Which distinct values agree; a null is no code, or under ``missing: category`` one more value."""
        from discreet.risks.decision.relation_counts import relate

        left, right = encode_series(one), encode_series(two)
        mine, theirs = atoms_of(self._read(left, right, one.name))
        starts, members = agreeing_codes(mine, theirs)
        pairs = [(np.repeat(np.arange(len(mine.blank)), np.diff(starts)), members)]
        known, held = len(left.values), len(right.values)
        more = self.missing == "category"  # then a null is one more value, with which a star agrees as well
        for silent, other, turn in ((mine.blank[:known], held, False), (theirs.blank[:held], known, True)):
            codes = np.flatnonzero(silent)  # a star agrees with every value
            both = (np.repeat(codes, other + more), np.tile(np.arange(other + more), len(codes)))
            pairs.append(both[::-1] if turn else both)
        sizes = (known + more, held + more)
        shown = [column.codes.astype(np.int64) for column in (left, right)]
        if not more:
            shown = [np.where(column.is_null, -1, codes) for column, codes in zip((left, right), shown, strict=True)]
        else:
            pairs.append((np.array([known]), np.array([held])))
        found, scores = merged(pairs, sizes[1]), None
        if self.similarity is not None and one.name not in self.similarity.block:
            if self.similarity.of == "attribute":
                found = merged([found, similar_pairs(left.values, right.values, self.similarity.threshold)], sizes[1])
            else:
                scores = np.zeros(sizes)
                scores[:known, :held] = similarities(left.values, right.values)
                scores[found] = 1.0
                found = np.nonzero(scores >= self.similarity.threshold - SLACK)  # type: ignore[assignment]
        return relate((shown[0], shown[1]), sizes, found, scores)


def _distinct(frame: pl.DataFrame, attributes: Sequence[str]) -> tuple[pl.DataFrame, NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows, which of them each row is, and how many rows each stands for."""
    columns = [encode_series(frame[name]) for name in attributes]
    ids, number = group_ids([(column.codes, column.cardinality) for column in columns], frame.height)
    first = np.empty(number, dtype=np.int64)
    first[ids[::-1]] = np.arange(frame.height - 1, -1, -1)
    return frame.select(attributes)[first], ids, np.bincount(ids, minlength=number).astype(np.int64)
