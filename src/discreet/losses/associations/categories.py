"""The categories of an attribute in the original and in the release, where a group counts for each of its members in part.

A group's members count by how often they are released as they are, plus one: the same in a regression as in a pair of attributes.
Without it every set label would be a category of its own, and labels of the same class look associated however weakly their
members are: Cramér's V of two independent attributes in classes of near records is close to 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.cells.containment import read_containment
from discreet.engine.cells.hierarchies import usable_hierarchy
from discreet.engine.encoding.columns import Column, encode_series
from discreet.losses.associations.strength import Variable
from discreet.model.cells import EVERYTHING
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


def categories_of_both(original: Microdata, masked: Microdata, name: str) -> tuple[Variable, Variable]:
    """An attribute of both tables as categories of the original; what is suppressed is missing.

    A label that stands for no original value, such as a pseudonym, is one more category.
    """
    column, released = encode_series(original.frame[name]), encode_series(masked.frame[name])
    before = _plain_categories(column)
    if name not in masked.cells and set(released.values.to_list()) <= set(column.values.to_list()):
        return before, _plain_categories(released)
    members, blank = _member_weights(original, masked, column, released)
    others = np.flatnonzero((members.sum(axis=1) == 0) & ~blank)
    weights = np.zeros((released.cardinality, members.shape[1] + len(others)))
    weights[:, : members.shape[1]] = members
    weights[others, members.shape[1] + np.arange(len(others))] = 1.0
    codes = released.codes.astype(np.int64)
    codes[blank[codes]] = -1
    return before, Variable(codes, released.cardinality, _as_shares(weights))


def member_shares(original: Microdata, masked: Microdata, name: str) -> NDArray[np.float64]:
    """For each released record the shares of the original categories that its cell may be; NaN where it is suppressed."""
    column, released = encode_series(original.frame[name]), encode_series(masked.frame[name])
    members, _ = _member_weights(original, masked, column, released)
    members[members.sum(axis=1) == 0] = np.nan
    return np.asarray(_as_shares(members)[released.codes])


def _member_weights(
    original: Microdata, masked: Microdata, column: Column, released: Column
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """[released code, original category] The weight of each member of a cell, and which cells are suppressed and have none."""
    hierarchy, cells = usable_hierarchy(original, column.name), masked.cells.get(column.name)
    containment = read_containment(column, released, hierarchy, numeric=False, cells=cells)
    members = containment.matrix().astype(np.float64)
    members[containment.blank] = 0.0
    single = members.sum(axis=1) == 1
    counts = np.bincount(released.codes, minlength=released.cardinality)
    return members * ((members[single] * counts[single, None]).sum(axis=0) + 1.0), containment.blank


def _as_shares(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    totals = weights.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(weights, totals, out=np.zeros_like(weights), where=totals != 0))


def _plain_categories(column: Column) -> Variable:
    codes = column.codes.astype(np.int64)
    blank = [code for code, value in enumerate(column.values.to_list()) if value == EVERYTHING]
    codes[column.is_null | np.isin(codes, blank)] = -1
    return Variable(codes, max(1, len(column.values)))
