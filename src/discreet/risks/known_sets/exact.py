r"""The exact end of a narrowing walk: the sum over all larger sets for a record in a small group.

Each record of the group agrees with the one in question on some of the attributes that are left, which is a bit mask. The number
that agree on a set U is the number of masks that contain U, so the sum over all U

    \sum_U p_U (C - c_T - c_U) / #{masks that contain U}

needs the masks alone. Attributes on which all agree change no count and are summed in closed form; the others are tried one by
one, on the masks that contain them, until the masks are all alike.
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

MOST_ATTRIBUTES = 62


def masks_of(
    lists: Sequence[Any], classes: Sequence[Any], chosen: NDArray[np.uint32], places: Sequence[int], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each chosen query the masks of the records in its group, as one array and where each query's begin.

    Bit i says that a record agrees on ``places[i]``.
    """
    rank = np.full(size, -1, dtype=np.int64)
    rank[chosen] = np.arange(len(chosen))
    parts = []
    lengths = np.zeros(len(chosen) + 1, dtype=np.int64)
    for level, own in zip(lists, classes, strict=True):
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
        parts.append((own, rows, begin, queries, groups))
    starts = np.cumsum(lengths)
    masks = np.zeros(starts[-1], dtype=np.int64)
    fill = starts[:-1].copy()
    for own, rows, begin, queries, groups in parts:
        codes = np.zeros((len(rows), len(places)), dtype=np.uint32)
        query_codes = np.zeros((len(chosen), len(places)), dtype=np.uint32)
        for at, place in enumerate(places):
            codes[:, at] = own.codes[place][rows]
            query_codes[:, at] = own.query_codes[place][chosen]
        offset, offsets, run_begin, run_end = _runs(own, places)
        _fill(codes, query_codes, begin, queries, groups, offset, offsets, run_begin, run_end, fill, masks)
    return masks, starts


def _runs(own: Any, places: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The runs of codes that agree, of all places in one list: where each place's offsets begin (-1: equal codes), and these."""
    if not own.relations:
        return np.full(len(places), -1), np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    offset, starts, begin, end = [], [], [], []
    size = runs = 0
    for place in places:
        relation = own.relations[place]
        offset.append(size)
        starts.append(relation.starts + runs)
        begin.append(relation.begin)
        end.append(relation.end)
        size, runs = size + len(relation.starts), runs + len(relation.begin)
    return np.array(offset), np.concatenate(starts), np.concatenate(begin), np.concatenate(end)


@compiled
def _fill(
    codes: Any, query_codes: Any, begin: Any, queries: Any, groups: Any, offset: Any, starts: Any, run_begin: Any, run_end: Any,
    fill: Any, masks: Any,
) -> None:  # fmt: skip
    for at in range(len(queries)):
        query, group = queries[at], groups[at]
        for row in range(begin[group], begin[group + 1]):
            mask = np.int64(0)
            for place in range(codes.shape[1]):
                value = codes[row, place]
                same = False
                if offset[place] < 0:
                    same = value == query_codes[query, place]
                else:
                    own = offset[place] + np.int64(query_codes[query, place])
                    for run in range(starts[own], starts[own + 1]):
                        if run_begin[run] <= value < run_end[run]:
                            same = True
                            break
                if same:
                    mask |= np.int64(1) << place
            masks[fill[query]] = mask
            fill[query] += 1


@compiled
def finish(
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
    """Add to each query the sum over its set and all larger ones; ``left`` are the attributes it may still be asked by, as bits.

    Attributes from ``loud`` on are quiet: sets of these alone are bounded together where that is narrow enough.
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
        for at in range(len(own)):
            if at and own[at] == own[at - 1]:
                times[top - 1] += 1
            else:
                arena[top], times[top] = own[at], 1
                top += 1
        frames = 1
        frame_begin[0], frame_end[0], frame_left[0] = 0, top, left[query]
        frame_chance[0], frame_learnt[0] = chance * spread[slot], learnt[query] - rest[slot]
        while frames:
            frames -= 1
            begin, end, open_, scale, worth = (
                frame_begin[frames],
                frame_end[frames],
                frame_left[frames],
                frame_chance[frames],
                frame_learnt[frames],
            )
            common, count, all_agree, calm = open_, 0, 0, 0
            for at in range(begin, end):
                common &= arena[at]
                count += times[at]
                if arena[at] & open_ & quiet == open_ & quiet:
                    calm += times[at]
                    if arena[at] & open_ == open_:
                        all_agree += times[at]
            wide, more, calm_wide, calm_more = 1.0, 0.0, 1.0, 0.0
            for place in range(width):
                bit = np.int64(1) << place
                if common & bit:
                    scale *= 1 + chances[place]
                    worth -= weights[slot, place] * chances[place] / (1 + chances[place])
                elif open_ & bit:
                    wide *= 1 + chances[place]
                    more += weights[slot, place] * chances[place] / (1 + chances[place])
                    if place >= loud:
                        calm_wide *= 1 + chances[place]
                        calm_more += weights[slot, place] * chances[place] / (1 + chances[place])
            open_ &= ~common
            here = scale * worth
            below = scale * wide * (worth - more) - here
            if open_ == 0:
                low[slot] += here / count
                high[slot] += here / count
                continue
            room = end + (end - begin) * width <= len(arena) and frames + width < len(frame_begin)
            if not room or below * (1.0 / all_agree - 1.0 / count) <= allowed[slot]:
                low[slot] += (here + below) / count
                high[slot] += here / count + below / all_agree
                continue
            low[slot] += here / count
            high[slot] += here / count
            top, ending = end, width
            calm_mass = scale * calm_wide * (worth - calm_more) - here
            if calm_mass * (1.0 / calm - 1.0 / count) <= allowed[slot]:
                low[slot] += calm_mass / count
                high[slot] += calm_mass / calm
                ending = loud
            for place in range(ending):
                bit = np.int64(1) << place
                if open_ & bit:
                    open_ &= ~bit
                    into = top
                    for at in range(begin, end):
                        if arena[at] & bit:
                            arena[top], times[top] = arena[at], times[at]
                            top += 1
                    frame_begin[frames], frame_end[frames], frame_left[frames] = into, top, open_
                    frame_chance[frames], frame_learnt[frames] = scale * chances[place], worth - weights[slot, place]
                    frames += 1
