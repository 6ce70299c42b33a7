r"""The exact sum over all larger known sets for a record in a small group, which ends a walk over known sets.

Each record of the group agrees with the query on some of the remaining attributes; this is a bit mask. The number of records that
agree on a set U is the number of masks that contain U, so the sum over all U

    \sum_U p_U (C - c_T - c_U) / #{masks that contain U}

needs only the masks. Attributes on which all records agree change no count and are summed in closed form; the others are added
one by one, each time with the masks that contain them, until all masks are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.known_sets.kernels import sort_by_group
from discreet.engine.overlap.splitting import agreeing_groups
from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


def masks_of(
    lists: Sequence[Any], classes: Sequence[Any], chosen: NDArray[np.uint32], places: Sequence[int], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The masks of the records in the group of each chosen query, as one array, and the start of each query's masks.

    Bit i is set where a record agrees on the attribute ``places[i]``.
    """
    rank = np.full(size, -1, dtype=np.int64)
    rank[chosen] = np.arange(len(chosen))
    parts = []
    lengths = np.zeros(len(chosen) + 1, dtype=np.int64)
    for level, records in zip(lists, classes, strict=True):
        keep = rank[level.queries] >= 0
        slots, groups = level.queries[keep], level.query_groups[keep]
        if level.links is not None:  # a query that agrees by overlap is in several groups
            slots, groups = agreeing_groups(level.links, slots, groups)
        queries = rank[slots]
        wanted_groups = np.zeros(level.groups, dtype=np.bool_)
        wanted_groups[groups] = True
        members = np.flatnonzero(wanted_groups[level.group])  # few: the groups are small
        order, begin = sort_by_group(level.group[members], level.groups)
        np.add.at(lengths, queries + 1, begin[groups + 1] - begin[groups])
        rows = members[order] if level.rows is None else level.rows[members[order]]
        parts.append((records, rows, begin, queries, groups))
    starts = np.cumsum(lengths)
    masks = np.zeros(starts[-1], dtype=np.int64)
    fill = starts[:-1].copy()
    for records, rows, begin, queries, groups in parts:
        codes = np.zeros((len(rows), len(places)), dtype=np.uint32)
        query_codes = np.zeros((len(chosen), len(places)), dtype=np.uint32)
        for bit, place in enumerate(places):
            codes[:, bit] = records.codes[place][rows]
            query_codes[:, bit] = records.query_codes[place][chosen]
        offset, offsets, run_begin, run_end = _runs(records, places)
        _fill_masks(codes, query_codes, begin, queries, groups, offset, offsets, run_begin, run_end, fill, masks)
    return masks, starts


def _runs(
    records: Any, places: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The runs of agreeing codes of all places in one list, and the start of each place's offsets (-1: equal codes agree)."""
    if not records.relations:
        return np.full(len(places), -1), np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    offset, starts, begin, end = [], [], [], []
    size = runs = 0
    for place in places:
        relation = records.relations[place]
        offset.append(size)
        starts.append(relation.starts + runs)
        begin.append(relation.begin)
        end.append(relation.end)
        size, runs = size + len(relation.starts), runs + len(relation.begin)
    return np.array(offset), np.concatenate(starts), np.concatenate(begin), np.concatenate(end)


# codes[row, bit], query_codes[query, bit]: values of the group's records and of the queries. begin[group]: start of a group's
# rows. queries[pair], groups[pair]: a query and a group that agrees with it. offset[bit]: -1 where equal codes agree, else the
# agreeing codes of a query code are the runs starts[offset + code]:starts[offset + code + 1] of run_begin and run_end.
# fill[query]: the next free place in masks. O(sum over pairs of group size x attributes x runs).
@compiled
def _fill_masks(
    codes: Any, query_codes: Any, begin: Any, queries: Any, groups: Any, offset: Any, starts: Any, run_begin: Any, run_end: Any,
    fill: Any, masks: Any,
) -> None:  # fmt: skip
    for pair in range(len(queries)):
        query, group = queries[pair], groups[pair]
        for row in range(begin[group], begin[group + 1]):
            mask = np.int64(0)
            for bit in range(codes.shape[1]):
                value = codes[row, bit]
                agrees = False
                if offset[bit] < 0:
                    agrees = value == query_codes[query, bit]
                else:
                    own = offset[bit] + np.int64(query_codes[query, bit])
                    for run in range(starts[own], starts[own + 1]):
                        if run_begin[run] <= value < run_end[run]:
                            agrees = True
                            break
                if agrees:
                    mask |= np.int64(1) << bit
            masks[fill[query]] = mask
            fill[query] += 1


# masks[starts[query]:starts[query + 1]]: bit masks of the records in a query's group. chances[bit]: probability that an attribute
# is known. weights[slot, bit]: what the attribute would disclose. A depth-first search with its own stack (frame_* arrays): a
# frame is a set, with its distinct masks and their multiplicities in arena[begin:end] and times[begin:end]. Exponential in the
# attributes on which the records differ, so only for small groups; where the stack or the arena is full, or the rest is narrower
# than allowed, the larger sets are bounded together. Trap: recursion is not possible, because recursive compiled functions crash
# when loaded from the cache.
@compiled
def sum_larger_sets(
    masks: Any,
    starts: Any,
    chosen: Any,
    left: Any,
    chances: Any,
    weights: Any,
    learnt: Any,
    chance: float,
    spread: Any,
    rest: Any,
    allowed: Any,
    loud: int,
    low: Any,
    high: Any,
    first: int,
    last: int,
) -> None:
    """Add to each query the sum over its set and all larger sets; ``left`` are the attributes that may still be added, as bits.

    Attributes from ``loud`` on are quiet: sets of quiet attributes only are bounded together where that is narrow enough.
    """
    width = len(chances)
    quiet = ~((np.int64(1) << loud) - 1)
    frame_begin, frame_end = np.empty(64 * (width + 2), np.int64), np.empty(64 * (width + 2), np.int64)
    frame_left = np.empty(64 * (width + 2), np.int64)
    frame_chance, frame_learnt = np.empty(64 * (width + 2)), np.empty(64 * (width + 2))
    longest = 1
    for query in range(first, last):
        longest = max(longest, starts[query + 1] - starts[query])
    arena, times = np.empty(longest * (width + 4), np.int64), np.empty(longest * (width + 4), np.int64)
    for query in range(first, last):
        slot = chosen[query]
        own = np.sort(masks[starts[query] : starts[query + 1]] & left[query])
        top = 0
        for index in range(len(own)):
            if index and own[index] == own[index - 1]:
                times[top - 1] += 1
            else:
                arena[top], times[top] = own[index], 1
                top += 1
        frames = 1
        frame_begin[0], frame_end[0], frame_left[0] = 0, top, left[query]
        frame_chance[0], frame_learnt[0] = chance * spread[slot], learnt[query] - rest[slot]
        while frames:
            frames -= 1
            begin, end, remaining, scale, consequence = (
                frame_begin[frames],
                frame_end[frames],
                frame_left[frames],
                frame_chance[frames],
                frame_learnt[frames],
            )
            common, count, all_agree, quiet_count = remaining, 0, 0, 0
            for index in range(begin, end):
                common &= arena[index]
                count += times[index]
                if arena[index] & remaining & quiet == remaining & quiet:
                    quiet_count += times[index]
                    if arena[index] & remaining == remaining:
                        all_agree += times[index]
            open_spread, open_rest, quiet_spread, quiet_rest = 1.0, 0.0, 1.0, 0.0
            for bit_number in range(width):
                bit = np.int64(1) << bit_number
                if common & bit:
                    scale *= 1 + chances[bit_number]
                    consequence -= weights[slot, bit_number] * chances[bit_number] / (1 + chances[bit_number])
                elif remaining & bit:
                    open_spread *= 1 + chances[bit_number]
                    open_rest += weights[slot, bit_number] * chances[bit_number] / (1 + chances[bit_number])
                    if bit_number >= loud:
                        quiet_spread *= 1 + chances[bit_number]
                        quiet_rest += weights[slot, bit_number] * chances[bit_number] / (1 + chances[bit_number])
            remaining &= ~common
            own_part = scale * consequence
            larger_part = scale * open_spread * (consequence - open_rest) - own_part
            if remaining == 0:
                low[slot] += own_part / count
                high[slot] += own_part / count
                continue
            has_space = end + (end - begin) * width <= len(arena) and frames + width < len(frame_begin)
            if not has_space or larger_part * (1.0 / all_agree - 1.0 / count) <= allowed[slot]:
                low[slot] += (own_part + larger_part) / count
                high[slot] += own_part / count + larger_part / all_agree
                continue
            low[slot] += own_part / count
            high[slot] += own_part / count
            top, ending = end, width
            quiet_part = scale * quiet_spread * (consequence - quiet_rest) - own_part
            if quiet_part * (1.0 / quiet_count - 1.0 / count) <= allowed[slot]:
                low[slot] += quiet_part / count
                high[slot] += quiet_part / quiet_count
                ending = loud
            for bit_number in range(ending):
                bit = np.int64(1) << bit_number
                if remaining & bit:
                    remaining &= ~bit
                    child_begin = top
                    for index in range(begin, end):
                        if arena[index] & bit:
                            arena[top], times[top] = arena[index], times[index]
                            top += 1
                    frame_begin[frames], frame_end[frames], frame_left[frames] = child_begin, top, remaining
                    frame_chance[frames], frame_learnt[frames] = (
                        scale * chances[bit_number],
                        consequence - weights[slot, bit_number],
                    )
                    frames += 1
