"""A score whose per-record values stay on the cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.joins import quote
from discreet.engine.spark.target import write_frame
from discreet.model.score import Score, Summary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class SparkScore(Score):
    """As :class:`Score`; ``frame`` returns a Spark frame with one row per record: the column RECORD, and the measure's fields.

    ``per_record`` collects these rows in the order of record numbers, on first use. ``release`` lets the cluster drop what it
    cached for these rows; it is called once they are collected or written.
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
        with translate_errors("the scores"):
            try:
                return pl.DataFrame(self.frame().orderBy(quote(RECORD)).drop(RECORD).toArrow())
            finally:
                self.release()

    def write_all(self, scores: Mapping[str, SparkScore], target: str, *, overwrite: bool = True) -> None:
        """Write one row per record with columns MEASURE.FIELD, by Spark: no row comes to the driver."""
        joined: Any = None
        with translate_errors(target, "cannot be written"):
            try:
                for name, score in scores.items():
                    frame = score.frame()
                    frame = frame.withColumnsRenamed({field: f"{name}.{field}" for field in frame.columns if field != RECORD})
                    joined = frame if joined is None else joined.join(frame, RECORD)
                write_frame(joined.orderBy(quote(RECORD)).drop(RECORD), target, "the scores", private=True, overwrite=overwrite)
            finally:
                for score in scores.values():
                    score.release()
