"""How many rows of one table agree with each row of another, counted by Spark.

Rows are collapsed to distinct ones with their number first, so a value that half the rows have is one row. A null is one more
value, or (wildcard) agrees with anything on either side: rows are then compared pattern of nulls by pattern of nulls, each pair
on the attributes that both sides know (as :func:`discreet.engine.classes.groups.count_agreeing_rows` does on one machine).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

COUNT, BEST = "discreet: count", "best"
_PATTERNS = "discreet: nulls left", "discreet: nulls right"
"""Hidden columns: which attributes are null in the row of the left side, and in that of the right side, as bits."""
MOST_PAIRS = 64


class TooManyPatternsError(Exception):
    """There are more than MOST_PAIRS pairs of patterns of nulls; each of them is a pass over the table."""


def quote(name: str) -> str:
    """A column's name as Spark's expressions take it."""
    return f"`{name.replace('`', '``')}`"


def col(name: str) -> Column:
    from pyspark.sql import functions as f

    return f.col(quote(name))


def count_distinct_rows(frame: DataFrame, names: Sequence[str], *, first: str | None = None) -> DataFrame:
    """The distinct rows, each with its number of records (COUNT), or with the least value of the column ``first`` (BEST)."""
    from pyspark.sql import functions as f

    aggregate = f.count(f.lit(1)).alias(COUNT) if first is None else f.min(col(first)).alias(BEST)
    return frame.groupBy(*[col(name) for name in names]).agg(aggregate)


def join_on_values(left: DataFrame, right: DataFrame, names: Sequence[str], how: str = "left") -> DataFrame:
    """Rows of the left with the other columns of the right for the same values; null equals null."""
    other = right.withColumnsRenamed({name: f"{name} of the other" for name in names})
    parts = [left[quote(name)].eqNullSafe(other[quote(f"{name} of the other")]) for name in names]
    condition = reduce(lambda first, second: first & second, parts)
    return left.join(other, condition, how).drop(*[f"{name} of the other" for name in names])


def count_agreeing(
    left: DataFrame, right: DataFrame, names: Sequence[str], *, wildcard: bool, extra: Sequence[str] = ()
) -> DataFrame:
    """For each distinct row of ``left`` how many rows of ``right`` agree with it, by the values of ``extra`` of those.

    Rows with which nothing agrees are left out. ``right`` comes from :func:`count_distinct_rows` over names and extra.
    """
    from pyspark.sql import functions as f

    rows = left.select(*[col(name) for name in names]).distinct()
    pairs = _collect_pattern_pairs(rows, right, names) if wildcard else [(0, 0)]
    if pairs == [(0, 0)] or not pairs:
        return join_on_values(rows, right, names, "inner")
    left_rows = _repeat_for_patterns(rows, names, pairs, 0)
    right_rows = _repeat_for_patterns(right, names, pairs, 1, extra)
    keys = [*_PATTERNS, *[_both_known(name) for name in names]]
    total = f.sum(col(COUNT)).alias(COUNT) if COUNT in right.columns else f.min(col(BEST)).alias(BEST)
    counted = right_rows.groupBy(*[col(name) for name in (*keys, *extra)]).agg(total)
    agreeing = join_on_values(left_rows, counted, keys, "inner")
    return agreeing.groupBy(*[col(name) for name in (*names, *extra)]).agg(total)


def _both_known(name: str) -> str:
    """The column with an attribute's value where both sides know it, else null."""
    return f"{name} known to both"


def _pattern(names: Sequence[str]) -> Any:
    """The attributes that are null in a row, as bits."""
    from pyspark.sql import functions as f

    parts = [f.when(col(name).isNull(), f.lit(1 << at)).otherwise(f.lit(0)) for at, name in enumerate(names)]
    return sum(parts[1:], parts[0]).cast("long")


def _collect_pattern_pairs(left: DataFrame, right: DataFrame, names: Sequence[str]) -> list[tuple[int, int]]:
    sides = [
        sorted(row[0] for row in frame.select(_pattern(names)).distinct().limit(MOST_PAIRS + 1).collect())
        for frame in (left, right)
    ]
    pairs = [(first, second) for first in sides[0] for second in sides[1]]
    if len(pairs) > MOST_PAIRS:
        raise TooManyPatternsError
    return pairs


def _repeat_for_patterns(
    frame: DataFrame, names: Sequence[str], pairs: Sequence[tuple[int, int]], side: int, extra: Sequence[str] = ()
) -> DataFrame:
    """Each row once for every pattern of the other side, with the values that both sides know."""
    from pyspark.sql import functions as f

    own, other = _PATTERNS[side], _PATTERNS[1 - side]
    patterns = f.array(*[f.lit(pattern).cast("long") for pattern in sorted({pair[1 - side] for pair in pairs})])
    repeated = frame.withColumn(own, _pattern(names)).withColumn(other, f.explode(patterns))
    unknown = col(own).bitwiseOR(col(other))
    common = {_both_known(name): f.when(unknown.bitwiseAND(f.lit(1 << at)) == 0, col(name)) for at, name in enumerate(names)}
    counts = [name for name in (COUNT, BEST) if side and name in frame.columns]
    columns = [*_PATTERNS, *(names if side == 0 else ()), *extra, *counts, *common]
    return repeated.withColumns(common).select(*[col(name) for name in columns])
