"""The attack on one secret: each person's nearest released records vote for a guess."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.attacks.distances import ComparedColumn
from discreet.engine.attacks.nearest import NearestSearch, NearRows
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
    search = NearestSearch(known, records, neighbours)
    votes = _Votes(search.of, secret)
    success = blind.copy()
    for near in (part for block in search.walk("inference") for part in block.split(votes.numbers[block.rows])):
        person, guess = votes.most_common(near)
        person += near.start
        person, guess = person[has_truth[person]], guess[has_truth[person]]
        right = score_guesses(secret, truth[person], guess, tolerance)
        number = np.bincount(person, minlength=len(truth))
        guessed = number > 0
        success[guessed] = np.bincount(person, weights=right, minlength=len(truth))[guessed] / number[guessed]
    return success, blind


class _Votes:
    """The released cells of the secret in each distinct row of the known columns, with their numbers of records."""

    def __init__(self, row_of_record: NDArray[np.int64], secret: ComparedColumn) -> None:
        codes, self.cardinality = secret.released.codes.astype(np.int64), secret.released.cardinality
        voting = ~secret.containment.blank[codes]
        pairs, self.counts = np.unique(row_of_record[voting] * self.cardinality + codes[voting], return_counts=True)
        self.codes = pairs % self.cardinality
        number = int(row_of_record.max()) + 1 if len(row_of_record) else 0
        self.starts = np.searchsorted(pairs // self.cardinality, np.arange(number + 1))
        self.numbers = np.diff(self.starts)

    def most_common(self, near: NearRows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs of a person and a code that most records of the person's nearest rows have; none where all are suppressed."""
        starts, lengths = self.starts[near.rows], self.numbers[near.rows]
        # the ranges from each row's start on, one after the other: a range per row would cost more than the vote
        places = np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        voter = np.repeat(near.person, lengths)
        pairs, inverse = np.unique(voter * self.cardinality + self.codes[places], return_inverse=True)
        counts = np.bincount(inverse, weights=self.counts[places], minlength=len(pairs))
        voter = pairs // self.cardinality
        most = np.zeros(near.stop - near.start)
        np.maximum.at(most, voter, counts)
        wins = counts == most[voter]
        return voter[wins], pairs[wins] % self.cardinality
