"""The fast predictor: how often a masked value is guessed from released columns, on records it was not learnt from.

Records are divided by a hash of their number into those that rules are learnt from, those that the best rule is chosen on, and
those that it is judged on; the last take no part in the choice. Rules are a lookup by one column, a lookup by two columns, and a
tree. Where a lookup never saw a combination, the best guess without the released columns is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.risks.coverage.determinants import Determinant
from discreet.risks.coverage.kernels import follow_tree, grow_tree, mode_of_cells, score_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PAIR_ROWS, _PAIR_COLUMNS, _PAIRS_TRIED = 4_000, 60, 3
_TREE_VALUES, _TREE_BINS, _TREE_DEPTH, _TREE_LEAST, _TREE_ROWS = 64, 33, 8, 5, 5_000
_LEAST_MASKED = 60


@dataclass(frozen=True)
class Puzzle:
    """A masked column of the sample: its true values as codes, its own released ones (if any), and the cells to guess."""

    truth: NDArray[np.int64]
    values: int
    own: NDArray[np.int64] | None
    own_values: int
    masked: NDArray[np.bool_]
    known: NDArray[np.bool_]
    """Rows whose true value is no null."""
    order: NDArray[np.uint64]


@dataclass(frozen=True)
class Parts:
    """Which rows a rule is learnt from, chosen on and judged on."""

    fit: NDArray[np.int64]
    pick: NDArray[np.int64]
    test: NDArray[np.int64]


@dataclass(frozen=True)
class Guess:
    """What was restored of the judged cells, and what the best guess without other columns gets right, cell by cell."""

    right: NDArray[np.bool_]
    baseline: NDArray[np.bool_]
    sources: tuple[str, ...]
    label: str


def split(puzzle: Puzzle) -> Parts:
    """Five tenths to learn, two to choose, three to judge; where few cells are masked, all of them are judged."""
    tenth = (puzzle.order % np.uint64(10)).astype(np.int64)
    masked, plain = puzzle.masked & puzzle.known, ~puzzle.masked & puzzle.known
    few = int(masked.sum()) < _LEAST_MASKED and int(plain.sum()) >= 5 * int(masked.sum())
    if few:
        pick = plain & (tenth >= 7)
        return Parts(np.flatnonzero(plain & ~pick), np.flatnonzero(pick), np.flatnonzero(masked))
    pick, test = masked & (tenth >= 5) & (tenth < 7), masked & (tenth >= 7)
    return Parts(np.flatnonzero(puzzle.known & ~pick & ~test), np.flatnonzero(pick), np.flatnonzero(test))


def best_guess(target: str, puzzle: Puzzle, determinants: Sequence[Determinant], parts: Parts) -> Guess | None:
    """The rule that guesses best, judged; None where there is nothing to learn from or to judge."""
    if not len(parts.fit) or not len(parts.pick) or not len(parts.test) or not determinants:
        return None
    fallback, baseline = _baseline(puzzle, parts)
    cells: list[tuple[float, tuple[int, ...]]] = []
    for at, determinant in enumerate(determinants):
        if determinant.source == target:
            continue  # by itself that is the baseline
        cells.append((_picked(puzzle, parts, *determinant.looked_up, fallback), (at,)))
    cells.sort(key=lambda cell: -cell[0])
    ranked = [cell[1][0] for cell in cells]
    if not cells:
        return None
    own = [at for at, determinant in enumerate(determinants) if determinant.label == target]
    pairs = _best_pairs(puzzle, parts, determinants, [*own, *ranked[:_PAIR_COLUMNS]])
    cells = cells[:1] + [(_picked(puzzle, parts, *_joined(determinants, pair), fallback), pair) for pair in pairs]
    # a rule on one column is preferred to one on two that is hardly better
    share, chosen = max(cells, key=lambda cell: cell[0] - 0.002 * len(cell[1]))
    both = np.concatenate((parts.fit, parts.pick))
    telling = [determinants[at] for at in [*own, *ranked[:_PAIR_COLUMNS]]]
    learnt = parts.fit[:_TREE_ROWS]
    tree = _tree(puzzle, telling, learnt, parts.pick)
    if tree is not None and float((tree[0] == puzzle.truth[parts.pick]).mean()) > share + 0.01:
        grown = _tree(puzzle, telling, np.concatenate((learnt, parts.pick)), parts.test)
        if grown is not None:
            used = tuple(dict.fromkeys(telling[at].source for at in grown[1]))
            label = f"a tree on {', '.join(dict.fromkeys(telling[at].label for at in grown[1]))}"
            return Guess(grown[0] == puzzle.truth[parts.test], baseline, used, label)
    codes, number = _joined(determinants, chosen)
    guessed = _look_up(puzzle, codes, number, both, parts.test, fallback)
    sources = tuple(dict.fromkeys(determinants[at].source for at in chosen))
    return Guess(guessed == puzzle.truth[parts.test], baseline, sources, " and ".join(determinants[at].label for at in chosen))


def _baseline(puzzle: Puzzle, parts: Parts) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The best guess without other columns, for every row: by the column's own released value, or its commonest value."""
    both = np.concatenate((parts.fit, parts.pick))
    top = int(np.bincount(puzzle.truth[both], minlength=puzzle.values).argmax())
    common = np.full(len(puzzle.truth), top, dtype=np.int64)
    if puzzle.own is None:
        return common, common[parts.test] == puzzle.truth[parts.test]
    own = _look_up(puzzle, puzzle.own, puzzle.own_values, both, np.arange(len(puzzle.truth)), common)
    truth = puzzle.truth[parts.test]
    better = int((own[parts.test] == truth).sum()) >= int((common[parts.test] == truth).sum())
    chosen = own if better else common
    return chosen, chosen[parts.test] == truth


def _look_up(
    puzzle: Puzzle,
    codes: NDArray[np.int64],
    number: int,
    learnt: NDArray[np.int64],
    asked: NDArray[np.int64],
    fallback: NDArray[np.int64],
) -> NDArray[np.int64]:
    modes = mode_of_cells(codes[learnt], puzzle.truth[learnt], number, puzzle.values)
    guesses = modes[codes[asked]]
    return np.where(guesses >= 0, guesses, fallback[asked])


def _picked(puzzle: Puzzle, parts: Parts, codes: NDArray[np.int64], number: int, fallback: NDArray[np.int64]) -> float:
    guessed = _look_up(puzzle, codes, number, parts.fit, parts.pick, fallback)
    return float((guessed == puzzle.truth[parts.pick]).mean())


def _best_pairs(puzzle: Puzzle, parts: Parts, determinants: Sequence[Determinant], tried: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs of columns whose common values predict best, first looked for on some thousand rows."""
    if len(tried) < 2:
        return []
    rows = np.concatenate((parts.fit, parts.pick))
    judged = np.zeros(len(puzzle.truth), dtype=np.bool_)
    judged[parts.pick] = True
    rows = rows[np.argsort(puzzle.order[rows], kind="stable")][: _PAIR_ROWS + len(parts.pick)]
    chosen = [determinants[at].paired for at in tried]
    codes = np.stack([pair[0][rows] for pair in chosen])
    sizes = np.array([pair[1] for pair in chosen], dtype=np.int64)
    scores = score_pairs(codes, sizes, puzzle.truth[rows], judged[rows])
    best = np.argsort(-scores, axis=None, kind="stable")[:_PAIRS_TRIED]
    pairs = [(tried[int(flat) // len(tried)], tried[int(flat) % len(tried)]) for flat in best]
    return [two for two in pairs if two[0] != two[1] and determinants[two[0]].source != determinants[two[1]].source]


def _joined(determinants: Sequence[Determinant], at: tuple[int, ...]) -> tuple[NDArray[np.int64], int]:
    """One code per combination: of values looked up for one column, of at most 64 ranges each for two."""
    if len(at) == 1:
        return determinants[at[0]].looked_up
    (codes, wide), (other_codes, narrow) = determinants[at[0]].paired, determinants[at[1]].paired
    return codes * narrow + other_codes, wide * narrow


def _tree(
    puzzle: Puzzle, determinants: Sequence[Determinant], learnt: NDArray[np.int64], asked: NDArray[np.int64]
) -> tuple[NDArray[np.int64], list[int]] | None:
    """The tree's guesses of some rows and the columns it uses; values beyond the 63 commonest are never guessed."""
    counts = np.bincount(puzzle.truth[learnt], minlength=puzzle.values)
    kept = np.sort(np.argsort(-counts, kind="stable")[: _TREE_VALUES - 1])
    kept = kept[counts[kept] > 0]
    if len(kept) < 2:
        return None
    table = np.full(puzzle.values, len(kept), dtype=np.int64)
    table[kept] = np.arange(len(kept))
    codes = np.stack([determinant.binned for determinant in determinants])
    column, cut, child, majority = grow_tree(
        np.ascontiguousarray(codes[:, learnt]), table[puzzle.truth[learnt]], _TREE_BINS, len(kept) + 1, _TREE_DEPTH, _TREE_LEAST
    )
    leaves = follow_tree(np.ascontiguousarray(codes[:, asked]), column, cut, child, majority)
    used = np.bincount(column[column >= 0], minlength=len(determinants))
    return np.append(kept, -1)[leaves], [int(at) for at in np.argsort(-used, kind="stable")[:4] if used[at]]
