"""Which ground distance t-closeness takes for a sensitive attribute, and the distance of every class under it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from discreet.engine.cells.hierarchies import hierarchy_of, leaf_codes, level_codes
from discreet.engine.classes.diversity import Histograms, emd_equal, emd_hierarchical, emd_ordered
from discreet.engine.encoding.columns import Column
from discreet.model.attribute import Level
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

Distance = Literal["equal", "ordered", "hierarchical"]


@dataclass(frozen=True)
class Ground:
    """A ground distance over the values of one attribute."""

    kind: Distance
    levels: tuple[NDArray[np.int64], ...] = ()

    def emd(self, found: Histograms, whole: NDArray[np.float64]) -> NDArray[np.float64]:
        """The earth mover's distance of every class from the whole table."""
        if self.kind == "ordered":
            return emd_ordered(found, whole)
        return emd_hierarchical(found, whole, self.levels) if self.kind == "hierarchical" else emd_equal(found, whole)


def ground_distance(data: Microdata, column: Column, asked: Distance | None = None) -> Ground:
    """The distance asked for, or by level: ordered for numbers, dates and ordinal values, else by hierarchy, else equal."""
    name = column.name
    if asked is None:
        if data.level(name) is not Level.NOMINAL:
            asked = "ordered"
        else:
            asked = "hierarchical" if data.attribute(name).hierarchy is not None else "equal"
    if asked != "hierarchical":
        return Ground(asked)
    hierarchy = hierarchy_of(data, name)
    leaves = leaf_codes(column, hierarchy)[: len(column.values)]
    return Ground("hierarchical", tuple(codes[leaves] for codes, _ in level_codes(hierarchy)[:-1]))
