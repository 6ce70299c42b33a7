"""Targeted suppression on Spark in every way but the plainest: the same values as on one machine, however the rows are spread.

The sums of known_sets say which records may be above the threshold; of these the counts of all sets are asked for. Where a blank
agrees with anything, only these records' agreement with each other can change, and one task weighs it by the local engine's own
code. Where a blank is one more value everybody is measured again after each pass. What passes through the driver are numbers of
records and which attributes they lose, never a value.
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
from discreet.engine.targeting.rule import Rule, Story
from discreet.errors import DataError
from discreet.masking.targeted_suppression.method import MANY_ABOVE, MOST_COUNTS
from discreet.masking.targeted_suppression.spark_tally import TallyLayout, count_records
from discreet.masking.targeted_suppression.spark_tasks import Reading, Round, Together, flags_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NEAR = 1e-9
"""Sums that are added up in another order differ by less: records so near below the threshold are looked at too."""


def suppressed(plugin: Any, data: SparkMicrodata, columns: Sequence[str]) -> tuple[SuppressedValues, Story]:
    """Which records lose which values, and what is to be told of it."""
    work = prepare_work(data, plugin.epsilon, plugin.max_sets)
    data.__dict__["size"] = work.records
    rows = select_columns(work, numbered=True).persist()
    try:
        work = replace(work, rows=rows)
        names = [work.names[at] for at in work.tree.order]
        rule = plugin.rule(names, data, columns)
        if plugin.passes == 1 or plugin.missing == "wildcard":
            lost, story = _together(plugin, work, rule)
        else:
            lost, story = _with_cascades(plugin, work, rule)
    finally:
        rows.unpersist()
    story.elsewhere = work.records
    return lost, story


def _above(plugin: Any, work: Work, rule: Rule, lost: SuppressedValues | None = None) -> NDArray[np.int64]:
    """The numbers of the records that may be above the threshold, in their order."""
    from pyspark.sql import functions as f

    sums = sum_on_cluster(work, alpha=1.0, numbered=True, lost=lost)
    high = f.col("risk") > f.lit(rule.level * (1 - _NEAR))
    if rule.share > 0:
        high = f.col("effective_k") * f.lit(rule.share) < f.lit(1 + _NEAR)
    above = sums.frame.where(high).select("record")
    most = MOST_COUNTS // len(work.tree)
    try:
        records = above.limit(most + 1).toArrow().column("record").to_numpy()
    finally:
        sums.release()
    if len(records) > most:
        MANY_ABOVE.refuse(plugin, work.data.engine)
    return np.sort(records)


def _reading(plugin: Any, work: Work, rule: Rule, layout: TallyLayout) -> Reading:
    attributes = [work.data.attribute(name) for name in layout.names]
    sizes = {name: (len(attribute.values), attribute.has_null) for name, attribute in work.dictionary.items()}
    places = {name: at for at, name in enumerate(layout.names)}
    return Reading(
        layout, work.names, work.tree, [places[name] for name in work.singles], sizes,
        np.array([attribute.sensitivity * attribute.unlisted for attribute in attributes]), work.records, plugin.missing, rule,
    )  # fmt: skip


def _together(plugin: Any, work: Work, rule: Rule) -> tuple[SuppressedValues, Story]:
    names = tuple(work.names[at] for at in work.tree.order)
    counted = count_records(work, _above(plugin, work, rule))
    stage = Together(_reading(plugin, work, rule, counted.layout), plugin.passes == 1)
    try:
        rows = in_arrow(counted.frame.where(col("state").isNotNull()).repartition(1), stage, stage.schema).toArrow()
    finally:
        counted.release()
    stories = [json.loads(entry) for entry in rows.column("story").drop_null().to_pylist()]
    if not stories:
        return SuppressedValues.nothing(names), Story()
    if "failed" in stories[0]:
        raise DataError(stories[0]["failed"])
    records, risk = rows.column("record").to_numpy(), rows.column("risk").to_numpy()
    left = ~np.isnan(risk)
    story = Story(stories[0]["taken"], [tuple(entry) for entry in stories[0]["passes"]], remaining=records[left], risk=risk[left])
    story.cost, story.least = stories[0]["cost"], stories[0]["least"]
    return SuppressedValues.nothing(names).more(records, flags_of(rows.column("gone"), len(names))), story


class _Measured:
    """What a round found of the records above the threshold."""

    def __init__(self, rows: Any, width: int) -> None:
        self.records, self.risk, self.bound = (rows.column(name).to_numpy() for name in ("record", "risk", "bound"))
        self.open, self.needed = np.asarray(rows.column("open").to_pylist(), dtype=np.bool_), rows.column("needed").to_numpy()
        self.gone, self.nulls = (flags_of(rows.column(name), width) for name in ("gone", "nulls"))


def _with_cascades(plugin: Any, work: Work, rule: Rule) -> tuple[SuppressedValues, Story]:
    """As :func:`discreet.masking.targeted_suppression.cascades.with_cascades`, every measurement a round on the cluster."""
    names = tuple(work.names[at] for at in work.tree.order)
    story, lost = Story(), SuppressedValues.nothing(names)
    measured = _round(plugin, work, rule, None, None)
    rule.spend(int(measured.gone.sum()), len(measured.records))
    first = ever = np.sort(measured.records)
    blank_before = int(measured.nulls[:, : work.tree.width].any(axis=1).sum())
    blanks = _blanks(work)
    lost = lost.more(measured.records, measured.gone)
    story.taken = int(measured.gone.sum())
    story.passes.append((len(measured.records), story.taken))
    nulls = {
        name: dictionary.with_null() if name not in plugin.protect else dictionary for name, dictionary in work.dictionary.items()
    }
    work = build_work(work.data, work.names, work.tree, nulls, work.records, work.rows)
    while True:
        measured = _round(plugin, work, rule, lost, float(blanks - blank_before + len(ever)))
        fresh = ~np.isin(measured.records, ever)
        own = measured.nulls & ~lost.of(measured.records)
        blank_before += int(own[fresh][:, : work.tree.width].any(axis=1).sum())
        ever = np.union1d(ever, measured.records)
        hopeful = measured.open & (measured.bound <= rule.level)
        if not hopeful.any() and not fresh.any():
            break
        gone = measured.gone[hopeful]
        taken = int(gone.sum())
        rule.spend(story.taken + taken, len(measured.records))
        lost = lost.more(measured.records[hopeful], gone)
        story.taken += taken
        if taken:
            story.passes.append((int(hopeful.sum()), taken))
        elif not fresh.any():
            break
    story.cascade = np.setdiff1d(ever, first)
    order = np.argsort(measured.records)
    story.remaining, story.risk = measured.records[order], measured.risk[order]
    story.hopeless = int((measured.bound > rule.level).sum())
    if len(order):
        story.needed = int(measured.needed[min(order, key=lambda at: (measured.bound[at], measured.records[at]))])
    return lost, story


def _round(plugin: Any, work: Work, rule: Rule, lost: SuppressedValues | None, shared: float | None) -> _Measured:
    counted = count_records(work, _above(plugin, work, rule, lost), lost)
    stage = Round(_reading(plugin, work, rule, counted.layout), shared)
    try:
        rows = in_arrow(counted.frame.where(col("state").isNotNull()), stage, stage.schema).toArrow()
    finally:
        counted.release()
    return _Measured(rows, len(work.names))


def _blanks(work: Work) -> int:
    """How many records have a null where somebody could be found by it, before anything is taken."""
    known = [col(work.names[at]).isNull() for at in work.tree.order[: work.tree.width]]
    rows: Any = work.rows
    if not known:
        return 0
    any_null = known[0]
    for is_null in known[1:]:
        any_null = any_null | is_null
    return int(rows.where(any_null).count())
