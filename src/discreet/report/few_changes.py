"""Attributes of which all values but a few are in the release as they are.

Whoever has the release has nearly all of the original column of such an attribute. A statistic of the original (a mean, an
entropy, counts by value) or the information loss is then one equation for the few values that are not released, and with several
digits its solution is the value itself. A public report therefore shows no such statistic of these attributes.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from discreet.engine.encoding.record_links import original_rows
from discreet.engine.encoding.shared_codes import as_text
from discreet.model.microdata import Microdata
from discreet.report.small_counts import is_small


def attributes_with_few_changes(original: Microdata, masked: Microdata) -> list[str]:
    """The attributes of which one to four original values are not in the release, in their order.

    >>> from discreet.testing import table
    >>> before = table({"age": [20, 30, 40], "sex": ["f", "m", "f"]}, key=["age", "sex"])
    >>> after = before.with_columns({"age": pl.Series([20, None, 40])})
    >>> attributes_with_few_changes(before, after)
    ['age']
    """
    links = original_rows(masked, original)
    rows = None if links is None else np.flatnonzero(links >= 0)
    names = []
    for name in original.columns:
        if name not in masked.columns:
            few = is_small(len(original))
        else:
            before, after = _comparable(original.frame[name], masked.frame[name])
            few = is_small(_count_missing_values(before, after))
            if not few and links is not None and rows is not None:
                # exchanged values are all in the release, but the loss reveals how far apart a few of them are
                pairs = before.gather(links[rows]), after.gather(rows)
                few = is_small(int(pairs[0].ne_missing(pairs[1]).sum()))
        if few:
            names.append(name)
    return names


def _count_missing_values(before: pl.Series, after: pl.Series) -> int:
    """How many original values have no equal in the release, each of which is used once; O(records)."""
    counts = before.alias("value").to_frame().group_by("value").len("before")
    released = after.alias("value").to_frame().group_by("value").len("after")
    both = counts.join(released, on="value", how="left", nulls_equal=True).with_columns(pl.col("after").fill_null(0))
    lost = pl.col("before").cast(pl.Int64) - pl.col("after").cast(pl.Int64)
    return int(both.select(lost.clip(lower_bound=0).sum()).item())


def _comparable(before: pl.Series, after: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Two columns of the same type: numbers as numbers, everything else as text."""
    if before.dtype == after.dtype:
        return before, after
    if before.dtype.is_numeric() and after.dtype.is_numeric():
        return before.cast(pl.Float64), after.cast(pl.Float64)
    return as_text(before), as_text(after)
