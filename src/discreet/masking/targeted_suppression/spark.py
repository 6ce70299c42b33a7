"""Targeted suppression on Spark: its plainest way here, every record above the threshold losing its top set, all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.engine.known_sets_spark.agreement_checks import has_nulls, has_overlapping_cells
from discreet.engine.known_sets_spark.sums import spark_known_sets
from discreet.engine.spark.batches import Masked, change_columns
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.gaps import OVERLAPPING, WILDCARD
from discreet.engine.spark.hidden_columns import CHANGED, HIDDEN, RECORD
from discreet.engine.spark.joins import col
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.model.threshold import Among

if TYPE_CHECKING:
    from discreet.engine.draws.draw import KeyedDraw

_SET = f"{HIDDEN}set"


def targeted_suppression(plugin: Any, data: SparkMicrodata, columns: tuple[str, ...], _: KeyedDraw) -> Masked:
    """Orooji & Knapp (2018b), Figure 1, with the sums of known_sets, or any other way record by record."""
    from discreet.masking.targeted_suppression.spark_passes import suppressed

    plugin.check(data.shape, columns)
    may = [name for name in columns if name not in plugin.protect]
    if plugin.missing == "wildcard" and has_nulls(data):
        WILDCARD.refuse(plugin, data.engine)
    if has_overlapping_cells(data):
        OVERLAPPING.refuse(plugin, data.engine)
    with translate_errors(data.source):
        by_risk = not isinstance(plugin.threshold, Among)
        if by_risk and plugin.passes == 1 and plugin.choice == "set" and plugin.side == "known":
            return _once(plugin, data, may)
        lost, story = suppressed(plugin, data, columns)
        masked = change_columns(data, lost)
    masked.shape.cache[plugin.name] = story
    return Masked(masked)


def _once(plugin: Any, data: SparkMicrodata, may: list[str]) -> Masked:
    from pyspark.sql import functions as f

    with translate_errors(data.source):
        sums = spark_known_sets(data, epsilon=plugin.epsilon, max_sets=plugin.max_sets, alpha=1.0, numbered=True)
        members = [
            (node, [name for at in sums.tree.members(node) if (name := sums.names[at]) in may]) for node in range(len(sums.tree))
        ]
        sets = data.frame.sparkSession.createDataFrame(members, f"top_node int, `{_SET}` array<string>")
        high = sums.frame.where(f.col("risk") > f.lit(plugin.threshold / plugin.alpha))
        lost = high.join(f.broadcast(sets), "top_node").select(col("record").alias(RECORD), col(_SET))
        frame = data.numbered.join(lost, RECORD, "left")
        gone = {name: f.coalesce(f.array_contains(col(_SET), name), f.lit(False)) & col(name).isNotNull() for name in may}
        counts = [flag.cast("int") for flag in gone.values()]
        frame = frame.withColumn(CHANGED, sum(counts[1:], counts[0]))
        above, taken = frame.agg(f.count(col(_SET)), f.sum(col(CHANGED))).collect()[0]
        sums.kept[0].unpersist()  # the rows as they were packed; the sums stay, for the release will be asked for again
        plugin.spend(int(taken or 0), above, sums.records * len(may))
        blanked = {name: f.when(~flag, col(name)) for name, flag in gone.items()}
        return Masked(data.replace(frame.withColumns(blanked).drop(_SET)))
