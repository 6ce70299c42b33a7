"""Scores by record as a file: one row a record, in the order of the source, columns MEASURE.FIELD."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.engine.runtime.dispatch import Written
from discreet.errors import DataError
from discreet.model.score import Score


def write_records(found: Mapping[str, Score], target: Path, *, overwrite: bool = False) -> None:
    """Write what each measure says of each record; scores that another engine holds are written by it."""
    import polars as pl

    from discreet.convert import write_target
    from discreet.model.microdata import Microdata

    if found and all(isinstance(score, Written) for score in found.values()):
        elsewhere: Any = next(iter(found.values()))
        elsewhere.write_all(found, str(target), overwrite=overwrite)
        return
    frames = {name: score.per_record for name, score in found.items() if score.per_record is not None}
    if not frames:
        raise DataError(f"{target}: none of {', '.join(found)} says anything of single records")
    heights = {frame.height for frame in frames.values()}
    if len(heights) > 1:
        told = ", ".join(f"{name} {frame.height:,}" for name, frame in frames.items())
        raise DataError(f"{target}: the measures have different numbers of rows ({told}); write them one by one with -m")
    named = [frame.rename({field: f"{name}.{field}" for field in frame.columns}) for name, frame in frames.items()]
    write_target(Microdata(pl.concat(named, how="horizontal")), target, private=True, overwrite=overwrite)
