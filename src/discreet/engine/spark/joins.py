"""How many rows of one table agree with each row of another, counted by Spark.

Rows are collapsed to distinct ones with their number first, so a value that half the rows have is one row. A null is one more
value, or (wildcard) agrees with anything on either side: rows are then compared pattern of nulls by pattern of nulls, each pair
on the attributes that both sides tell (as :func:`discreet.engine.classes.groups.consistent_counts` does on one machine).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

COUNT, BEST = "discreet: count", "best"
_ASKED, _HELD = "discreet: asked", "discreet: held"
MOST_PAIRS = 64


class TooManyPatternsError(Exception):
    """Nulls stand in more pairs of patterns than are worth a pass each."""


def quoted(name: str) -> str:
    """A column's name as Spark's expressions take it."""
    return f"`{name.replace('`', '``')}`"


def col(name: str) -> Column:
    from pyspark.sql import functions as f

    return f.col(quoted(name))


def distinct(frame: DataFrame, names: Sequence[str], *, first: str | None = None) -> DataFrame:
    """The distinct rows, each with how many there are of it, or with the least number in a column (as ``best``)."""
    from pyspark.sql import functions as f

    number = f.count(f.lit(1)).alias(COUNT) if first is None else f.min(col(first)).alias(BEST)
    return frame.groupBy(*[col(name) for name in names]).agg(number)


def joined(left: DataFrame, right: DataFrame, names: Sequence[str], how: str = "left") -> DataFrame:
    """Rows of the left with what the right says of the same values, a null being one more value."""
    other = right.withColumnsRenamed({name: f"{name} of the other" for name in names})
    parts = [left[quoted(name)].eqNullSafe(other[quoted(f"{name} of the other")]) for name in names]
    condition = reduce(lambda one, two: one & two, parts)
    return left.join(other, condition, how).drop(*[f"{name} of the other" for name in names])


def agreeing(asked: DataFrame, held: DataFrame, names: Sequence[str], *, wildcard: bool, extra: Sequence[str] = ()) -> DataFrame:
    """For each distinct row of ``asked`` how many rows of ``held`` agree with it, by the values of ``extra`` of those.

    Rows with which nobody agrees are left out. ``held`` is a frame of :func:`distinct` rows over names and extra.
    """
    from pyspark.sql import functions as f

    rows = asked.select(*[col(name) for name in names]).distinct()
    pairs = _pattern_pairs(rows, held, names) if wildcard else [(0, 0)]
    if pairs == [(0, 0)] or not pairs:
        return joined(rows, held, names, "inner")
    left = _spread(rows, names, pairs, 0)
    right = _spread(held, names, pairs, 1, extra)
    keys = [_ASKED, _HELD, *[f"{name} told" for name in names]]
    total = f.sum(col(COUNT)).alias(COUNT) if COUNT in held.columns else f.min(col(BEST)).alias(BEST)
    counted = right.groupBy(*[col(name) for name in (*keys, *extra)]).agg(total)
    found = joined(left, counted, keys, "inner")
    return found.groupBy(*[col(name) for name in (*names, *extra)]).agg(total)


def _pattern(names: Sequence[str]) -> Any:
    """The attributes that a row lacks, as bits."""
    from pyspark.sql import functions as f

    parts = [f.when(col(name).isNull(), f.lit(1 << at)).otherwise(f.lit(0)) for at, name in enumerate(names)]
    return sum(parts[1:], parts[0]).cast("long")


def _pattern_pairs(asked: DataFrame, held: DataFrame, names: Sequence[str]) -> list[tuple[int, int]]:
    sides = [
        sorted(row[0] for row in frame.select(_pattern(names)).distinct().limit(MOST_PAIRS + 1).collect())
        for frame in (asked, held)
    ]
    made = [(one, two) for one in sides[0] for two in sides[1]]
    if len(made) > MOST_PAIRS:
        raise TooManyPatternsError
    return made


def _spread(
    frame: DataFrame, names: Sequence[str], pairs: Sequence[tuple[int, int]], side: int, extra: Sequence[str] = ()
) -> DataFrame:
    """Each row once for every pattern of the other side, with the values that both sides tell."""
    from pyspark.sql import functions as f

    own = (_ASKED, _HELD)[side]
    others = f.array(*[f.lit(one).cast("long") for one in sorted({pair[1 - side] for pair in pairs})])
    made = frame.withColumn(own, _pattern(names)).withColumn((_HELD, _ASKED)[side], f.explode(others))
    told = {
        f"{name} told": f.when((col(_ASKED).bitwiseOR(col(_HELD))).bitwiseAND(f.lit(1 << at)) == 0, col(name))
        for at, name in enumerate(names)
    }
    kept = [*([*names] if side == 0 else []), *extra, *([name for name in (COUNT, BEST) if side and name in frame.columns])]
    return made.withColumns(told).select(
        _ASKED and col(_ASKED), col(_HELD), *[col(name) for name in kept], *[col(name) for name in told]
    )
