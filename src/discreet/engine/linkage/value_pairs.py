"""Pairs of similar texts of two columns.

Two texts agree where their Jaro similarity reaches a threshold, as in the experiments of Lebanon et al. (0.8). Only distinct
values are compared, so the cost does not grow with the number of records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.encoding.shared_codes import as_text
from discreet.engine.encoding.unique_keys import unique_keys
from discreet.errors import DataError
from discreet.model.cells import EVERYTHING, parse_group, parse_interval
from discreet.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import NDArray

Pairs = tuple["NDArray[np.int64]", "NDArray[np.int64]"]

MOST_PAIRS = 2_000_000_000
MOST_KEPT = 200_000_000
SLACK = 1e-12
"""Tolerance for rounding errors of a similarity at the threshold."""
_CHUNK = 8_000_000


def is_coarse(series: pl.Series, hierarchy: Hierarchy | None = None) -> bool:
    """Whether a column holds coarse values: cells of the grammar, or labels of a hierarchy."""
    if series.dtype != pl.String:
        return False
    values = series.unique().drop_nulls()
    if hierarchy is not None and any(text in hierarchy.members and text not in hierarchy.position for text in values.to_list()):
        return True
    marked = values.filter(values.str.contains(r"^\s*(?:[\[({<>*]|[+-]?(?:[\d.]|inf).*\.\.)"))
    return any(text == EVERYTHING or parse_interval(text) or parse_group(text) for text in marked.to_list())


def merge_pairs(pair_lists: list[Pairs], width: int) -> Pairs:
    """The union of several lists of pairs, sorted."""
    width = max(width, 1)
    keys = unique_keys(np.concatenate([left * width + right for left, right in pair_lists]))
    return keys // width, keys % width


def similar_pairs(left: pl.Series, right: pl.Series, threshold: float) -> Pairs:
    """Positions (left, right) of distinct values whose Jaro similarity is at least the threshold."""
    rows, columns = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for start, scores in _scores(left, right, threshold - SLACK):
        row, column = np.nonzero(scores >= threshold - SLACK)
        rows.append(row + start)
        columns.append(column)
    return np.concatenate(rows), np.concatenate(columns)


def similarities(left: pl.Series, right: pl.Series) -> NDArray[np.float64]:
    """The Jaro similarity of all pairs of distinct values."""
    if len(left) * len(right) > MOST_KEPT:
        raise DataError(
            f"'{left.name}' has {len(left):,} values here and {len(right):,} in the dictionary: too many pairs for the "
            "similarity of whole records; use the similarity of attributes (of: attribute)"
        )
    matrix = np.zeros((len(left), len(right)))
    for start, scores in _scores(left, right, 0.0):
        matrix[start : start + len(scores)] = scores
    return matrix


def _scores(left: pl.Series, right: pl.Series, cutoff: float) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Blocks of rows of the similarity matrix; similarities below the cutoff are 0."""
    from rapidfuzz.distance import Jaro
    from rapidfuzz.process import cdist

    if len(left) * len(right) > MOST_PAIRS:
        raise DataError(
            f"'{left.name}' has {len(left):,} values here and {len(right):,} in the dictionary: too many pairs to compare by "
            "similarity; block on this attribute, or leave it out"
        )
    left_texts, right_texts = as_text(left).to_list(), as_text(right).to_list()
    step = max(1, _CHUNK // max(len(right_texts), 1))
    for start in range(0, len(left_texts), step):
        yield (
            start,
            cdist(left_texts[start : start + step], right_texts, scorer=Jaro.similarity, score_cutoff=cutoff, dtype=np.float64),
        )
