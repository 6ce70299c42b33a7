"""How many values the steps of a plan changed: counted in hidden columns that the steps fill, in one pass at the end.

Where a step takes records out, what was counted of them is added up before.
"""

from __future__ import annotations

from discreet.engine.spark.batches import CHANGED, Masked
from discreet.engine.spark.errors import told
from discreet.engine.spark.joins import col
from discreet.engine.spark.microdata import SparkMicrodata


class Changes:
    """The counts of the steps that ran so far."""

    def __init__(self) -> None:
        self.found: dict[int, int] = {}
        self.waiting: list[int] = []

    def after(self, before: SparkMicrodata, made: Masked, step: int) -> SparkMicrodata:
        """The table to go on with."""
        frame = made.table.frame.withColumnRenamed(CHANGED, _name(step))
        if made.removed and self.waiting:
            self._add_up(before)
            frame = frame.drop(*map(_name, self.waiting))
            self.waiting = []
        self.waiting.append(step)
        return made.table.replace(frame)

    def finish(self, table: SparkMicrodata) -> tuple[SparkMicrodata, dict[int, int]]:
        """The table without hidden columns, its size known, and how many values each step changed."""
        size = self._add_up(table)
        made = table.replace(table.frame.drop(*map(_name, self.waiting)))
        made.__dict__["size"] = size
        return made, self.found

    def _add_up(self, table: SparkMicrodata) -> int:
        from pyspark.sql import functions as f

        with told(table.source):
            sums = [f.sum(col(_name(step))) for step in self.waiting]
            size, *counts = table.frame.agg(f.count(f.lit(1)), *sums).collect()[0]
        self.found |= {step: int(count or 0) for step, count in zip(self.waiting, counts, strict=True)}
        return int(size)


def _name(step: int) -> str:
    return f"{CHANGED} {step}"
