"""Scores per record as a file: one row per record, in the order of the source, columns MEASURE.FIELD."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.engine.runtime.dispatch import WritesRecords
from discreet.errors import DataError
from discreet.model.score import Score


def write_records(scores: Mapping[str, Score], target: Path, *, overwrite: bool = False) -> None:
    """Write the numbers of each measure per record; scores held by another engine are written by that engine."""
    import polars as pl

    from discreet.convert import write_target
    from discreet.model.microdata import Microdata

    if scores and all(isinstance(score, WritesRecords) for score in scores.values()):
        remote: Any = next(iter(scores.values()))
        remote.write_all(scores, str(target), overwrite=overwrite)
        return
    frames = {name: score.per_record for name, score in scores.items() if score.per_record is not None}
    if not frames:
        raise DataError(f"{target}: none of {', '.join(scores)} gives numbers per record")
    heights = {frame.height for frame in frames.values()}
    if len(heights) > 1:
        sizes = ", ".join(f"{name} {frame.height:,}" for name, frame in frames.items())
        raise DataError(f"{target}: the measures have different numbers of rows ({sizes}); write them one by one with -m")
    renamed = [frame.rename({field: f"{name}.{field}" for field in frame.columns}) for name, frame in frames.items()]
    write_target(Microdata(pl.concat(renamed, how="horizontal")), target, private=True, overwrite=overwrite)
