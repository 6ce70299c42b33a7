"""Which texts of two columns are alike.

By similarity two texts agree where Jaro's similarity reaches a threshold, as in the
experiments of Lebanon et al. (0.8). It works on distinct values, so its cost does not grow with the number of records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.encoding.shared_codes import as_text
from discreet.errors import DataError
from discreet.model.cells import EVERYTHING, parse_group, parse_interval
from discreet.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import NDArray

Pairs = tuple["NDArray[np.int64]", "NDArray[np.int64]"]

MOST_PAIRS = 2_000_000_000
MOST_KEPT = 200_000_000
SLACK = 1e-12
"""A similarity that reaches the threshold but for rounding reaches it."""
_CHUNK = 8_000_000


def is_coarse(series: pl.Series, hierarchy: Hierarchy | None = None) -> bool:
    """Whether a column holds coarse values: cells of the grammar, or a hierarchy's labels."""
    if series.dtype != pl.String:
        return False
    values = series.unique().drop_nulls()
    if hierarchy is not None and any(text in hierarchy.members and text not in hierarchy.position for text in values.to_list()):
        return True
    marked = values.filter(values.str.contains(r"^\s*(?:[\[({<>*]|[+-]?(?:[\d.]|inf).*\.\.)"))
    return any(text == EVERYTHING or parse_interval(text) or parse_group(text) for text in marked.to_list())


def merged(found: list[Pairs], width: int) -> Pairs:
    """Pairs from several lists, each once and in order."""
    width = max(width, 1)
    keys = np.unique(np.concatenate([one * width + two for one, two in found]))
    return keys // width, keys % width


def similar_pairs(left: pl.Series, right: pl.Series, threshold: float) -> Pairs:
    """Positions (left, right) of distinct values whose Jaro similarity is at least the threshold."""
    rows, columns = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for start, scores in _scores(left, right, threshold - SLACK):
        here, there = np.nonzero(scores >= threshold - SLACK)
        rows.append(here + start)
        columns.append(there)
    return np.concatenate(rows), np.concatenate(columns)


def similarities(left: pl.Series, right: pl.Series) -> NDArray[np.float64]:
    """Jaro's similarity of all pairs of distinct values."""
    if len(left) * len(right) > MOST_KEPT:
        raise DataError(
            f"'{left.name}' has {len(left):,} values here and {len(right):,} in the dictionary: too many pairs to keep for the "
            "similarity of whole records; ask for the similarity of attributes"
        )
    made = np.zeros((len(left), len(right)))
    for start, scores in _scores(left, right, 0.0):
        made[start : start + len(scores)] = scores
    return made


def _scores(left: pl.Series, right: pl.Series, cutoff: float) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Blocks of rows of the matrix of similarities; what lies below the cutoff is 0."""
    from rapidfuzz.distance import Jaro
    from rapidfuzz.process import cdist

    if len(left) * len(right) > MOST_PAIRS:
        raise DataError(
            f"'{left.name}' has {len(left):,} values here and {len(right):,} in the dictionary: too many pairs to compare by "
            "similarity; block on this attribute, or leave it out"
        )
    ours, theirs = as_text(left).to_list(), as_text(right).to_list()
    step = max(1, _CHUNK // max(len(theirs), 1))
    for start in range(0, len(ours), step):
        yield start, cdist(ours[start : start + step], theirs, scorer=Jaro.similarity, score_cutoff=cutoff, dtype=np.float64)
