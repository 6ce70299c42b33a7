"""The minimal sample uniques of one record, and sentences on them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.classes.key_sets import Missing
from discreet.engine.encoding.columns import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray


def list_minimal_uniques(columns: Sequence[Column], record: int, max_size: int, missing: Missing) -> list[tuple[int, ...]]:
    """The minimal sample uniques of a record as positions of keys, small sets first.

    A set identifies the record unless another record agrees on all of it, so the keys on which each other record agrees decide.
    """
    masks = _mask_agreeing_keys(columns, record, missing)
    keys = [key for key, column in enumerate(columns) if missing == "category" or not column.is_null[record]]
    minimal: list[int] = []
    sets: list[tuple[int, ...]] = []
    for size in range(1, min(max_size, len(keys)) + 1):
        for chosen in combinations(keys, size):
            bits = sum(1 << key for key in chosen)
            if any(smaller & bits == smaller for smaller in minimal) or any(mask & bits == bits for mask in masks):
                continue
            minimal.append(bits)
            sets.append(chosen)
    return sets


def _mask_agreeing_keys(columns: Sequence[Column], record: int, missing: Missing) -> set[int]:
    """The different sets of keys on which other records agree with this one, as bits."""
    size = len(columns[0].codes)
    ids: NDArray[np.int64] = np.zeros(size, dtype=np.int64)
    masks = [0]
    for key, column in enumerate(columns):
        agrees = column.codes == column.codes[record]
        if missing == "wildcard":
            agrees = agrees | column.is_null
        # masks are Python integers, numbered anew after each key, so that any number of keys has a bit of its own
        pairs, ids = np.unique(ids * 2 + agrees, return_inverse=True)
        masks = [masks[pair // 2] | (pair % 2) << key for pair in pairs.tolist()]
    return {masks[number] for number in np.unique(np.delete(ids, record)).tolist()}


def describe_minimal_uniques(
    names: Sequence[str], sets: Sequence[tuple[int, ...]], scores: Sequence[float], shown: int
) -> list[str]:
    """A sentence per set, by score; the sets beyond ``shown`` in one sentence."""
    order = sorted(range(len(sets)), key=lambda index: (-scores[index], sets[index]))
    sentences = [
        f"{' + '.join(names[key] for key in sets[index])}: no other record has these values together, but each "
        f"part of them occurs elsewhere (score {scores[index]:g})"
        if len(sets[index]) > 1
        else f"{names[sets[index][0]]}: no other record has this value (score {scores[index]:g})"
        for index in order[:shown]
    ]
    if len(order) > shown:
        left = sum(scores[index] for index in order[shown:])
        sentences.append(f"{len(order) - shown:,} further minimal sample uniques (score {left:g} together)")
    return sentences
