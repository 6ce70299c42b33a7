"""Random changes of category by a transition matrix, drawn by Walker's alias method (Vose 1991)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.runtime.compiled import compiled_unless_small

if TYPE_CHECKING:
    from numpy.typing import NDArray

AliasTables = tuple["NDArray[np.float64]", "NDArray[np.uint32]"]
"""Two arrays ``[old code, slot]``: the limit of each slot, and its alias, which is drawn above the limit."""


def retention_matrix(retention: float, size: int) -> NDArray[np.float64]:
    """A matrix that retains a category with this probability; all other categories are equally likely."""
    matrix = np.full((size, size), (1 - retention) / max(size - 1, 1))
    np.fill_diagonal(matrix, retention if size > 1 else 1.0)
    return matrix


def invariant_matrix(matrix: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """R = P Q, with Q the inverse of P by Bayes' rule under the counts t, so that t R = t.

    Q_jk = P_kj t_k / sum over l of P_lj t_l: the second stage undoes the first in distribution (Kooiman et al. 1997).
    """
    joint = counts[:, None] * matrix
    totals = joint.sum(axis=0)
    inverse = np.where(totals[:, None] > 0, joint.T / np.where(totals > 0, totals, 1)[:, None], np.eye(len(counts)))
    return np.asarray(np.einsum("ij,jk->ik", matrix, inverse))


def change_categories(codes: NDArray[Any], matrix: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Draw a new code for each record from the matrix row of its old code; ``uniform`` holds one number in [0, 1) per record."""
    return draw_categories(codes, build_alias_tables(matrix), uniform)


def build_alias_tables(matrix: NDArray[np.float64]) -> AliasTables:
    """The alias tables of a transition matrix, in O(size^2); they are built once for all records."""
    size = matrix.shape[1]
    limits, aliases = np.ones(matrix.shape), np.zeros(matrix.shape, dtype=np.uint32)
    rows = matrix / matrix.sum(axis=1, keepdims=True)
    _fill_aliases(rows, limits, aliases, np.empty((2, size), dtype=np.int64), np.empty(size))
    return limits, aliases


def draw_categories(codes: NDArray[Any], tables: AliasTables, uniform: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Draw a new code for each record from alias tables, in O(1) per record."""
    limits, aliases = tables
    return np.asarray(_draw_categories(codes, limits, aliases, uniform, np.empty(len(codes), dtype=np.uint32)))


def draw_present_categories(
    codes: NDArray[Any], size: int, tables: AliasTables, uniform: NDArray[np.float64]
) -> NDArray[np.uint32]:
    """As ``draw_categories``, but codes of ``size`` and above are nulls and are left unchanged."""
    is_null = codes >= size
    if not is_null.any():
        return draw_categories(codes, tables, uniform)
    changed = draw_categories(np.where(is_null, 0, codes), tables, uniform) if size else np.empty(len(codes), dtype=np.uint32)
    changed[is_null] = codes[is_null]
    return changed


# rows[old code, new code]: probabilities, each row sums to 1. Output limits and aliases [old code, slot]: a draw in slot s means
# category s up to the limit, and the alias above it. Scratch: worklists[0] and [1] hold the slots below and at or above their
# full share, scaled[category] what is left of size * probability. O(size^2) in all.
# Trap: by rounding, a slot can be left over although its category has probability 0; it must never be drawn.
def _fill_in_python(rows: Any, limits: Any, aliases: Any, worklists: Any, scaled: Any) -> None:
    """Fill the alias tables of all rows."""
    size = rows.shape[1]
    for row in range(rows.shape[0]):
        small_count, large_count, likeliest = 0, 0, 0
        for category in range(size):
            scaled[category] = rows[row, category] * size
            if rows[row, category] > rows[row, likeliest]:
                likeliest = category
            if scaled[category] < 1.0:
                worklists[0, small_count] = category
                small_count += 1
            else:
                worklists[1, large_count] = category
                large_count += 1
        while small_count and large_count:
            small_count -= 1
            under_full, over_full = worklists[0, small_count], worklists[1, large_count - 1]
            limits[row, under_full], aliases[row, under_full] = scaled[under_full], over_full
            scaled[over_full] -= 1.0 - scaled[under_full]
            if scaled[over_full] < 1.0:
                large_count -= 1
                worklists[0, small_count] = over_full
                small_count += 1
        for remaining in range(small_count):  # left over by rounding only
            category = worklists[0, remaining]
            limits[row, category], aliases[row, category] = (1.0, category) if rows[row, category] > 0 else (0.0, likeliest)


_fill_aliases = compiled_unless_small(_fill_in_python)(_fill_in_python)


def _draw_with_numpy(codes: Any, limits: Any, aliases: Any, uniform: Any, new_codes: Any) -> Any:
    size = limits.shape[1]
    position = uniform * size
    slot = np.minimum(position.astype(np.int64), size - 1)
    new_codes[:] = np.where(position - slot < limits[codes, slot], slot, aliases[codes, slot])
    return new_codes


# codes[record]: old codes; uniform[record] in [0, 1); new_codes[record] is the output. O(records).
@compiled_unless_small(_draw_with_numpy)
def _draw_categories(codes: Any, limits: Any, aliases: Any, uniform: Any, new_codes: Any) -> Any:
    size = limits.shape[1]
    for record in range(len(codes)):
        row, position = codes[record], uniform[record] * size
        slot = min(int(position), size - 1)
        limit, alias = limits[row, slot], aliases[row, slot]  # reading both avoids a branch that is hard to predict
        new_codes[record] = slot if position - slot < limit else alias
    return new_codes
