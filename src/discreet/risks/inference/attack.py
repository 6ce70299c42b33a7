"""The attack on one secret: each person's nearest released records vote for a guess."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.attacks.distances import ComparedColumn, chunked_distances, distinct_rows, threshold_of_nearest
from discreet.risks.inference.guesses import blind_guess, score_guesses

if TYPE_CHECKING:
    from numpy.typing import NDArray


def attack_secret(
    known: Sequence[ComparedColumn], secret: ComparedColumn, records: int, neighbours: int, tolerance: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each person the probability of a right guess, and that of the best blind guess; NaN where the truth is missing.

    The guess is the released cell of the secret that most of the nearest records have; among equally common ones the intruder
    chooses at random. Suppressed cells do not vote; where all are suppressed, the guess is the blind one.
    """
    truth = secret.people.codes.astype(np.int64)
    has_truth = truth < len(secret.people.values)
    blind = np.full(len(truth), np.nan)
    everybody = blind_guess(secret, tolerance)
    blind[has_truth] = 0.0
    for guess in everybody.tolist():
        blind[has_truth] += score_guesses(secret, truth[has_truth], np.full(has_truth.sum(), guess), tolerance) / len(everybody)
    rows = distinct_rows(known, records)
    votes = _Votes(rows.of, secret)
    success = blind.copy()
    for chunk, distances in chunked_distances(known, rows, len(truth), "inference"):
        limits = threshold_of_nearest(distances, rows.counts, neighbours)
        for index, person in enumerate(chunk.tolist()):
            if not has_truth[person]:
                continue
            guesses = votes.most_common(np.flatnonzero(distances[index] <= limits[index]))
            if len(guesses):
                success[person] = score_guesses(secret, np.full(len(guesses), truth[person]), guesses, tolerance).mean()
    return success, blind


class _Votes:
    """The released cells of the secret in each distinct row of the known columns, with their numbers of records."""

    def __init__(self, row_of_record: NDArray[np.int64], secret: ComparedColumn) -> None:
        codes, cardinality = secret.released.codes.astype(np.int64), secret.released.cardinality
        voting = ~secret.containment.blank[codes]
        pairs, self.counts = np.unique(row_of_record[voting] * cardinality + codes[voting], return_counts=True)
        self.codes = pairs % cardinality
        number = int(row_of_record.max()) + 1 if len(row_of_record) else 0
        self.starts = np.searchsorted(pairs // cardinality, np.arange(number + 1))

    def most_common(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The codes that most records of these distinct rows have; none where all are suppressed."""
        if len(rows) == 1:
            start, stop = self.starts[rows[0]], self.starts[rows[0] + 1]
            codes, counts = self.codes[start:stop], self.counts[start:stop]
        else:
            starts = self.starts[rows]
            lengths = self.starts[rows + 1] - starts
            # the ranges from each row's start on, one after the other: a range per row would cost more than the vote
            places = np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
            codes, inverse = np.unique(self.codes[places], return_inverse=True)
            counts = np.bincount(inverse, weights=self.counts[places])
        return np.asarray(codes[counts == counts.max()] if len(codes) else codes)
