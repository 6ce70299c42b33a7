"""Codes that share an atom, found in parts of any size, against comparing every two sets of atoms."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.cells import agreement
from discreet.engine.cells.atoms import Atoms

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
@given(_cells, _cells, st.sampled_from([1, 3, 10, 1000]), st.sampled_from([0, 40, 1 << 40]))
def test_agreeing_codes_are_those_whose_sets_of_atoms_meet(
    queried: list[set[int] | None], searched: list[set[int] | None], most: int, words_per_pair: int
) -> None:
    """By joining runs (no word is worth a pair), by bits (any number is), and as the columns decide."""
    with (
        patch.object(agreement, "_MOST_PAIRS", most),
        patch.object(agreement, "_WORDS_AT_ONCE", most),
        patch.object(agreement, "_WORDS_PER_PAIR", words_per_pair),
    ):
        starts, members = agreement.agreeing_codes(make_atoms(queried), make_atoms(searched))
    assert len(starts) == len(queried) + 1
    for code, atoms in enumerate(queried):
        meeting = [there for there, other in enumerate(searched) if atoms and other and atoms & other]
        assert members[starts[code] : starts[code + 1]].tolist() == meeting
