"""Measures of all equivalence classes at once: the columns that they read come to this machine, where the local engine measures.

A model of the population is fitted to all classes together, and a population table is compared with all of them, so there is
nothing for the workers to do but read. Only keys, weights and households are collected, and nothing where they do not fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.engine.runtime.memory import PROGRAM, check_memory
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.hidden_columns import RECORD
from discreet.engine.spark.joins import quote
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.engine.spark.score import SparkScore
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BYTES_PER_VALUE = 40.0
"""Memory of a collected value, estimated: as Arrow, sorted by record, in the local table, and its code."""


def measure_collected(plugin: Any, data: SparkMicrodata, original: SparkMicrodata | None = None) -> SparkScore:
    """The measure of the local engine, on the columns that it reads."""
    names = list(dict.fromkeys([*plugin.examines(data.shape), *data.named(Role.WEIGHT, Role.HOUSEHOLD)]))
    for name in names:
        data.attribute(name)  # raises if there is no such column
    need = PROGRAM + len(data) * _BYTES_PER_VALUE * (len(names) + 1) + plugin.working_bytes(data.shape, len(data))
    what = f"{data.source}: measuring {plugin.name} of {len(data):,} records on one machine"
    check_memory(need, what, f"{plugin.name} needs all equivalence classes at once, so start Spark's driver on a larger machine")
    local = _collect_columns(data, names)
    score = plugin.measure(local, original=None if original is None else _collect_columns(original, names))

    def frame() -> DataFrame:
        rows: pl.DataFrame = score.per_record.with_columns(pl.Series(RECORD, local.records))
        return data.frame.sparkSession.createDataFrame(rows.to_arrow())

    collected = SparkScore(plugin.name, score.summary, frame, notes=score.notes, bounds=score.bounds)
    collected.gaps, collected.interval = score.gaps, score.interval
    return collected


def _collect_columns(data: SparkMicrodata, names: list[str]) -> Microdata:
    """Some columns of a table on the local engine, with the numbers of their records."""
    policy = data.policy.with_(
        attributes={name: attribute for name, attribute in data.policy.attributes.items() if name in names}
    )
    with translate_errors(data.source):
        frame = data.numbered.select(*[quote(name) for name in [*names, RECORD]])
    return data.with_policy(policy).replace(frame).to_local()
