"""A score whose records stay on the cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engine.spark.errors import told
from discreet.engine.spark.microdata import RECORD
from discreet.model.score import Score, Summary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class SparkScore(Score):
    """As :class:`Score`; ``frame`` gives a Spark frame with a row a record: the column RECORD, and the measure's fields.

    ``per_record`` brings these rows here in the order of the records' numbers, when somebody asks to see them. ``release`` lets
    the cluster forget what it kept for these rows; it is called when they were brought here or written.
    """

    def __init__(
        self,
        measure: str,
        summary: Summary,
        frame: Callable[[], DataFrame],
        per_attribute: pl.DataFrame | None = None,
        notes: tuple[str, ...] = (),
        riskiest: Callable[[int], pl.DataFrame] | None = None,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        release: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(measure, summary, self._collect, per_attribute, notes=notes, riskiest=riskiest, bounds=bounds)
        self.frame = frame
        self.release = release or (lambda: None)

    def _collect(self) -> pl.DataFrame:
        with told("the scores"):
            try:
                made: Any = pl.from_arrow(self.frame().orderBy(f"`{RECORD}`").drop(RECORD).toArrow())
            finally:
                self.release()
        found: pl.DataFrame = made
        return found

    def write_all(self, found: Mapping[str, SparkScore], target: str, *, overwrite: bool = True) -> None:
        """Write a row a record with columns MEASURE.FIELD, by Spark: no row comes here."""
        from discreet.engine.spark.target import write_frame

        joined: Any = None
        with told(target, "cannot be written"):
            try:
                for name, score in found.items():
                    frame = score.frame()
                    frame = frame.withColumnsRenamed({field: f"{name}.{field}" for field in frame.columns if field != RECORD})
                    joined = frame if joined is None else joined.join(frame, RECORD)
                write_frame(joined.orderBy(f"`{RECORD}`").drop(RECORD), target, "the scores", private=True, overwrite=overwrite)
            finally:
                for score in found.values():
                    score.release()
