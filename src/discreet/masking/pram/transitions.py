"""Categories that change at random by a matrix of probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

Tables = tuple["NDArray[np.float64]", "NDArray[np.uint32]"]
"""The limit and the alias of every slot of every row of a matrix."""


def retention_matrix(retention: float, number: int) -> NDArray[np.float64]:
    """Keep a category with this probability, else take one of the others, each alike."""
    made = np.full((number, number), (1 - retention) / max(number - 1, 1))
    np.fill_diagonal(made, retention if number > 1 else 1.0)
    return made


def invariant(matrix: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """R = P Q with Q the way back from P by Bayes' rule under the shares t, so that t R = t.

    Q_jk = P_kj t_k / sum over l of P_lj t_l: the second stage undoes the first in distribution (Kooiman et al. 1997).
    """
    joint = counts[:, None] * matrix
    reached = joint.sum(axis=0)
    back = np.where(reached[:, None] > 0, joint.T / np.where(reached > 0, reached, 1)[:, None], np.eye(len(counts)))
    return np.asarray(np.einsum("ij,jk->ik", matrix, back))


def change(codes: NDArray[Any], matrix: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.uint32]:
    """A new code for each record, from the row of its old one, by Walker's alias method (Vose 1991): two looks a record."""
    return change_by(codes, alias_tables(matrix), uniform)


def alias_tables(matrix: NDArray[np.float64]) -> Tables:
    """The limit and the alias of every slot of every row, made once for all records."""
    size = matrix.shape[1]
    limits, aliases = np.ones(matrix.shape), np.zeros(matrix.shape, dtype=np.uint32)
    rows = matrix / matrix.sum(axis=1, keepdims=True)
    _fill_aliases(rows, limits, aliases, np.empty((2, size), dtype=np.int64), np.empty(size))
    return limits, aliases


def change_by(codes: NDArray[Any], tables: Tables, uniform: NDArray[np.float64]) -> NDArray[np.uint32]:
    """The same from tables already made, for the records of one block."""
    limits, aliases = tables
    return np.asarray(_change(codes, limits, aliases, uniform, np.empty(len(codes), dtype=np.uint32)))


def change_present(codes: NDArray[Any], size: int, tables: Tables, uniform: NDArray[np.float64]) -> NDArray[np.uint32]:
    """The same where codes of ``size`` and above are no categories: they stay."""
    absent = codes >= size
    if not absent.any():
        return change_by(codes, tables, uniform)
    changed = change_by(np.where(absent, 0, codes), tables, uniform) if size else np.empty(len(codes), dtype=np.uint32)
    changed[absent] = codes[absent]
    return changed


@compiled
def _fill_aliases(rows: Any, limits: Any, aliases: Any, lists: Any, scaled: Any) -> None:
    """Every slot of a row belongs to its category up to the limit, and to its alias beyond."""
    size = rows.shape[1]
    for row in range(rows.shape[0]):
        small, large, likeliest = 0, 0, 0
        for at in range(size):
            scaled[at] = rows[row, at] * size
            if rows[row, at] > rows[row, likeliest]:
                likeliest = at
            if scaled[at] < 1.0:
                lists[0, small] = at
                small += 1
            else:
                lists[1, large] = at
                large += 1
        while small and large:
            small -= 1
            less, more = lists[0, small], lists[1, large - 1]
            limits[row, less], aliases[row, less] = scaled[less], more
            scaled[more] -= 1.0 - scaled[less]
            if scaled[more] < 1.0:
                large -= 1
                lists[0, small] = more
                small += 1
        for left in range(small):  # by rounding only: full slots, unless the category has no probability at all
            at = lists[0, left]
            limits[row, at], aliases[row, at] = (1.0, at) if rows[row, at] > 0 else (0.0, likeliest)


@compiled
def _change(codes: Any, limits: Any, aliases: Any, uniform: Any, made: Any) -> Any:
    size = limits.shape[1]
    for at in range(len(codes)):
        row, place = codes[at], uniform[at] * size
        slot = min(int(place), size - 1)
        limit, alias = limits[row, slot], aliases[row, slot]  # both are read, so that no branch has to be guessed
        made[at] = slot if place - slot < limit else alias
    return made
