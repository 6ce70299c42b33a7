"""The kernels of the walk with NumPy alone, for tables too small for the compiler; the same results to the last bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def flag_uniques(
    rows: NDArray[np.int32],
    bounds: NDArray[np.int32],
    codes: NDArray[Any],
    records: NDArray[np.uint8],
    null_code: int,
    tally: NDArray[np.int32],
    flags: NDArray[np.bool_],
) -> None:
    """As the kernel: flag the rows that no other record shares the group and the code with. O(rows x log(rows))."""
    keys, members = _number_subgroups(rows, bounds, codes, null_code, len(tally))
    _, numbers = np.unique(keys, return_inverse=True)
    totals = np.bincount(numbers, weights=records[members])
    flags[members[totals[numbers] == 1]] = True


def refine_groups(
    rows: NDArray[np.int32],
    bounds: NDArray[np.int32],
    codes: NDArray[Any],
    candidates: int,
    null_code: int,
    least: int,
    tally: NDArray[np.int32],
    _offsets: NDArray[np.int32],
    flags: NDArray[np.bool_],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """As the kernel: split groups by one more key. O(rows x log(rows))."""
    keys, members = _number_subgroups(rows, bounds, codes, null_code, len(tally))
    _, first, numbers, sizes = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    flags[members[(sizes[numbers] == 1) & (members < candidates)]] = True
    has_candidate = np.zeros(len(first), dtype=np.bool_)
    has_candidate[numbers[members < candidates]] = True
    groups = _group_of_position(bounds)[_known_positions(rows, codes, null_code)] if len(members) else np.zeros(0, np.int64)
    order_of_subgroup = np.lexsort((first, groups[first])) if len(first) else np.zeros(0, np.int64)
    rank = np.empty(len(first), dtype=np.int64)
    rank[order_of_subgroup] = np.arange(len(first))
    kept = has_candidate & (sizes >= least)
    chosen = np.flatnonzero(kept[numbers])
    ordered = chosen[np.argsort(rank[numbers[chosen]], kind="stable")]
    new_sizes = sizes[order_of_subgroup][kept[order_of_subgroup]]
    new_bounds = np.concatenate((np.zeros(1, np.int64), np.cumsum(new_sizes))).astype(np.int32)
    return members[ordered], new_bounds


def _number_subgroups(
    rows: NDArray[np.int32], bounds: NDArray[np.int32], codes: NDArray[Any], null_code: int, cardinality: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """A number for the group and code of each row whose code is known, and these rows."""
    known = _known_positions(rows, codes, null_code)
    members = rows[known]
    return _group_of_position(bounds)[known] * cardinality + codes[members], members


def _known_positions(rows: NDArray[np.int32], codes: NDArray[Any], null_code: int) -> NDArray[np.int64]:
    return np.flatnonzero(codes[rows].astype(np.int64) != null_code)


def _group_of_position(bounds: NDArray[np.int32]) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(bounds) - 1, dtype=np.int64), np.diff(bounds))
