"""Sensitive cells that are no single value: ``*`` says nothing, and two cells that overlap may stand for the same value.

A class of ``HIV`` and ``{HIV|Flu}`` may hold nothing but HIV, so that these cells must not count as two sensitive values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.classes.diversity import Histograms, merge_values
from discreet.engine.encoding.columns import Column, code_type
from discreet.engine.overlap.columns import blank_codes, column_relation, overlaps
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class SensitiveCells:
    """A sensitive column without ``*``, which is a null here, and the pairs of its codes that overlap.

    ``starts``, ``partners``   [values + 1] offsets into ``partners``, the other codes that agree with each code
    """

    column: Column
    starts: NDArray[np.int64]
    partners: NDArray[np.int64]

    def overlapping_pair(self) -> tuple[str, str] | None:
        """Two different cells that may stand for the same value; None where there are none."""
        if not len(self.partners):
            return None
        code = int(np.flatnonzero(np.diff(self.starts))[0])
        return str(self.column.values[code]), str(self.column.values[int(self.partners[self.starts[code]])])

    def merge_overlapping(self, histograms: Histograms) -> Histograms:
        """The histograms with cells of a class that overlap, directly or by way of others, counted as one value.

        The number of values is then at most the number of different values that the cells can hide.
        """
        if not len(self.partners):
            return histograms
        size = max(len(self.column.values), 1)
        keys = histograms.classes * size + histograms.values
        degrees = np.diff(self.starts)[histograms.values]
        entries = np.repeat(np.arange(len(keys)), degrees)
        steps = np.arange(degrees.sum()) - np.repeat(np.cumsum(degrees) - degrees, degrees)
        others = self.partners[np.repeat(self.starts[histograms.values], degrees) + steps]
        partner_keys = histograms.classes[entries] * size + others
        at = np.minimum(np.searchsorted(keys, partner_keys), len(keys) - 1)
        same_class = keys[at] == partner_keys
        return merge_values(histograms, entries[same_class], at[same_class], size)


def read_sensitive_cells(data: Microdata, column: Column) -> SensitiveCells:
    """The cells of a sensitive column of a table, and which of them overlap.

    >>> from discreet.engine.encoding.columns import encode
    >>> from discreet.testing import table
    >>> data = table({"ill": ["{Cold|Flu}", "Flu", "*", "Cold"]})
    >>> cells = read_sensitive_cells(data, encode(data, ["ill"])[0])
    >>> cells.column.values.to_list(), cells.column.is_null.tolist(), cells.partners.tolist()
    (['Cold', 'Flu', '{Cold|Flu}'], [False, False, True, False], [2, 2, 0, 1])
    """
    size = len(column.values)
    shown = ~blank_codes(data, column, null_agrees=True)[:size]
    none = np.zeros(0, dtype=np.int64)
    kept = np.flatnonzero(shown)
    new_code = np.cumsum(shown) - 1
    partners = [none] * len(kept)
    if overlaps(data, column):
        relation = column_relation(data, column, null_agrees=False)
        for at, code in enumerate(kept.tolist()):
            if relation.spans[code] > 1:
                agreeing = np.flatnonzero(relation.agrees(code)[:size] & shown)
                partners[at] = new_code[agreeing[agreeing != code]]
    starts = np.concatenate(([0], np.cumsum([len(codes) for codes in partners]))).astype(np.int64)
    return SensitiveCells(_without_blanks(column, shown, new_code), starts, np.concatenate([none, *partners]))


def _without_blanks(column: Column, shown: NDArray[np.bool_], new_code: NDArray[np.int64]) -> Column:
    if shown.all():
        return column
    number = int(shown.sum())
    codes = np.append(np.where(shown, new_code, number), number)[column.codes].astype(code_type(number))
    return Column(column.name, codes, column.values.filter(shown), True)
