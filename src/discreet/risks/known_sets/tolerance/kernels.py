"""Compiled loops over the distinct rows of known sets with minor attributes; see :mod:`discreet.risks.known_sets.tolerance.walk`.

A *level* is a known set with its distinct rows. ``counts[row]`` is the number of records of a row. ``place[row]`` is the pattern
of minor values of its only record where the count is 1, otherwise the row's place in ``tallies`` and ``cells``.
``tallies[place, entry]`` counts the records of the row that have an entry, ``cells[place]`` are the coefficients of A and then of
B for each entry. ``sums[row]`` are A, B, U, H and, where a main attribute is sensitive, V of the row.
The entries of pattern q are ``entries[begin[q]:begin[q + 1]]``. All loops are linear in rows x entries, or better.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.engine.runtime.compiled import compiled


@compiled
def place_rows(of: Any, place: Any, new_counts: Any, new_place: Any) -> int:
    """Fill ``new_place`` of the rows of a smaller set; returns how many of them have several records."""
    several = 0
    for row in range(len(new_counts)):
        if new_counts[row] > 1:
            new_place[row] = several
            several += 1
    for row in range(len(of)):
        if new_counts[of[row]] == 1:
            new_place[of[row]] = place[row]
    return several


@compiled
def add_tallies(
    of: Any, counts: Any, place: Any, tallies: Any, begin: Any, entries: Any, new_counts: Any, new_place: Any, new_tallies: Any
) -> None:
    """Add up the tallies of the rows of a smaller set; ``of[row]`` is the new row of each row."""
    width = new_tallies.shape[1]
    for row in range(len(of)):
        own = of[row]
        if new_counts[own] > 1:
            target, source = new_place[own], place[row]
            if counts[row] == 1:
                for at in range(begin[source], begin[source + 1]):
                    new_tallies[target, entries[at]] += 1
            else:
                for entry in range(width):
                    new_tallies[target, entry] += tallies[source, entry]


@compiled
def _add_known(key: Any, shift: Any, mask: Any, weight_begin: Any, weights: Any) -> float:
    """What is known of a row by the sensitive attributes of its set (as in cover_kernels.add_set)."""
    known = 0.0
    for k in range(len(shift)):
        known += weights[weight_begin[k] + np.int64((key >> shift[k]) & mask[k])]
    return known


@compiled
def _largest(value: int, most: int, second: int, third: int) -> tuple[int, int, int]:
    """The three largest of four numbers, the last three of which are in falling order."""
    return max(most, value), max(second, min(most, value)), max(third, min(second, value))


@compiled
def _write_sums(row: int, total: float, taken: float, alone: float, bound: float, alone_taken: float, sums: Any) -> None:
    """Write A, B, U, H and V of a row."""
    sums[row, 0], sums[row, 1], sums[row, 2], sums[row, 3] = total, taken, alone, bound
    if sums.shape[1] > 4:
        sums[row, 4] = alone_taken


# first[f]:first[f + 1]: the entries of minor attribute f, one for each of its values but the base value.
# inverse[n] = 1 / n, and 0 for no records, whose part nobody reads.
@compiled
def add_singles(
    keys: Any, counts: Any, place: Any, tallies: Any, chance: float, shift: Any, mask: Any, weight_begin: Any, weights: Any,
    first: Any, chances: Any, base_weights: Any, entry_weights: Any, inverse: Any, sums: Any, cells: Any,
) -> None:  # fmt: skip
    """Write the terms of a set, and of the set with every minor attribute more, to the sums and cells of its rows."""
    minor, width = len(chances), len(entry_weights)
    for row in range(len(keys)):
        known = _add_known(keys[row], shift, mask, weight_begin, weights)
        count = counts[row]
        if count == 1:
            _write_sums(row, 0.0, 0.0, chance, 0.0, chance * known, sums)  # larger sets are summed in closed form later
            continue
        tally, cell = tallies[place[row]], cells[place[row]]
        total, most, second, third = chance * inverse[count], 0, 0, 0
        taken = total * known
        for f in range(minor):
            base, part = count, chance * chances[f]
            for entry in range(first[f], first[f + 1]):
                base -= tally[entry]
            most, second, third = _largest(count - base, most, second, third)
            usual = part * inverse[base]
            usual_taken = usual * (known + base_weights[f])
            total += usual
            taken += usual_taken
            for entry in range(first[f], first[f + 1]):
                other = part * inverse[tally[entry]]
                cell[entry] = other - usual
                cell[width + entry] = other * (known + entry_weights[entry]) - usual_taken
        _write_sums(row, total, taken, 0.0, chance / max(count - most - second - third, 1), 0.0, sums)


# The same where every minor attribute has two values, which takes half the time.
@compiled
def add_binary_singles(
    keys: Any, counts: Any, place: Any, tallies: Any, chance: float, shift: Any, mask: Any, weight_begin: Any, weights: Any,
    chances: Any, base_weights: Any, entry_weights: Any, inverse: Any, sums: Any, cells: Any,
) -> None:  # fmt: skip
    """Write the terms of a set, and of the set with every minor attribute more, to the sums and cells of its rows."""
    width = len(chances)
    for row in range(len(keys)):
        known = _add_known(keys[row], shift, mask, weight_begin, weights)
        count = counts[row]
        if count == 1:
            _write_sums(row, 0.0, 0.0, chance, 0.0, chance * known, sums)  # larger sets are summed in closed form later
            continue
        own = place[row]
        total, most, second, third = chance * inverse[count], 0, 0, 0
        taken = total * known
        for f in range(width):
            tally, part = tallies[own, f], chance * chances[f]
            usual, other = part * inverse[count - tally], part * inverse[tally]
            usual_taken = usual * (known + base_weights[f])
            cells[own, f] = other - usual
            cells[own, width + f] = other * (known + entry_weights[f]) - usual_taken
            total += usual
            taken += usual_taken
            most, second, third = _largest(tally, most, second, third)
        _write_sums(row, total, taken, 0.0, chance / max(count - most - second - third, 1), 0.0, sums)


# As add_singles; column pair[j, k] of tallies and cells belongs to the entries j < k of two minor attributes. Of two attributes
# with the values v and w a record needs e(v, w) = chance p p' / count(v, w): it is put together from that of both base values,
# what one entry changes, and what two entries change together.
@compiled
def add_pairs(
    keys: Any, counts: Any, place: Any, tallies: Any, chance: float, shift: Any, mask: Any, weight_begin: Any, weights: Any,
    first: Any, chances: Any, base_weights: Any, entry_weights: Any, pair: Any, inverse: Any, sums: Any, cells: Any,
) -> None:  # fmt: skip
    """Write the terms of a set with every two minor attributes more to the sums and cells of its rows."""
    minor, width = len(chances), cells.shape[1] // 2
    one_of, one_taken_of = np.zeros(len(entry_weights)), np.zeros(len(entry_weights))
    for row in range(len(keys)):
        known = _add_known(keys[row], shift, mask, weight_begin, weights)
        count = counts[row]
        if count == 1:
            _write_sums(row, 0.0, 0.0, chance, 0.0, chance * known, sums)  # larger sets are summed in closed form later
            continue
        tally, cell, total, taken, most, second, third = tallies[place[row]], cells[place[row]], 0.0, 0.0, 0, 0, 0
        cell[:] = 0.0
        for f in range(minor):
            base = count
            for j in range(first[f], first[f + 1]):
                base -= tally[j]
            most, second, third = _largest(count - base, most, second, third)
            for g in range(f + 1, minor):
                part, both = chance * chances[f] * chances[g], base
                for k in range(first[g], first[g + 1]):
                    met = tally[k]  # records with entry k and the base value of f
                    for j in range(first[f], first[f + 1]):
                        met -= tally[pair[j, k]]
                    both -= met
                    one_of[k] = part * inverse[met]
                    one_taken_of[k] = one_of[k] * (known + base_weights[f] + entry_weights[k])
                usual = part * inverse[both]
                usual_taken = usual * (known + base_weights[f] + base_weights[g])
                total += usual
                taken += usual_taken
                for k in range(first[g], first[g + 1]):
                    cell[k] += one_of[k] - usual
                    cell[width + k] += one_taken_of[k] - usual_taken
                for j in range(first[f], first[f + 1]):
                    met = tally[j]
                    for k in range(first[g], first[g + 1]):
                        met -= tally[pair[j, k]]
                    single = part * inverse[met]
                    single_taken = single * (known + entry_weights[j] + base_weights[g])
                    cell[j] += single - usual
                    cell[width + j] += single_taken - usual_taken
                    for k in range(first[g], first[g + 1]):
                        two = part * inverse[tally[pair[j, k]]]
                        cell[pair[j, k]] = two - single - one_of[k] + usual
                        cell[width + pair[j, k]] = (
                            two * (known + entry_weights[j] + entry_weights[k]) - single_taken - one_taken_of[k] + usual_taken
                        )
        _write_sums(row, total, taken, 0.0, chance / max(count - most - second - third, 1), 0.0, sums)


# The same where every minor attribute has two values. The pairs of an entry with later ones stand side by side, in this order.
@compiled
def add_binary_pairs(
    keys: Any, counts: Any, place: Any, tallies: Any, chance: float, shift: Any, mask: Any, weight_begin: Any, weights: Any,
    chances: Any, base_weights: Any, entry_weights: Any, inverse: Any, sums: Any, cells: Any,
) -> None:  # fmt: skip
    """Write the terms of a set with every two minor attributes more to the sums and cells of its rows."""
    minor, width = len(chances), cells.shape[1] // 2
    for row in range(len(keys)):
        known = _add_known(keys[row], shift, mask, weight_begin, weights)
        count = counts[row]
        if count == 1:
            _write_sums(row, 0.0, 0.0, chance, 0.0, chance * known, sums)  # larger sets are summed in closed form later
            continue
        own, total, taken, most, second, third = place[row], 0.0, 0.0, 0, 0, 0
        for entry in range(minor):
            cells[own, entry], cells[own, width + entry] = 0.0, 0.0
        at = np.uint64(minor)
        for f in range(minor):
            tally, part, single, single_taken = tallies[own, f], chance * chances[f], 0.0, 0.0
            most, second, third = _largest(tally, most, second, third)
            own_weight, base_weight = known + entry_weights[f], known + base_weights[f]
            for g in range(np.uint64(f + 1), np.uint64(minor)):
                both = tallies[own, at]
                others, each = tallies[own, g] - both, part * chances[g]
                none, ours = each * inverse[count - tally - others], each * inverse[tally - both]
                theirs, two = each * inverse[others], each * inverse[both]
                none_taken = none * (base_weight + base_weights[g])
                ours_taken = ours * (own_weight + base_weights[g])
                theirs_taken = theirs * (base_weight + entry_weights[g])
                total += none
                taken += none_taken
                single += ours - none
                single_taken += ours_taken - none_taken
                cells[own, g] += theirs - none
                cells[own, width + g] += theirs_taken - none_taken
                cells[own, at] = two - ours - theirs + none
                cells[own, width + at] = two * (own_weight + entry_weights[g]) - ours_taken - theirs_taken + none_taken
                at += np.uint64(1)
            cells[own, f] += single
            cells[own, width + f] += single_taken
        _write_sums(row, total, taken, 0.0, chance / max(count - most - second - third, 1), 0.0, sums)


@compiled
def carry(
    of: Any, counts: Any, place: Any, begin: Any, entries: Any, small_counts: Any, small_place: Any, small_sums: Any,
    small_cells: Any, sums: Any, cells: Any,
) -> None:  # fmt: skip
    """Add the sums of the rows of a smaller set, ``of[row]``, to those of a larger one; rows with one record need no cells."""
    width = small_cells.shape[1] // 2
    for row in range(len(of)):
        own = of[row]
        for part in range(sums.shape[1]):
            sums[row, part] += small_sums[own, part]
        if small_counts[own] > 1:
            source, target = small_place[own], place[row]
            if counts[row] == 1:
                total, taken = 0.0, 0.0
                for at in range(begin[target], begin[target + 1]):
                    total += small_cells[source, entries[at]]
                    taken += small_cells[source, width + entries[at]]
                sums[row, 0] += total
                sums[row, 1] += taken
            else:
                for entry in range(2 * width):
                    cells[target, entry] += small_cells[source, entry]
