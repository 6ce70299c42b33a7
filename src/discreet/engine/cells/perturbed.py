"""Values that masking replaced by others: whoever knows the rule applies it to what he knows before he searches the release."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from discreet.engine.cells.comparison import compare_cells, link_rows
from discreet.model.microdata import Microdata


def with_perturbed_values(original: Microdata, data: Microdata, names: Sequence[str]) -> Microdata:
    """The original with the released value in place of a value that its own released cell does not contain.

    A column whose type was changed by masking is left as it is: its labels contain the original values, or are drawn at random.
    """
    linked = link_rows(original, data)
    if linked is None:
        return original
    changed: dict[str, pl.Series] = {}
    for name in names:
        true, released = original.frame[name], data.frame[name]
        if true.dtype != released.dtype and not (true.dtype.is_numeric() and released.dtype.is_numeric()):
            continue
        false = np.flatnonzero(compare_cells(original, data, name, linked).false)
        if not len(false):
            continue
        values = released.gather(linked.masked[false])
        common = true.dtype if true.dtype == released.dtype else pl.Float64
        changed[name] = true.cast(common).scatter(linked.original[false], values.cast(common))
    return original.with_columns(changed) if changed else original
