"""Scores per record as a file: one row per record, in the order of the source, columns MEASURE.FIELD."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.engine.runtime.dispatch import WritesRecords
from discreet.errors import DataError
from discreet.model.score import Score

if TYPE_CHECKING:
    import polars as pl

_ROWS = 1 << 13


def write_records(scores: Mapping[str, Score], target: Path, *, overwrite: bool = False) -> None:
    """Write the values of each measure per record; scores held by another engine are written by that engine."""
    from discreet.convert.writing.batches import write_batches

    if scores and all(isinstance(score, WritesRecords) for score in scores.values()):
        remote: Any = next(iter(scores.values()))
        remote.write_all(scores, str(target), overwrite=overwrite)
        return
    heights = {name: score.per_record.height for name, score in scores.items() if score.per_record is not None}
    if not heights:
        raise DataError(f"{target}: none of {', '.join(scores)} gives numbers per record")
    if len(set(heights.values())) > 1:
        sizes = ", ".join(f"{name} {height:,}" for name, height in heights.items())
        raise DataError(f"{target}: the measures have different numbers of rows ({sizes}); write them one by one with -m")
    write_batches(_join_batches({name: scores[name] for name in heights}), target, private=True, overwrite=overwrite)


def _join_batches(scores: Mapping[str, Score]) -> Iterator[pl.DataFrame]:
    """The columns of all measures side by side, a batch of rows at a time; at least one batch, which may be empty."""
    import polars as pl

    readers = [_RowReader(name, score) for name, score in scores.items()]
    yield pl.concat([reader.read(_ROWS) for reader in readers], how="horizontal")
    while (batch := pl.concat([reader.read(_ROWS) for reader in readers], how="horizontal")).height:
        yield batch


class _RowReader:
    """The values per record of one measure, in as many rows at a time as are asked for."""

    def __init__(self, name: str, score: Score) -> None:
        frames = score.record_batches() if score.record_batches is not None else iter([score.per_record])
        self.name, self.frames, self.pending = name, frames, next(frames, score.per_record)

    def read(self, rows: int) -> pl.DataFrame:
        """The next rows, fewer at the end."""
        import polars as pl

        assert self.pending is not None
        parts = [self.pending]
        while sum(part.height for part in parts) < rows and (following := next(self.frames, None)) is not None:
            parts.append(following)
        frame = pl.concat(parts)
        self.pending = frame.slice(rows)
        return frame.head(rows).rename(lambda field: f"{self.name}.{field}")
