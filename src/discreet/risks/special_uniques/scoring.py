"""Scores of equivalence classes, from which both engines take summary, attributes and records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.classes.distinct_classes import DistinctClasses
from discreet.engine.classes.groups import count_agreeing_rows
from discreet.engine.special_uniques.scores import sum_scores, weigh_sizes
from discreet.engine.special_uniques.walk import DistinctKeys, MinimalUniques, count_minimal_uniques, order_classes
from discreet.risks.special_uniques.intrusion import simulate_intrusion

if TYPE_CHECKING:
    from numpy.typing import NDArray

Summary = dict[str, int | float | Mapping[str, int | float] | None]


@dataclass(frozen=True)
class ScoredClasses:
    """The summary, one row per attribute, and the values of each row of ``distinct``."""

    summary: Summary
    per_attribute: pl.DataFrame
    distinct: DistinctKeys
    score: NDArray[np.float64]
    dis: NDArray[np.float64]
    minimal_uniques: NDArray[np.int64]
    smallest: NDArray[np.int64]

    def list_values(self, rows: NDArray[np.int64]) -> pl.DataFrame:
        """The values per record of these rows of ``distinct``."""
        sizes = pl.Series(self.smallest[rows])
        return pl.DataFrame(
            {
                "dis": self.dis[rows],
                "score": self.score[rows],
                "minimal_uniques": self.minimal_uniques[rows],
                "smallest": pl.select(pl.when(sizes > 0).then(sizes)).to_series(),
            }
        )


def score_classes(plugin: Any, names: Sequence[str], classes: DistinctClasses, nulls: list[int | None]) -> ScoredClasses:
    """Search the classes with the parameters of the measure ``plugin``."""
    distinct = order_classes(classes, nulls)
    counts = count_minimal_uniques(distinct, plugin.max_size, plugin.missing)
    weights = weigh_sizes(plugin.scores, len(names), plugin.max_size)
    rows, unique = len(distinct.records), distinct.candidates
    score = np.zeros(rows, dtype=np.float64)
    score[:unique] = sum_scores(counts.by_record, weights)
    minimal_uniques, smallest = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
    for size in range(len(weights), 0, -1):
        number = counts.by_record[size - 1]
        minimal_uniques[:unique] += number
        smallest[:unique][number > 0] = size
    # without scores every DIS is 0, and agreement with nulls takes long to count
    uniques, in_pairs = _count_uniques_and_pairs(classes, nulls, plugin.missing) if score.any() else (0, 0)
    dis = simulate_intrusion(score, len(names), uniques, in_pairs, plugin.sampling_fraction, plugin.pairs)
    by_size = counts.by_record.sum(axis=1, dtype=np.int64)
    records = int(classes.counts.sum())
    summary: Summary = {
        "records": int((minimal_uniques > 0).sum()),
        "minimal_uniques": int(by_size.sum()),
        "by_size": {str(size): int(number) for size, number in enumerate(by_size.tolist(), start=1)},
        "high_risk": int((score > plugin.threshold).sum()),
        "score_sum": float(by_size @ weights),
        "score_max": float(score.max(initial=0.0)),
        "dis_mean": float(np.sort(dis).sum() / records) if records else 0.0,
        "dis_max": float(dis.max(initial=0.0)),
    }
    attributes = _tabulate_attributes(names, counts, weights)
    return ScoredClasses(summary, attributes, distinct, score, dis, minimal_uniques, smallest)


def _count_uniques_and_pairs(classes: DistinctClasses, nulls: Sequence[int | None], missing: str) -> tuple[int, int]:
    """Records that are alone on all keys, and records in classes of exactly two."""
    sizes = classes.counts
    if missing == "wildcard" and any(null is not None for null in nulls):
        sizes = count_agreeing_rows(classes.codes, classes.codes, classes.cardinalities, nulls, classes.counts)
    return int(classes.counts[sizes == 1].sum()), int(classes.counts[sizes == 2].sum())


def sum_all_scores(counts: MinimalUniques, weights: NDArray[np.float64]) -> float:
    """The sum of the scores of all records."""
    return float(counts.by_record.sum(axis=1, dtype=np.int64) @ weights)


def _tabulate_attributes(names: Sequence[str], counts: MinimalUniques, weights: NDArray[np.float64]) -> pl.DataFrame:
    """What each key contributes: the minimal sample uniques that contain it, their scores, and the share of all scores."""
    total = sum_all_scores(counts, weights)
    by_key = np.array([by_value.sum(axis=1) for by_value in counts.by_value])
    contribution = by_key @ weights
    return pl.DataFrame(
        {
            "attribute": list(names),
            "minimal_uniques": by_key.sum(axis=1),
            "contribution": contribution,
            "share": contribution / total if total else np.zeros(len(names)),
        }
    )
