r"""The persons in a dictionary who are consistent with a disclosed record: $|\rho(y, \theta)|$, Lebanon et al., Definition 6.

Exact values are counted by groups (:func:`discreet.engine.classes.groups.count_agreeing_rows`); coarse cells and similar texts by
a relation between distinct values (:mod:`discreet.risks.decision.relation_counts`). A null on either side agrees with anything,
or is one more value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from discreet.engine.cells.agreement import agreeing_codes
from discreet.engine.cells.atoms import atoms_of, read_sides
from discreet.engine.cells.positions import kind_of
from discreet.engine.cells.reader import Reading
from discreet.engine.classes.groups import count_agreeing_rows, group_ids
from discreet.engine.encoding.columns import Column, encode_series
from discreet.engine.encoding.shared_codes import encode_shared
from discreet.engine.linkage.value_pairs import SLACK, merge_pairs, similar_pairs, similarities
from discreet.model.cells import ColumnCells
from discreet.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.risks.decision.relation_counts import ValueRelation

Missing = Literal["wildcard", "category"]


class Similarity(BaseModel):
    """When texts that are not equal agree."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    threshold: Annotated[float, Field(gt=0, le=1)] = Field(default=0.8, description="Jaro similarity from which values agree")
    of: Literal["attribute", "record"] = Field(
        default="attribute", description="each attribute must reach the threshold, or their mean over the record"
    )
    block: tuple[str, ...] = Field(default=(), description="attributes that must be equal; the others are compared by similarity")


def count_consistent(
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
    """For each disclosed record the number of rows of the dictionary that are consistent with it.

    Where ``coarse``, a disclosed cell agrees with every value it may stand for, by the declared ``cells`` or else the
    ``hierarchies``. ``true``: the dictionary holds the original values, so that a text that nothing explains is an error.

    >>> book = pl.DataFrame({"first": ["Mary", "Mary", "John"], "city": ["Rome", None, "Rome"]})
    >>> count_consistent(pl.DataFrame({"first": ["Mary", None], "city": ["Rome", "Rome"]}), book, ["first", "city"])
    array([2, 3])
    """
    if not disclosed.height or not dictionary.height:
        return np.zeros(disclosed.height, dtype=np.int64)
    relation = _Agreement(missing, similarity, hierarchies or {}, cells or {}, true)
    wide = coarse and any(relation.is_wide(disclosed[name], dictionary[name]) for name in attributes)
    if similarity is None and not wide:
        shared = encode_shared(disclosed, dictionary, [(name, name) for name in attributes])
        nulls = [codes.null if missing == "wildcard" else None for codes in shared]
        cardinalities = [codes.cardinality for codes in shared]
        return count_agreeing_rows([codes.left for codes in shared], [codes.right for codes in shared], cardinalities, nulls)
    return _by_relation(disclosed, dictionary, attributes, relation)


def _by_relation(
    disclosed: pl.DataFrame, dictionary: pl.DataFrame, attributes: Sequence[str], relation: _Agreement
) -> NDArray[np.int64]:
    from discreet.risks.decision.relation_counts import count_related

    queries, query_index, _ = _distinct(disclosed, attributes)
    rows, _, times = _distinct(dictionary, attributes)
    similarity = relation.similarity
    threshold = similarity.threshold - SLACK if similarity is not None and similarity.of == "record" else None
    related = [relation.related(queries[name], rows[name]) for name in attributes]
    return count_related(related, times, threshold)[query_index]


@dataclass(frozen=True)
class _Agreement:
    """When a disclosed cell and a value of a dictionary agree."""

    missing: Missing
    similarity: Similarity | None
    hierarchies: Mapping[str, Hierarchy]
    cells: Mapping[str, ColumnCells]
    true: bool

    def _read(self, left: Column, right: Column, name: str) -> list[Reading]:
        sides = [(left, self.cells.get(name)), (right, None)]
        return read_sides(sides, hierarchy=self.hierarchies.get(name), reference=1 if self.true else None)

    def is_wide(self, disclosed: pl.Series, listed: pl.Series) -> bool:
        """Whether agreement differs from equality: some cell stands for several values, or the types differ."""
        name = disclosed.name
        if (
            name not in self.cells
            and name not in self.hierarchies
            and disclosed.dtype == listed.dtype
            and disclosed.dtype != pl.String
        ):
            return False
        if kind_of(disclosed.dtype) != kind_of(listed.dtype):
            return True
        readings = self._read(encode_series(disclosed), encode_series(listed), name)
        labelled = name in self.cells and bool(self.cells[name].labels)
        return labelled or any(side.cells or side.blank[: len(side.plain)].any() for side in readings)

    def related(self, disclosed: pl.Series, listed: pl.Series) -> ValueRelation:
        """Which distinct values agree; a null has no code, or under ``missing: category`` is one more value."""
        from discreet.risks.decision.relation_counts import build_relation

        left, right = encode_series(disclosed), encode_series(listed)
        left_atoms, right_atoms = atoms_of(self._read(left, right, disclosed.name))
        agreeing_lists = agreeing_codes(left_atoms, right_atoms)
        pairs = [(np.repeat(np.arange(len(left_atoms.blank)), agreeing_lists.counts), agreeing_lists.members)]
        left_size, right_size = len(left.values), len(right.values)
        null_is_value = self.missing == "category"  # a null is then one more value, which agrees with ``*`` too
        for blank, other_size, swap in (
            (left_atoms.blank[:left_size], right_size, False),
            (right_atoms.blank[:right_size], left_size, True),
        ):
            codes = np.flatnonzero(blank)  # ``*`` agrees with every value
            star_pairs = (
                np.repeat(codes, other_size + null_is_value),
                np.tile(np.arange(other_size + null_is_value), len(codes)),
            )
            pairs.append(star_pairs[::-1] if swap else star_pairs)
        sizes = (left_size + null_is_value, right_size + null_is_value)
        side_codes = [column.codes.astype(np.int64) for column in (left, right)]
        if not null_is_value:
            side_codes = [np.where(column.is_null, -1, codes) for column, codes in zip((left, right), side_codes, strict=True)]
        else:
            pairs.append((np.array([left_size]), np.array([right_size])))
        agreeing, scores = merge_pairs(pairs, sizes[1]), None
        if self.similarity is not None and disclosed.name not in self.similarity.block:
            if self.similarity.of == "attribute":
                agreeing = merge_pairs([agreeing, similar_pairs(left.values, right.values, self.similarity.threshold)], sizes[1])
            else:
                scores = np.zeros(sizes)
                scores[:left_size, :right_size] = similarities(left.values, right.values)
                scores[agreeing] = 1.0
                agreeing = np.nonzero(scores >= self.similarity.threshold - SLACK)  # type: ignore[assignment]
        return build_relation((side_codes[0], side_codes[1]), sizes, agreeing, scores)


def _distinct(frame: pl.DataFrame, attributes: Sequence[str]) -> tuple[pl.DataFrame, NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows, the index of each row's distinct row, and the multiplicity of each distinct row."""
    columns = [encode_series(frame[name]) for name in attributes]
    ids, number = group_ids([(column.codes, column.cardinality) for column in columns], frame.height)
    first = np.empty(number, dtype=np.int64)
    first[ids[::-1]] = np.arange(frame.height - 1, -1, -1)
    return frame.select(attributes)[first], ids, np.bincount(ids, minlength=number).astype(np.int64)
