"""Taking values where a blank is one more value: blanks make the values that stay rarer, so one pass can put others at risk.

Every pass measures everybody again. A record whose risk no blanking could bring under the threshold, were all blanks there are
shared with it, loses nothing after the first pass; where only such records are left above the threshold, the work stops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.targeting import kernels
from discreet.engine.targeting.rule import Rule, Story
from discreet.engine.targeting.state import Targets, run_on_records
from discreet.masking.targeted_suppression.passes import choose_values, suppress_once, top_values

if TYPE_CHECKING:
    from numpy.typing import NDArray


def with_cascades(table: Targets, rule: Rule) -> tuple[Targets, Story]:
    """Pass by pass until no record is above the threshold, or none that is can be helped."""
    result, slots = table.copy(), table.start.slots
    story = suppress_once(result, rule)
    first = table.start.per_record.risk > rule.level
    ever = first.copy()
    while True:
        risk, bound, top = _measured(result, rule, slots, ever)
        above = risk > rule.level
        fresh = above & ~ever
        ever |= above
        hopeful = above & (bound <= rule.level)
        rows_above = slots[hopeful]
        hopeful[hopeful] = rule.any(result, result.nulls(rows_above), result.weight(rows_above)).any(axis=1)
        if not hopeful.any() and not fresh.any():
            break
        rows = slots[hopeful]
        gone = choose_values(result, rule, rows) if rule.side == "sensitive" else top(hopeful)
        rule.spend(story.taken + int(gone.sum()), int(above.sum()))
        taken = result.take(rows, gone)
        story.taken += taken
        if taken:
            story.passes.append((len(rows), taken))
        elif not fresh.any():
            break
    story.cascade = slots[ever & ~first]
    story.remaining, story.risk = slots[above], risk[above]
    story.hopeless = int((above & (bound > rule.level)).sum())
    if above.any():
        story.needed = needed(result, rule, slots[above][[np.argmin(bound[above])]])
    return result, story


def _measured(
    table: Targets, rule: Rule, slots: NDArray[np.int64], ever: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64], Callable[[NDArray[np.bool_]], NDArray[np.bool_]]]:
    """Everybody's risk, what it could be at best if the records with blanks and those ever above shared all their blanks, and
    a way to the values of the top sets of some that are above."""
    blanks = np.zeros(len(table.data), dtype=np.bool_)
    for column in table.columns[: table.tree.width]:
        blanks |= column.is_null
    blanks[slots[ever]] = True

    def weigh(part: NDArray[np.int64], counts: NDArray[np.int32]) -> NDArray[np.float64]:
        return np.column_stack(weigh_records(table, rule, part, counts, float(blanks.sum())))

    weighed, kind = table.of_kinds(slots, weigh)
    if weighed is None:
        weighed = np.zeros((0, 2 + len(table.names)))
    # one row per kind, for one row per record would be as large as the table
    places = np.arange(len(slots)) if kind is None else kind
    return weighed[places, 0], weighed[places, 1], lambda chosen: weighed[places[chosen], 2:] > 0


def weigh_records(
    table: Targets, rule: Rule, rows: NDArray[np.int64], counts: NDArray[np.int32], shared: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Some records' risk, its bound where so many records share their blanks, and the values of the top set of those above."""
    risk, gone = table.risks(rows, counts), np.zeros((len(rows), len(table.names)), dtype=np.bool_)
    above = np.flatnonzero(risk > rule.level)
    if rule.side != "sensitive":
        gone[above] = top_values(table, rule, rows[above], counts[above])
    return risk, _bound(table, rule, rows, counts, shared), gone


def _bound(table: Targets, rule: Rule, rows: NDArray[np.int64], counts: NDArray[np.int32], shared: float) -> NDArray[np.float64]:
    nulls, weights, bound = table.nulls(rows), table.weight(rows), np.empty(len(rows))
    may = rule.any(table, nulls, weights) | nulls
    run_on_records(kernels.least_reachable, len(rows), counts, weights, table.blank, may, table.arrays, shared, bound)
    return bound


def needed(table: Targets, rule: Rule, row: NDArray[np.int64]) -> int:
    """How many records at least would have to have blanks for this one to be safe; 0 where all of them would not be enough."""
    counts = table.counts(row)
    low, high = 1, table.everyone
    if _bound(table, rule, row, counts, float(high))[0] > rule.level:
        return 0
    while low < high:
        middle = (low + high) // 2
        if _bound(table, rule, row, counts, float(middle))[0] > rule.level:
            low = middle + 1
        else:
            high = middle
    return low
