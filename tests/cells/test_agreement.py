"""Codes that share an atom, found in parts of any size, against comparing every two sets of atoms."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.cells import agreement
from discreet.engine.cells.atoms import Atoms
from discreet.engine.runtime.compiled import Kernel

NUMBER = 9
_cells = st.lists(st.one_of(st.none(), st.sets(st.integers(0, NUMBER - 1), max_size=6)), max_size=7)
"""The atoms of each code; None for a blank."""


def make_atoms(cells: list[set[int] | None]) -> Atoms:
    """As the builder stores them: one run where the atoms follow one another, else a list."""
    first, last = np.zeros(len(cells), dtype=np.int64), np.zeros(len(cells), dtype=np.int64)
    lists: list[list[int]] = []
    for code, cell in enumerate(cells):
        atoms = sorted(cell or ())
        is_run = bool(atoms) and atoms == list(range(atoms[0], atoms[-1] + 1))
        if is_run:
            first[code], last[code] = atoms[0], atoms[-1] + 1
        lists.append([] if is_run else atoms)
    starts = np.concatenate(([0], np.cumsum([len(atoms) for atoms in lists]))).astype(np.int64)
    members = np.array([atom for atoms in lists for atom in atoms], dtype=np.int64)
    blank = np.array([cell is None for cell in cells], dtype=np.bool_)
    return Atoms(NUMBER, blank, first, last, starts, members)


@settings(max_examples=200, deadline=None)
@given(_cells, _cells, st.sampled_from([1, 3, 10, 1000]), st.sampled_from([0, 40, 1 << 40]), st.booleans())
def test_agreeing_codes_are_those_whose_sets_of_atoms_meet(
    queried: list[set[int] | None], searched: list[set[int] | None], most: int, words_per_pair: int, compiled: bool
) -> None:
    """By joining runs (no word is worth a pair), by bits (any number is), and as the columns decide."""
    with (
        patch.object(agreement, "_MOST_PAIRS", most),
        patch.object(agreement, "_CODES_PER_TURN", most),
        patch.object(agreement, "_MEMBERS_AT_ONCE", most),
        patch.object(agreement, "_WORDS_PER_PAIR", words_per_pair),
        patch.object(Kernel, "never_small", compiled),
    ):
        agreeing = agreement.agreeing_codes(make_atoms(queried), make_atoms(searched))
        weights = np.array([3**code for code in range(len(searched))], dtype=np.int64)
        sums = agreeing.sum_weights(weights)
    for codes in (agreeing, agreeing.head(len(queried) // 2)):
        assert len(codes.starts) == len(codes.counts) + 1
        for code, atoms in enumerate(queried[: len(codes.counts)]):
            meeting = [there for there, other in enumerate(searched) if atoms and other and atoms & other]
            assert codes.members[codes.starts[code] : codes.starts[code + 1]].tolist() == meeting
            assert codes.counts[code] == len(meeting)
            assert sums[code] == sum(3**there for there in meeting)
            there = np.arange(len(searched))
            assert np.flatnonzero(codes.contain(np.full(len(there), code), there)).tolist() == meeting


@given(_cells, _cells)
def test_overlapping_runs_are_paired_once_and_counted_before(
    queried: list[set[int] | None], searched: list[set[int] | None]
) -> None:
    """The number of pairs decides how many are held at once, and which way is quicker."""
    runs = agreement._runs_by_owner(make_atoms(queried))
    others = agreement._runs_by_owner(make_atoms(searched)).sorted_by_start()
    meeting = [
        (int(owner), int(other))
        for owner, first, last in zip(runs.owner, runs.first, runs.last, strict=True)
        for other, low, high in zip(others.owner, others.first, others.last, strict=True)
        if first < high and low < last
    ]
    assert sorted(zip(*(owners.tolist() for owners in runs.overlapping(others)), strict=True)) == sorted(meeting)
    assert runs.count_pairs(others).sum() == len(meeting)


@given(_cells, _cells, st.integers(1, 8))
def test_work_is_divided_into_whole_cells_with_as_many_pairs_as_fit(
    queried: list[set[int] | None], searched: list[set[int] | None], most: int
) -> None:
    runs = agreement._runs_by_owner(make_atoms(queried))
    others = agreement._runs_by_owner(make_atoms(searched)).sorted_by_start()
    with patch.object(agreement, "_MOST_PAIRS", most):
        parts = list(runs.split(others))
    assert [owner for part in parts for owner in part.owner.tolist()] == runs.owner.tolist()
    pairs, begin = runs.count_pairs(others), 0
    for part, after in zip(parts, [*parts, None][1:], strict=True):
        end = begin + len(part.owner)
        whole = begin + int(np.searchsorted(part.owner, part.owner[-1]))
        assert whole == begin or pairs[begin:whole].sum() <= most, "all cells but the last fit"
        if after is not None:
            assert part.owner[-1] != after.owner[0], "a cell is not divided"
            assert pairs[begin : end + 1].sum() > most, "the next run does not fit"
        begin = end


@pytest.mark.parametrize(
    ("pairs", "bytes_fit", "quicker"),
    [(3, True, False), (4, True, True), (5, True, True), (5, False, False)],
)
def test_bits_are_compared_where_their_words_are_few_beside_the_pairs_and_fit_into_memory(
    pairs: int, bytes_fit: bool, quicker: bool
) -> None:
    """6 compared atoms, 2 queried codes and 65 searched ones, which are two words: 16 words, and a pair is worth 4."""
    runs = agreement._runs_by_owner(make_atoms([{0, 1, 2, 3, 4, 5}, {2, 3, 4, 5}]))
    others = agreement._runs_by_owner(make_atoms([{atom} for atom in range(6)])).sorted_by_start()
    compared = agreement._ComparedAtoms.of(runs, others)
    most = 8 * 16 - (not bytes_fit)
    with patch.object(agreement, "_WORDS_PER_PAIR", 4), patch.object(agreement, "_MOST_BYTES", most):
        assert compared.is_quicker(np.array([pairs]), 2, 65) is quicker


def test_atoms_that_follow_one_another_in_a_list_are_one_run() -> None:
    """A list of thousands of neighbours would otherwise be thousands of runs."""
    runs = agreement._runs_by_owner(make_atoms([{0, 1, 2, 5, 6, 8}, None, {3}, {3, 4, 8}]))
    assert [array.tolist() for array in (runs.owner, runs.first, runs.last)] == [
        [0, 0, 0, 2, 3, 3],
        [0, 5, 8, 3, 3, 8],
        [3, 7, 9, 4, 5, 9],
    ]


@pytest.mark.parametrize("codes", [63, 64, 130])
@pytest.mark.parametrize("compiled", [True, False])
def test_as_many_codes_as_fill_one_word_or_more_agree_by_bits_as_by_runs(codes: int, compiled: bool) -> None:
    cells: list[set[int] | None] = [{code % NUMBER, (code * 5 + 2) % NUMBER} for code in range(codes)]
    weights, found = np.arange(codes), []
    for words_per_pair in (0, 1 << 40):
        with patch.object(agreement, "_WORDS_PER_PAIR", words_per_pair), patch.object(Kernel, "never_small", compiled):
            agreeing = agreement.agreeing_codes(make_atoms(cells), make_atoms(cells))
            assert (agreeing.bits is None) == (words_per_pair == 0)
            found.append([agreeing.starts.tolist(), agreeing.members.tolist(), agreeing.sum_weights(weights).tolist()])
    assert found[0] == found[1]
