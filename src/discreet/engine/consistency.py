r"""Who in a dictionary is consistent with a disclosed record: $|\rho(y, \theta)|$ of seed 004, Definition 6.

Exact values by group counts (:func:`discreet.engine.groups.consistent_counts`); coarse cells and similar texts by a
relation on distinct values (:mod:`discreet.engine.related`). A null on either side agrees with anything, or is one
more value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from discreet.engine.columns import encode_series
from discreet.engine.groups import consistent_counts, group_ids
from discreet.engine.together import encode_together
from discreet.engine.value_pairs import SLACK, coarse_pairs, is_coarse, merged, similar_pairs, similarities
from discreet.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.engine.related import Related

Missing = Literal["wildcard", "category"]


class Similarity(BaseModel):
    """When texts agree that are not equal."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    threshold: Annotated[float, Field(gt=0, le=1)] = Field(default=0.8, description="Jaro similarity from which values agree")
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
) -> NDArray[np.int64]:
    """For each disclosed record how many rows of the dictionary are consistent with it.

    Where ``coarse`` a cell of the grammar, or a label of the attribute's hierarchy, agrees with all it may stand for.

    >>> book = pl.DataFrame({"first": ["Mary", "Mary", "John"], "city": ["Rome", None, "Rome"]})
    >>> consistent(pl.DataFrame({"first": ["Mary", None], "city": ["Rome", "Rome"]}), book, ["first", "city"])
    array([2, 3])
    """
    if not disclosed.height or not dictionary.height:
        return np.zeros(disclosed.height, dtype=np.int64)
    trees = hierarchies or {}
    wide = coarse and any(is_coarse(frame[name], trees.get(name)) for name in attributes for frame in (disclosed, dictionary))
    if similarity is None and not wide:
        shared = encode_together(disclosed, dictionary, [(name, name) for name in attributes])
        nulls = [one.null if missing == "wildcard" else None for one in shared]
        cardinalities = [one.cardinality for one in shared]
        return consistent_counts([one.left for one in shared], [one.right for one in shared], cardinalities, nulls)
    return _by_relation(disclosed, dictionary, attributes, missing, similarity, trees)


def _by_relation(
    disclosed: pl.DataFrame,
    dictionary: pl.DataFrame,
    attributes: Sequence[str],
    missing: Missing,
    similarity: Similarity | None,
    trees: Mapping[str, Hierarchy],
) -> NDArray[np.int64]:
    from discreet.engine.related import related_counts

    asked, back, _ = _distinct(disclosed, attributes)
    held, _, times = _distinct(dictionary, attributes)
    threshold = similarity.threshold - SLACK if similarity is not None and similarity.of == "record" else None
    related = [_relation(asked[name], held[name], missing, similarity, trees.get(name)) for name in attributes]
    return related_counts(related, times, threshold)[back]


def _relation(one: pl.Series, two: pl.Series, missing: Missing, similarity: Similarity | None, tree: Hierarchy | None) -> Related:
    from discreet.engine.related import relate

    if missing == "category":
        one, two = one.cast(pl.String).fill_null(_NO_VALUE), two.cast(pl.String).fill_null(_NO_VALUE)
    left, right = encode_series(one), encode_series(two)
    sizes = (len(left.values), len(right.values))
    codes = [np.where(column.is_null, -1, column.codes.astype(np.int64)) for column in (left, right)]
    pairs, scores = coarse_pairs(left.values, right.values, tree), None
    if similarity is not None and one.name not in similarity.block:
        if similarity.of == "attribute":
            pairs = merged([pairs, similar_pairs(left.values, right.values, similarity.threshold)], sizes[1])
        else:
            scores = similarities(left.values, right.values)
            scores[pairs] = 1.0
            pairs = np.nonzero(scores >= similarity.threshold - SLACK)  # type: ignore[assignment]
    return relate((codes[0], codes[1]), sizes, pairs, scores)


_NO_VALUE = "\x00"
"""A null as one more value: a text that no file holds and no cell of the grammar is."""


def _distinct(frame: pl.DataFrame, attributes: Sequence[str]) -> tuple[pl.DataFrame, NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows, which of them each row is, and how many rows each stands for."""
    columns = [encode_series(frame[name]) for name in attributes]
    ids, number = group_ids([(column.codes, column.cardinality) for column in columns], frame.height)
    first = np.empty(number, dtype=np.int64)
    first[ids[::-1]] = np.arange(frame.height - 1, -1, -1)
    return frame.select(attributes)[first], ids, np.bincount(ids, minlength=number).astype(np.int64)
