"""What the options require of single columns: to be unchanged, or not to be suppressed too often."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from discreet.engine.encoding.record_links import positions_of_records
from discreet.model.cells import EVERYTHING
from discreet.model.microdata import Microdata
from discreet.selection.options import SelectOptions


def share_suppressed(original: Microdata, masked: Microdata, name: str) -> float:
    """The share of the values of a column that are suppressed in the masked table and were not in the original."""
    present = len(original) - original.frame[name].null_count()
    if not present or not len(masked):
        return 0.0
    if name not in masked.columns:
        return 1.0
    column = masked.frame[name]
    blank = column.null_count()
    if column.dtype == pl.String:
        blank += int((column == EVERYTHING).sum())
    missing_before = original.frame[name].null_count() / len(original)
    return max(0.0, (blank / len(masked) - missing_before) / (1 - missing_before))


def judge_options(options: SelectOptions, original: Microdata, masked: Microdata, blank: Mapping[str, float]) -> dict[str, float]:
    """By how much a plan misses what the options require of columns: to be unchanged, or not to be suppressed too often."""
    missed = {
        f"keep {name}": share - (1 - blank[name]) for name, share in options.keep.items() if 1 - blank[name] < share - 1e-12
    }
    rows = positions_of_records(masked.records, original.records) if options.protect else None
    for name in options.protect:
        kept = name in masked.columns and rows is not None and bool((rows >= 0).all())
        if not kept or not original.frame[name].gather(rows.tolist() if rows is not None else []).equals(masked.frame[name]):
            missed[f"protect {name}"] = 1.0
    return missed
