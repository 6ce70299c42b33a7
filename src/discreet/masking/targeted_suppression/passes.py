"""Taking values from the records above a risk threshold until none is: what is taken, in which passes, and when to stop.

Where a blank agrees with anything, blanks raise counts and never lower one. So a record that was brought under the threshold
stays under it, records that were under it need nothing, and only those still above it are counted again. Where a blank is one
more value none of this holds: see :mod:`discreet.masking.targeted_suppression.cascades`.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.classes.groups import group_ids
from discreet.engine.encoding.columns import thread_count
from discreet.engine.targeting import kernels
from discreet.engine.targeting.rule import Rule, Story
from discreet.engine.targeting.state import Targets, run_on_records
from discreet.engine.targeting.turns import turns

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_EXACT = 12
_TOGETHER = 200


def suppress_once(table: Targets, rule: Rule) -> Story:
    """Orooji & Knapp (2018b), Figure 1: every record above the threshold loses its top set, all at once."""
    start = table.start
    above = start.per_record.risk > rule.level
    rows = start.slots[above]
    story = Story()
    if rule.choose == "set" and rule.side == "known" and rule.share > 0:
        gone = top_values(table, rule, rows, table.counts(rows))  # the empty set, which may be the top one, is none here
    elif rule.choose == "set" and rule.side == "known":
        member = np.zeros((len(table.tree), len(table.names)), dtype=np.bool_)
        for node, places in enumerate(table.tree.sets):
            member[node, list(places)] = True
        gone = member[start.per_record.top_node[above]] & rule.known(table, table.nulls(rows))
    else:
        gone = choose_values(table, rule, rows)
    rule.spend(int(gone.sum()), len(rows))
    story.taken = table.take(rows, gone)
    story.passes.append((len(rows), story.taken))
    return story


def top_values(table: Targets, rule: Rule, rows: NDArray[np.int64], counts: NDArray[np.int32]) -> NDArray[np.bool_]:
    """The values of each record's top set that may be taken."""
    nulls = table.nulls(rows)
    gone, read = np.empty_like(nulls), nulls if table.missing == "wildcard" else np.zeros_like(nulls)
    inputs = (counts, table.weight(rows), table.blank, read, rule.known(table, nulls), table.arrays)
    run_on_records(kernels.suppress_top_sets, len(rows), *inputs, rule.limit, True, gone)
    return np.asarray(gone & ~nulls)


def until_safe(table: Targets, rule: Rule) -> tuple[Targets, Story]:
    """Until no record is above the threshold, or nothing that could be taken brings it under; blanks agree with anything."""
    result = table.copy()
    if rule.choose == "set":
        return result, _by_sets(result, rule) if rule.side == "known" else _in_turns(result, rule)
    story = _in_turns(result, rule)
    other = table.copy()
    by_sets = replace(rule, choose="set", spend=lambda _, __: None)
    other_story = _by_sets(other, by_sets) if rule.side == "known" else _in_turns(other, by_sets)
    # others' blanks help, so that values chosen one record at a time can, in all, be more than whole sets
    story.cost, other_story.cost = _spent(result, table, rule), _spent(other, table, rule)
    if (len(other_story.remaining), other_story.cost) < (len(story.remaining), story.cost):
        result, story = other, other_story
        rule.spend(story.taken, len(story.remaining))
    story.least = _least(table, rule)
    return result, story


def _least(table: Targets, rule: Rule) -> float | None:
    """What any choice costs at least: each record's cheapest one, had all others above lost everything and so agreed with it."""
    rows = table.start.slots[table.start.per_record.risk > rule.level]
    total = 0.0
    for part, counts in table.counted(rows):
        nulls, weights = table.nulls(part), table.weight(part)
        if (rule.known(table, nulls).sum(axis=1) > _MOST_EXACT).any() or (
            rule.sensitive(table, nulls, weights).sum(axis=1) > _MOST_EXACT
        ).any():
            return None
        most = np.minimum(counts.astype(np.int64) + len(rows), table.everyone).astype(np.int32)
        gone = _choice(table, rule, part, most)
        safe = _risk(table, (most, weights, table.blank, nulls), gone) <= rule.level
        total += float(rule.cost(gone)[safe].sum())
    return total


def _spent(result: Targets, table: Targets, rule: Rule) -> float:
    rows = table.start.slots
    return math.fsum(rule.cost(result.nulls(rows) & ~table.nulls(rows)))


def _by_sets(table: Targets, rule: Rule) -> Story:
    """Pass by pass the top set of every record that is still above."""
    story, rows = Story(), table.start.slots[table.start.per_record.risk > rule.level]
    stuck: list[NDArray[np.int64]] = []
    while len(rows):
        still, spent = [], 0
        chosen = []
        for part, counts in table.counted(rows):
            risk = table.risks(part, counts)
            high = risk > (rule.limit if story.passes else 0.0)
            part, counts = part[high], counts[high]  # noqa: PLW2901 - those above only
            nulls = table.nulls(part)
            may, gone = rule.known(table, nulls), np.empty_like(nulls)
            kernels.suppress_top_sets(
                counts, table.weight(part), table.blank, nulls, may, table.arrays, rule.limit, True, gone, 0, len(part)
            )
            gone &= ~nulls
            none = ~gone.any(axis=1)
            stuck.append(part[none])
            still.append(part[~none])
            chosen.append(gone[~none])
            spent += int(gone.sum())
        rows = np.concatenate(still)
        rule.spend(story.taken + spent, len(rows))
        taken = table.take(rows, np.concatenate(chosen))
        story.taken += taken
        if len(rows):
            story.passes.append((len(rows), taken))
    return _ended(table, rule, story, np.sort(np.concatenate(stuck)) if stuck else rows)


def _in_turns(table: Targets, rule: Rule) -> Story:
    """Ever larger turns of records, the riskiest first; each loses all it must at once, the blanks of earlier turns in view."""
    per_record, slots = table.start.per_record, table.start.slots
    above = np.flatnonzero(per_record.risk > rule.level)
    rows, story, left = slots[above], Story(), len(above)
    for turn in list(turns(table, rows, per_record.risk[above])):
        gone = choose_values(table, rule, turn)
        rule.spend(story.taken + int(gone.sum()), left)
        taken = table.take(turn, gone)
        story.taken += taken
        story.passes.append((int(gone.any(axis=1).sum()), taken))
        left -= len(turn)
    return _ended(table, rule, story, rows)


def _ended(table: Targets, rule: Rule, story: Story, rows: NDArray[np.int64]) -> Story:
    """Count once more those that could not be made safe when they were looked at: later blanks may have helped."""
    risk = table.measure(rows)
    left = risk > rule.level
    order = np.argsort(rows[left])
    story.remaining, story.risk = rows[left][order], risk[left][order]
    return story


def choose_values(table: Targets, rule: Rule, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """All that each record must lose, as the table stands; nothing where it is safe already."""
    chosen = table.each_kind(rows, lambda part, counts: _choice(table, rule, part, counts))
    return np.zeros((0, len(table.names)), dtype=np.bool_) if chosen is None else chosen


def _choice(table: Targets, rule: Rule, rows: NDArray[np.int64], counts: NDArray[np.int32]) -> NDArray[np.bool_]:
    nulls, weights = table.nulls(rows), table.weight(rows)
    read = nulls if table.missing == "wildcard" else np.zeros_like(nulls)
    known, sensitive = rule.known(table, nulls), rule.sensitive(table, nulls, weights)
    finders = kernels.suppress_top_sets if rule.choose == "set" else None
    inputs = (counts, weights, table.blank, read)
    options = []
    if rule.side != "sensitive":
        options.append(_search(table, rule, inputs, known, finders))
    if rule.side != "known":
        options.append(_search(table, rule, inputs, sensitive, kernels.suppress_heaviest_values if finders else None))
    if len(options) == 1:
        return options[0] & ~read
    risk = [_risk(table, inputs, gone) for gone in options]
    first, second = (value <= rule.limit for value in risk)
    cheaper = rule.cost(options[1]) < rule.cost(options[0])
    gone = np.where((second & (cheaper | ~first))[:, None], options[1], options[0])
    neither = ~first & ~second
    gone[neither] = options[0][neither] | options[1][neither]
    if neither.any() and rule.choose == "fewest":
        mixed = tuple(array[neither] if array.ndim == 2 else array for array in inputs)
        gone[neither] = _search(table, rule, mixed, (known | sensitive)[neither], None)
    return gone & ~read


def _risk(table: Targets, inputs: tuple[Any, ...], gone: NDArray[np.bool_]) -> NDArray[np.float64]:
    risk = np.empty(len(gone))
    counts, weights, blank, read = inputs
    run_on_records(kernels.compute_risks, len(risk), counts, weights, blank, gone | read, table.arrays, risk)
    return risk


def _search(table: Targets, rule: Rule, inputs: tuple[Any, ...], may: NDArray[np.bool_], kernel: Any) -> NDArray[np.bool_]:
    """One way of choosing: whole sets, the heaviest values, or (no kernel) the cheapest values of all choices there are."""
    size = len(may)
    gone = np.empty_like(may)
    if kernel is kernels.suppress_top_sets:
        counts, weights, blank, read = inputs
        run_on_records(kernels.suppress_top_sets, size, counts, weights, blank, read, may, table.arrays, rule.limit, False, gone)
    elif kernel is not None:
        run_on_records(kernel, size, *inputs, may, table.arrays, rule.limit, gone)
    else:
        wide = may.sum(axis=1) > _MOST_EXACT
        _exact(table, rule, inputs, may, np.flatnonzero(~wide), gone)
        rest = np.flatnonzero(wide)
        if len(rest):
            counts, weights, blank, read = inputs
            chosen = np.empty((len(rest), may.shape[1]), dtype=np.bool_)
            kernels.suppress_greedily(
                counts[rest],
                weights[rest],
                blank,
                read[rest],
                may[rest],
                rule.costs,
                table.arrays,
                rule.limit,
                chosen,
                0,
                len(rest),
            )
            gone[rest] = chosen
    return gone


def _exact(
    table: Targets, rule: Rule, inputs: tuple[Any, ...], may: NDArray[np.bool_], rows: NDArray[np.int64], gone: NDArray[np.bool_]
) -> None:
    """Every choice from the cheapest on, for records with the same values to choose from together."""
    counts, weights, blank, read = inputs
    used = np.flatnonzero(may[rows].any(axis=0)) if len(rows) else np.zeros(0, np.int64)
    sides = [(may[rows, at].astype(np.uint8), 2) for at in used]
    ids, number = group_ids(sides, len(rows)) if sides else (np.zeros(len(rows), np.int64), min(1, len(rows)))
    for group in range(number):
        mine = rows[ids == group]
        places = np.flatnonzero(may[mine[0]])
        bits = np.arange(1 << len(places), dtype=np.int64)
        cost = sum((rule.costs[place] * (bits >> bit & 1) for bit, place in enumerate(places)), np.zeros(len(bits)))
        choices = bits[np.lexsort((bits, np.round(cost, 9)))]
        parts = np.array_split(mine, thread_count() if len(mine) > _TOGETHER else 1)

        def search(part: NDArray[np.int64], places: NDArray[np.int64] = places, choices: NDArray[np.int64] = choices) -> None:
            kernels.suppress_cheapest_choice(counts, weights, blank, read, places, choices, table.arrays, rule.limit, part, gone, 0, len(part))

        with ThreadPoolExecutor(len(parts)) as pool:
            list(pool.map(search, parts))
