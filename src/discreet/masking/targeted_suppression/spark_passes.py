"""Targeted suppression on Spark in several passes or with other choices; the same result as on the local engine.

The sums of known_sets determine which records may be above the threshold; for these the counts of all sets are computed. With
``missing: wildcard`` only the agreement among these records can change, and a single task decides about them with the code of the
local engine. With ``missing: category`` all records are measured again after each pass. The driver receives record numbers and
the attributes to suppress, never a value.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.known_sets_spark.sums import Work, build_work, prepare_work, select_columns, sum_on_cluster
from discreet.engine.known_sets_spark.suppressed_values import SuppressedValues
from discreet.engine.spark.arrow import in_arrow
from discreet.engine.spark.joins import col
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.engine.targeting.rule import SuppressionRule, TargetingOutcome
from discreet.errors import DataError
from discreet.masking.targeted_suppression.method import MANY_ABOVE, MAX_COUNTS
from discreet.masking.targeted_suppression.spark_tally import TallyLayout, count_records
from discreet.masking.targeted_suppression.spark_tasks import SubsetReader, SuppressionRound, SuppressJointly, unpack_flags

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TOLERANCE = 1e-9
"""Sums in another order differ by less than this, relatively: records this close below the threshold are examined too."""


def suppress_on_cluster(plugin: Any, data: SparkMicrodata, columns: Sequence[str]) -> tuple[SuppressedValues, TargetingOutcome]:
    """The values to suppress, by record number, and the outcome for the notes."""
    work = prepare_work(data, plugin.epsilon, plugin.max_sets)
    data.__dict__["size"] = work.records
    rows = select_columns(work, numbered=True).persist()
    try:
        work = replace(work, rows=rows)
        names = [work.names[index] for index in work.tree.order]
        rule = plugin.rule(names, data, columns)
        if plugin.passes == 1 or plugin.missing == "wildcard":
            lost, outcome = _suppress_jointly(plugin, work, rule)
        else:
            lost, outcome = _suppress_with_cascades(plugin, work, rule)
    finally:
        rows.unpersist()
    outcome.cluster_records = work.records
    return lost, outcome


def _find_records_above(
    plugin: Any, work: Work, rule: SuppressionRule, lost: SuppressedValues | None = None
) -> NDArray[np.int64]:
    """The numbers of the records that may be above the threshold, in ascending order; ``lost`` are values suppressed before."""
    from pyspark.sql import functions as f

    sums = sum_on_cluster(work, alpha=1.0, numbered=True, lost=lost)
    is_above = f.col("risk") > f.lit(rule.level * (1 - _TOLERANCE))
    if rule.share > 0:
        is_above = f.col("effective_k") * f.lit(rule.share) < f.lit(1 + _TOLERANCE)
    above = sums.frame.where(is_above).select("record")
    max_records = MAX_COUNTS // len(work.tree)
    try:
        records = above.limit(max_records + 1).toArrow().column("record").to_numpy()
    finally:
        sums.release()
    if len(records) > max_records:
        MANY_ABOVE.refuse(plugin, work.data.engine)
    return np.sort(records)


def _build_reader(plugin: Any, work: Work, rule: SuppressionRule, layout: TallyLayout) -> SubsetReader:
    attributes = [work.data.attribute(name) for name in layout.names]
    sizes = {name: (len(attribute.values), attribute.has_null) for name, attribute in work.dictionary.items()}
    positions = {name: position for position, name in enumerate(layout.names)}
    return SubsetReader(
        layout, work.names, work.tree, [positions[name] for name in work.singles], sizes,
        np.array([attribute.sensitivity * attribute.unlisted for attribute in attributes]), work.records, plugin.missing, rule,
    )  # fmt: skip


def _suppress_jointly(plugin: Any, work: Work, rule: SuppressionRule) -> tuple[SuppressedValues, TargetingOutcome]:
    """Decide about all records above the threshold in a single task."""
    names = tuple(work.names[index] for index in work.tree.order)
    counted = count_records(work, _find_records_above(plugin, work, rule))
    stage = SuppressJointly(_build_reader(plugin, work, rule, counted.layout), plugin.passes == 1)
    try:
        rows = in_arrow(counted.frame.where(col("state").isNotNull()).repartition(1), stage, stage.schema).toArrow()
    finally:
        counted.release()
    reports = [json.loads(text) for text in rows.column("report").drop_null().to_pylist()]
    if not reports:
        return SuppressedValues.nothing(names), TargetingOutcome()
    report = reports[0]
    if "error" in report:
        raise DataError(report["error"])
    records, risk = rows.column("record").to_numpy(), rows.column("risk").to_numpy()
    is_above = ~np.isnan(risk)
    passes = [(records_in_pass, values) for records_in_pass, values in report["passes"]]
    outcome = TargetingOutcome(report["values_changed"], passes, remaining=records[is_above], remaining_risk=risk[is_above])
    outcome.cost, outcome.cost_bound = report["cost"], report["cost_bound"]
    return SuppressedValues.nothing(names).more(records, unpack_flags(rows.column("suppressed"), len(names))), outcome


class _RoundResult:
    """The result of a round: one entry per record above the threshold, by the columns of ``SuppressionRound.schema``."""

    def __init__(self, rows: Any, width: int) -> None:
        self.records, self.risk, self.bound = (rows.column(name).to_numpy() for name in ("record", "risk", "bound"))
        self.has_candidates = np.asarray(rows.column("has_candidates").to_pylist(), dtype=np.bool_)
        self.nulls_needed = rows.column("nulls_needed").to_numpy()
        self.suppressed, self.nulls = (unpack_flags(rows.column(name), width) for name in ("suppressed", "nulls"))


def _suppress_with_cascades(plugin: Any, work: Work, rule: SuppressionRule) -> tuple[SuppressedValues, TargetingOutcome]:
    """As ``suppress_with_cascades`` in :mod:`discreet.masking.targeted_suppression.cascades`; a measurement is a cluster round.

    ``null_records - null_records_above + len(was_above)`` records have nulls or were ever above the threshold.
    """
    names = tuple(work.names[index] for index in work.tree.order)
    outcome, lost = TargetingOutcome(), SuppressedValues.nothing(names)
    result = _run_round(plugin, work, rule, None, None)
    rule.check_budget(int(result.suppressed.sum()), len(result.records))
    above_at_start = was_above = np.sort(result.records)
    null_records_above = int(result.nulls[:, : work.tree.width].any(axis=1).sum())
    null_records = _count_null_records(work)
    lost = lost.more(result.records, result.suppressed)
    outcome.values_changed = int(result.suppressed.sum())
    outcome.passes.append((len(result.records), outcome.values_changed))
    dictionaries = {
        name: dictionary.with_null() if name not in plugin.protect else dictionary for name, dictionary in work.dictionary.items()
    }
    work = build_work(work.data, work.names, work.tree, dictionaries, work.records, work.rows)
    while True:
        result = _run_round(plugin, work, rule, lost, float(null_records - null_records_above + len(was_above)))
        is_new = ~np.isin(result.records, was_above)
        originally_null = result.nulls & ~lost.of(result.records)
        null_records_above += int(originally_null[is_new][:, : work.tree.width].any(axis=1).sum())
        was_above = np.union1d(was_above, result.records)
        can_be_safe = result.has_candidates & (result.bound <= rule.level)
        if not can_be_safe.any() and not is_new.any():
            break
        suppressed = result.suppressed[can_be_safe]
        suppressed_count = int(suppressed.sum())
        rule.check_budget(outcome.values_changed + suppressed_count, len(result.records))
        lost = lost.more(result.records[can_be_safe], suppressed)
        outcome.values_changed += suppressed_count
        if suppressed_count:
            outcome.passes.append((int(can_be_safe.sum()), suppressed_count))
        elif not is_new.any():
            break
    outcome.cascaded = np.setdiff1d(was_above, above_at_start)
    order = np.argsort(result.records)
    outcome.remaining, outcome.remaining_risk = result.records[order], result.risk[order]
    outcome.unreachable = int((result.bound > rule.level).sum())
    if len(order):
        nearest = min(order, key=lambda index: (result.bound[index], result.records[index]))
        outcome.nulls_needed = int(result.nulls_needed[nearest])
    return lost, outcome


def _run_round(
    plugin: Any, work: Work, rule: SuppressionRule, lost: SuppressedValues | None, records_with_nulls: float | None
) -> _RoundResult:
    """Measure all records with the values ``lost`` suppressed, and choose what to suppress next in those above the threshold."""
    counted = count_records(work, _find_records_above(plugin, work, rule, lost), lost)
    stage = SuppressionRound(_build_reader(plugin, work, rule, counted.layout), records_with_nulls)
    try:
        rows = in_arrow(counted.frame.where(col("state").isNotNull()), stage, stage.schema).toArrow()
    finally:
        counted.release()
    return _RoundResult(rows, len(work.names))


def _count_null_records(work: Work) -> int:
    """The number of records with a null in an attribute that may be known, before any suppression."""
    is_null_by_attribute = [col(work.names[index]).isNull() for index in work.tree.order[: work.tree.width]]
    rows: Any = work.rows
    if not is_null_by_attribute:
        return 0
    any_null = is_null_by_attribute[0]
    for is_null in is_null_by_attribute[1:]:
        any_null = any_null | is_null
    return int(rows.where(any_null).count())
