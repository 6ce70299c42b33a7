"""Categories that change at random by a matrix of probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


def change(codes: NDArray[Any], matrix: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """A new code for each record, from the row of its old one."""
    ladder = np.cumsum(matrix, axis=1)
    ladder /= ladder[:, -1:]
    # the top of the ladder is reached by the last category that has any probability, never by one that has none
    last = matrix.shape[1] - 1 - np.argmax(matrix[:, ::-1] > 0, axis=1)
    ladder[np.arange(matrix.shape[1])[None, :] >= last[:, None]] = 1.0
    return np.asarray(_change(codes, ladder, uniform, np.empty(len(codes), dtype=np.int64)))


@compiled
def _change(codes: Any, ladder: Any, uniform: Any, made: Any) -> Any:
    for at in range(len(codes)):
        row, low, high = codes[at], 0, ladder.shape[1] - 1
        while low < high:
            middle = (low + high) // 2
            if ladder[row, middle] > uniform[at]:
                high = middle
            else:
                low = middle + 1
        made[at] = low
    return made
