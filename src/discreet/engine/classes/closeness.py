"""The ground distance of t-closeness for a sensitive attribute, and the earth mover's distance of every class under it."""

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
class GroundDistance:
    """A ground distance between the values of one attribute; ``levels`` are the label codes of a hierarchy, level by level."""

    kind: Distance
    levels: tuple[NDArray[np.int64], ...] = ()

    def emd(self, histograms: Histograms, whole: NDArray[np.float64]) -> NDArray[np.float64]:
        """The earth mover's distance of every class from the distribution in the whole table."""
        if self.kind == "ordered":
            return emd_ordered(histograms, whole)
        return emd_hierarchical(histograms, whole, self.levels) if self.kind == "hierarchical" else emd_equal(histograms, whole)


def choose_ground_distance(data: Microdata, column: Column, distance: Distance | None = None) -> GroundDistance:
    """The ground distance of a column; default: ordered for numbers, dates and ordinal values, else hierarchical, else equal."""
    name = column.name
    if distance is None:
        if data.level(name) is not Level.NOMINAL:
            distance = "ordered"
        else:
            distance = "hierarchical" if data.attribute(name).hierarchy is not None else "equal"
    if distance != "hierarchical":
        return GroundDistance(distance)
    hierarchy = hierarchy_of(data, name)
    leaves = leaf_codes(column, hierarchy)[: len(column.values)]
    return GroundDistance("hierarchical", tuple(codes[leaves] for codes, _ in level_codes(hierarchy)[:-1]))
