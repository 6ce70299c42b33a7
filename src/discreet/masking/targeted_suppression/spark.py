"""Targeted suppression on Spark. This module does the single pass with whole top sets; ``spark_passes`` everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.engine.known_sets_spark.agreement_checks import has_nulls, has_overlapping_cells
from discreet.engine.known_sets_spark.sums import spark_known_sets
from discreet.engine.spark.batches import Masked, change_columns
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.gaps import OVERLAPPING, SCENARIOS, WILDCARD
from discreet.engine.spark.hidden_columns import CHANGED, HIDDEN, RECORD
from discreet.engine.spark.joins import col
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.model.threshold import Among

if TYPE_CHECKING:
    from discreet.engine.draws.draw import KeyedDraw

_SET = f"{HIDDEN}set"


def targeted_suppression(plugin: Any, data: SparkMicrodata, columns: tuple[str, ...], _: KeyedDraw) -> Masked:
    """Suppress values of high-risk records; with the defaults of Orooji & Knapp (2018b), Figure 1, by joins alone."""
    from discreet.masking.targeted_suppression.spark_passes import suppress_on_cluster

    plugin.check(data.shape, columns)
    allowed = [name for name in columns if name not in plugin.protect]
    if plugin.missing == "wildcard" and has_nulls(data):
        WILDCARD.refuse(plugin, data.engine)
    if data.policy.scenarios:
        SCENARIOS.refuse(plugin, data.engine)
    if has_overlapping_cells(data):
        OVERLAPPING.refuse(plugin, data.engine)
    with translate_errors(data.source):
        by_risk = not isinstance(plugin.threshold, Among)
        if by_risk and plugin.passes == 1 and plugin.choice == "set" and plugin.side == "known":
            return _suppress_once(plugin, data, allowed)
        lost, outcome = suppress_on_cluster(plugin, data, columns)
        masked = change_columns(data, lost)
    masked.shape.cache[plugin.name] = outcome
    return Masked(masked)


def _suppress_once(plugin: Any, data: SparkMicrodata, allowed: list[str]) -> Masked:
    """Suppress the values of the top set of every record above the threshold, in one pass."""
    from pyspark.sql import functions as f

    with translate_errors(data.source):
        sums = spark_known_sets(data, epsilon=plugin.epsilon, max_sets=plugin.max_sets, alpha=1.0, numbered=True)
        members = [
            (node, [name for index in sums.tree.members(node) if (name := sums.names[index]) in allowed])
            for node in range(len(sums.tree))
        ]
        sets = data.frame.sparkSession.createDataFrame(members, f"top_node int, `{_SET}` array<string>")
        high_risk = sums.frame.where(f.col("risk") > f.lit(plugin.threshold / plugin.alpha))
        top_sets = high_risk.join(f.broadcast(sets), "top_node").select(col("record").alias(RECORD), col(_SET))
        frame = data.numbered.join(top_sets, RECORD, "left")
        is_suppressed = {
            name: f.coalesce(f.array_contains(col(_SET), name), f.lit(False)) & col(name).isNotNull() for name in allowed
        }
        counts = [flag.cast("int") for flag in is_suppressed.values()]
        frame = frame.withColumn(CHANGED, sum(counts[1:], counts[0]))
        above, suppressed_count = frame.agg(f.count(col(_SET)), f.sum(col(CHANGED))).collect()[0]
        sums.kept[0].unpersist()  # the packed rows; the sums stay cached, because the release is computed from them later
        plugin.check_budget(int(suppressed_count or 0), above, sums.records * len(allowed))
        suppressed_columns = {name: f.when(~flag, col(name)) for name, flag in is_suppressed.items()}
        return Masked(data.replace(frame.withColumns(suppressed_columns).drop(_SET)))
