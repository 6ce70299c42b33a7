"""Which values of two columns agree where that is more than being equal: coarse cells, and texts alike.

A release may say ``20..30`` where a dictionary says 25, or ``{Flu|Cold}`` where it says Flu: the coarse value agrees
with what it may stand for. By similarity two texts agree where Jaro's similarity reaches a threshold, as in the
experiments of seed 004 (0.8). Both work on distinct values, so their cost does not grow with the number of records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.together import alike, as_text
from discreet.errors import DataError
from discreet.model.cells import EVERYTHING, Interval, parse_group, parse_interval
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


def coarse_pairs(left: pl.Series, right: pl.Series, hierarchy: Hierarchy | None = None) -> Pairs:
    """Positions (left, right) of distinct values that agree: equal, or one inside the other, or overlapping."""
    one, two = alike(left, right)
    texts, others = as_text(one), as_text(two)
    found = [_equal(texts, others), *_inside(texts, others, hierarchy)]
    found += [(there, here) for here, there in _inside(others, texts, hierarchy)]
    return merged(found, len(others))


def merged(found: list[Pairs], width: int) -> Pairs:
    """Pairs from several lists, each once and in order."""
    width = max(width, 1)
    keys = np.unique(np.concatenate([one * width + two for one, two in found]))
    return keys // width, keys % width


def _equal(left: pl.Series, right: pl.Series) -> Pairs:
    ours = pl.DataFrame({"text": left, "left": np.arange(len(left))})
    theirs = pl.DataFrame({"text": right, "right": np.arange(len(right))})
    both = ours.join(theirs, on="text")
    return both["left"].to_numpy().astype(np.int64), both["right"].to_numpy().astype(np.int64)


def _inside(coarse: pl.Series, values: pl.Series, hierarchy: Hierarchy | None) -> list[Pairs]:
    """For each coarse cell the values that it may stand for."""
    texts = values.to_list()
    numbers = values.cast(pl.Float64, strict=False).to_numpy()
    intervals = {at: cell for at, text in enumerate(texts) if (cell := parse_interval(text)) is not None}
    groups = {at: group for at, text in enumerate(texts) if (group := parse_group(text)) is not None}
    place = {text: at for at, text in enumerate(texts)}
    under = hierarchy.members if hierarchy is not None else {}
    found = []
    for at, text in enumerate(coarse.to_list()):
        if text == EVERYTHING:
            inside = list(range(len(texts)))
        elif (interval := parse_interval(text)) is not None:
            inside = np.flatnonzero(_holding(interval, numbers)).tolist()
            inside += [other for other, cell in intervals.items() if _overlap(interval, cell)]
        elif (group := parse_group(text)) is not None:
            inside = [place[member] for member in group.members if member in place]
            inside += [other for other, cell in groups.items() if cell.members & group.members]
        elif text in under:
            inside = [place[leaf] for leaf in under[text] if leaf in place]
        else:
            continue
        found.append((np.full(len(inside), at, dtype=np.int64), np.array(inside, dtype=np.int64)))
    return found


def _holding(interval: Interval, numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    above = numbers >= interval.lower if interval.lower_inside else numbers > interval.lower
    below = numbers <= interval.upper if interval.upper_inside else numbers < interval.upper
    return np.asarray(above & below)


def _overlap(one: Interval, two: Interval) -> bool:
    low, high = max(one.lower, two.lower), min(one.upper, two.upper)
    return low < high or (low == high and low in one and low in two)


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
