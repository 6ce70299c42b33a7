"""k-anonymity, l-diversity and t-closeness as one test of equivalence classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from discreet.engine.classes.closeness import GroundDistance
from discreet.engine.classes.diversity import Histograms, class_histograms, distinct_values, entropy_l, recursive_l
from discreet.engine.classes.tables import ClassTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

Diversity = Literal["distinct", "entropy", "recursive"]
ROUNDING = 1e-9
"""The error of a bound that rounding of sums may cause."""


@dataclass(frozen=True)
class SensitiveAttribute:
    """A sensitive attribute: the number of its values, their distribution in the whole table, and the ground distance."""

    name: str
    values: int
    whole: NDArray[np.float64]
    ground: GroundDistance


@dataclass(frozen=True)
class PrivacyModel:
    """The requirements on every class: at least k records, l-diverse and t-close in every sensitive attribute."""

    k: int = 1
    l: float | None = None  # noqa: E741 - its name in the literature
    diversity: Diversity = "distinct"
    c: float = 3.0
    t: float | None = None
    sensitive: Sequence[SensitiveAttribute] = field(default=())

    def broken(
        self, ids: NDArray[Any], number: int, counts: NDArray[np.int64], sensitive: Sequence[NDArray[Any]]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The rows in classes that violate the model; and those of them that would violate it in any part of their class.

        ``ids`` is the class of each row (of ``number`` classes), ``counts`` the records per row, ``sensitive`` the codes of each
        sensitive attribute. Fewer than k records or fewer than l values remain too few in every part of a class (for rows with
        a value: a part without any value discloses nothing). A low entropy, a dominant value or a distant distribution may be
        better in a part of the class than in the whole.
        """
        always_broken = (np.bincount(ids, weights=counts, minlength=number) < self.k)[ids]
        broken = always_broken.copy()
        for attribute, codes in zip(self.sensitive, sensitive, strict=True):
            class_counts = class_histograms(ids.astype(np.int64), number, codes, attribute.values, counts)
            if self.l is not None:
                few, poor = self._undiverse(class_counts)
                always_broken |= few[ids] & (codes < attribute.values)
                broken |= (few | poor)[ids]
            if self.t is not None:
                broken |= (np.nan_to_num(attribute.ground.emd(class_counts, attribute.whole)) > self.t + ROUNDING)[ids]
        return broken, always_broken

    def _undiverse(self, class_counts: Histograms) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The classes with too few distinct values, and those with too uneven ones; a class without any value is neither."""
        assert self.l is not None
        few = distinct_values(class_counts) < self.l - ROUNDING  # NaN (a class without values) compares as false
        if self.diversity == "entropy":
            return few, np.asarray(entropy_l(class_counts) < self.l * (1 - ROUNDING))
        if self.diversity == "recursive":
            return few, np.asarray(recursive_l(class_counts, self.c) < self.l - ROUNDING)
        return few, np.zeros_like(few)

    def of_rows(self, table: ClassTable, ids: NDArray[Any], number: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """As ``broken``, for a table whose last columns are the sensitive attributes."""
        first = len(table.cards) - len(self.sensitive)
        return self.broken(ids, number, table.counts, [table.codes[:, first + index] for index in range(len(self.sensitive))])
