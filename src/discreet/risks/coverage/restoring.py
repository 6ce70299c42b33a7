"""Masked columns that released ones restore: by a copy, an exact relation, or the fast predictor, against the best guess."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.encoding.columns import encode_series
from discreet.engine.encoding.unique_keys import unique_keys
from discreet.model.attribute import Role
from discreet.risks.coverage.copies import Copies, equal_cells, read_copies
from discreet.risks.coverage.determinants import COARSE, Determinant, bin_codes, determinants_of
from discreet.risks.coverage.lookups import Puzzle, best_guess, split
from discreet.risks.coverage.pairing import Paired
from discreet.risks.coverage.relations import Numbers, find_relation, read_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXACT_VALUES = 64
_TWENTIETHS = 20
_SUPPORT, _SUPPORT_OF_NAMES = 2, 10
"""Records per different value, in the mean, from which the predictor is asked; of identifiers and persons more, because that
records of one person look alike is what other measures count."""
_NAMES = (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD)
"""Roles whose values only name somebody."""
_DIFFERENT = 0.9
"""Share of different values from which the whole numbers of an identifier number the records, and are no amounts."""
_LEAST_CELLS = 10
_LEAST_EXACT = 2
"""Masked cells that must exist for a relation that holds in the whole original to be worth a word."""
_DEVIATIONS = 3.0
"""A gain counts where it is more than so many standard errors: one-sided, less than one false alarm in 700."""


@dataclass(frozen=True)
class Restored:
    """How much of a masked column is restored: the share of its masked cells, beside that of the best guess without others."""

    column: str
    masked: int
    share: float
    baseline: float
    sources: tuple[str, ...]
    rule: str
    clear: bool
    exact: bool = False
    """Counted on every masked cell; otherwise on held-out cells of a sample."""
    nearly: bool = False
    """Restored means: to within a twentieth of the records, because the column has many different numbers."""


@dataclass(frozen=True)
class Needed:
    """What must be restored before it is called so."""

    share: float
    gain: float


@dataclass(frozen=True, eq=False)
class Evidence:
    """What an intruder restores from: the released columns as codes and as numbers, of the sampled records."""

    paired: Paired
    sample: NDArray[np.int64]
    determinants: Sequence[Determinant]
    numbers: Numbers
    copies: Copies


def gather_evidence(paired: Paired, sample: NDArray[np.int64]) -> Evidence:
    """Encode the released columns of the sampled records, once for all masked columns."""
    return Evidence(paired, sample, determinants_of(paired, sample), read_numbers(paired, sample), read_copies(paired, sample))


def restore(target: str, evidence: Evidence, needed: Needed) -> Restored | None:
    """The best restoration of one masked column; None where too few cells are masked to say anything."""
    paired, sample = evidence.paired, evidence.sample
    hidden = paired.hidden(target)
    masked = int(hidden.sum())
    if masked < _LEAST_EXACT or all(name == target for name in paired.data.columns):
        return None
    puzzle, nearly = _puzzle(paired, target, sample, hidden)
    exact = _exactly(evidence, target, hidden, needed, puzzle)
    if exact is not None and exact.clear:
        return exact
    # nobody shares a value, or only the rows of one person do: what is learnt of some values tells nothing of others
    support = _SUPPORT_OF_NAMES if paired.original.attribute(target).role in _NAMES else _SUPPORT
    if support * puzzle.values > int(puzzle.known.sum()):
        return exact
    return _guessed(puzzle, target, masked, evidence.determinants, needed, nearly) or exact


def _puzzle(paired: Paired, target: str, sample: NDArray[np.int64], hidden: NDArray[np.bool_]) -> tuple[Puzzle, bool]:
    truth = encode_series(paired.true_values(target, sample))
    numeric = truth.values.dtype.is_numeric() or truth.values.dtype.is_temporal()
    nearly = numeric and len(truth.values) > _EXACT_VALUES and not _is_serial_number(paired, target)
    codes, number = bin_codes(truth, _TWENTIETHS + 1) if nearly else (truth.codes.astype(np.int64), truth.cardinality)
    own, own_number = None, 0
    if target in paired.data.columns:
        own, own_number = bin_codes(encode_series(paired.released(target, sample)), COARSE)
    return Puzzle(codes, number, own, own_number, hidden[sample], ~truth.is_null, paired.order()[sample]), nearly


def _is_serial_number(paired: Paired, target: str) -> bool:
    """Whether a column numbers records, persons or households: a number that is guessed nearly right names somebody else.

    In a file that is sorted by place, the place says nearly which number a record has.
    """
    role, values = paired.original.attribute(target).role, paired.true_values(target)
    if role not in _NAMES or not values.dtype.is_integer():
        return False
    return role is not Role.IDENTIFIER or values.n_unique() >= _DIFFERENT * len(values)


def _exactly(evidence: Evidence, target: str, hidden: NDArray[np.bool_], needed: Needed, puzzle: Puzzle) -> Restored | None:
    """A copy or an arithmetic relation, counted on every masked cell."""
    paired = evidence.paired
    masked = int(hidden.sum())
    if not hidden[evidence.sample].any():
        return None
    if (copy := evidence.copies.find(paired, target, hidden)) is not None:
        right = equal_cells(paired.released_values(copy), paired.true_values(target))
        sources: tuple[str, ...] = (copy,)
        rule = copy
    elif (relation := find_relation(paired, target, evidence.numbers)) is not None:
        right = relation.restores(paired, target)
        sources, rule = relation.sources, relation.label
    else:
        return None
    share = float(right[hidden].mean())
    baseline = best_constant(puzzle)
    rare = hidden & ~_commonest(paired.truth(target))
    telling = int(rare.sum()) == 0 or float(right[rare].mean()) >= needed.share
    clear = share >= needed.share and telling and _beyond(share, baseline, masked, needed)
    return Restored(target, masked, share, baseline, sources, rule, clear, exact=True)


def best_constant(puzzle: Puzzle) -> float:
    """The share of masked cells that hold the commonest value of their released label: the best guess without others."""
    cells = np.flatnonzero(puzzle.masked & puzzle.known)
    if not len(cells):
        return 0.0
    own = puzzle.own[cells] if puzzle.own is not None else np.zeros(len(cells), dtype=np.int64)
    _, counts = np.unique(own * puzzle.values + puzzle.truth[cells], return_counts=True)
    labels = unique_keys(own * puzzle.values + puzzle.truth[cells]) // puzzle.values
    best = np.zeros(int(labels.max()) + 1, dtype=np.int64)
    np.maximum.at(best, labels, counts)
    # a label with as many values as cells says nothing of other cells: of each label one cell is taken off as learnt from
    return float(max(int((best - (best > 0)).sum()), 0) / len(cells))


def _guessed(
    puzzle: Puzzle, target: str, masked: int, determinants: Sequence[Determinant], needed: Needed, nearly: bool
) -> Restored | None:
    parts = split(puzzle)
    everywhere = bool(puzzle.masked[puzzle.known].all())
    usable = [determinant for determinant in determinants if determinant.source != target or everywhere]
    if len(parts.test) < _LEAST_CELLS:
        return None
    guess = best_guess(target, puzzle, usable, parts)
    if guess is None:
        return None
    number = len(guess.right)
    share, baseline = float(guess.right.mean()), float(guess.baseline.mean())
    apart = int((guess.right != guess.baseline).sum())
    gain = share - baseline
    clear = gain > _DEVIATIONS * math.sqrt(apart) / number and share >= needed.share and _large(gain, baseline, needed)
    sources = tuple(name for name in guess.sources if name != target)
    clear = clear and bool(sources)  # what its own released values give away is the masking itself, not a leak elsewhere
    return Restored(target, masked, share, baseline, sources, guess.label, clear, nearly=nearly)


def _large(gain: float, baseline: float, needed: Needed) -> bool:
    """Whether a gain is large: as the owner says, or half of all that the best guess gets wrong."""
    return gain >= needed.gain or (gain > 0 and gain >= 0.5 * (1 - baseline))


def _beyond(share: float, baseline: float, cells: int, needed: Needed) -> bool:
    """As above for a share that was counted on all masked cells, against chance."""
    deviation = math.sqrt(baseline * (1 - baseline) / cells)
    return _large(share - baseline, baseline, needed) and (
        share - baseline > _DEVIATIONS * deviation or (share >= 0.99 and cells < _LEAST_CELLS)
    )


def _commonest(truth: pl.Series) -> NDArray[np.bool_]:
    top = truth.drop_nulls().mode().sort()
    return (truth == top[0]).fill_null(value=False).to_numpy() if len(top) else np.zeros(len(truth), dtype=np.bool_)
