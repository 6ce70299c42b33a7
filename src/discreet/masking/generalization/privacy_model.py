"""k-anonymity, l-diversity and t-closeness as one question to a class of records: does it keep the model?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from discreet.engine.classes.closeness import Ground
from discreet.engine.classes.diversity import Histograms, distinct, entropy_l, histograms, recursive_l
from discreet.engine.classes.tables import ClassTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

Diversity = Literal["distinct", "entropy", "recursive"]
ROUNDING = 1e-9
"""What a bound may be missed by through rounding of sums."""


@dataclass(frozen=True)
class Sensitive:
    """One sensitive attribute: how many values it has, their distribution in the whole table, and the ground distance."""

    name: str
    values: int
    whole: NDArray[np.float64]
    ground: Ground


@dataclass(frozen=True)
class PrivacyModel:
    """What every class must keep: at least k records, l-diverse and t-close in every sensitive attribute."""

    k: int = 1
    l: float | None = None  # noqa: E741 - its name in the literature
    diversity: Diversity = "distinct"
    c: float = 3.0
    t: float | None = None
    sensitive: Sequence[Sensitive] = field(default=())

    def broken(
        self, ids: NDArray[Any], number: int, counts: NDArray[np.int64], sensitive: Sequence[NDArray[Any]]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which rows lie in classes that break the model; and which of them would in any part of their class too.

        Fewer than k records or fewer than l values stay too few in every part of a class (where a row has a value: a part
        without any value has nothing to be learnt). A low entropy, a dominant value or a distant distribution need not stay: a
        part of the class may be better than the whole.
        """
        core = (np.bincount(ids, weights=counts, minlength=number) < self.k)[ids]
        broken = core.copy()
        for attribute, codes in zip(self.sensitive, sensitive, strict=True):
            found = histograms(ids.astype(np.int64), number, codes, attribute.values, counts)
            if self.l is not None:
                few, poor = self._undiverse(found)
                core |= few[ids] & (codes < attribute.values)
                broken |= (few | poor)[ids]
            if self.t is not None:
                broken |= (np.nan_to_num(attribute.ground.emd(found, attribute.whole)) > self.t + ROUNDING)[ids]
        return broken, core

    def _undiverse(self, found: Histograms) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Too few different values, and too uneven ones; a class without any value has nothing to be learnt."""
        assert self.l is not None
        few = distinct(found) < self.l - ROUNDING  # not a number compares as false
        if self.diversity == "entropy":
            return few, np.asarray(entropy_l(found) < self.l * (1 - ROUNDING))
        if self.diversity == "recursive":
            return few, np.asarray(recursive_l(found, self.c) < self.l - ROUNDING)
        return few, np.zeros_like(few)

    def of_rows(self, table: ClassTable, ids: NDArray[Any], number: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """As ``broken``, for a table whose last columns are the sensitive attributes."""
        first = len(table.cards) - len(self.sensitive)
        return self.broken(ids, number, table.counts, [table.codes[:, first + at] for at in range(len(self.sensitive))])
