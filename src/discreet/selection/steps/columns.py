"""The steps that change single columns: recoding, treatments of numbers, columns that would give keys back."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Step
from discreet.selection.gaps.companions import is_number_of_group
from discreet.selection.space.dimensions import (
    CODED_SHARE,
    Space,
)

_CLASSES_OF_A_RANGE, _RECORDS_OF_A_RANGE = 5, 25
"""Records that share an averaged sampling weight or a range: so many times the class size, and at least so many."""


def recoding_steps(names: Sequence[str], space: Space, level: int, *, drop: bool) -> list[Step]:
    if not drop:
        return [Step(method="global_recoding", columns=tuple(names), level=level)]  # type: ignore[call-arg]
    heights = sorted({space.heights[name] for name in names})
    return [
        Step(method="global_recoding", columns=tuple(name for name in names if space.heights[name] == height), level=height)  # type: ignore[call-arg]
        for height in heights
    ]


def numeric_key_step(treatment: str, name: str, k: int) -> Step:
    if treatment == "microaggregation":
        return Step(method="microaggregation", columns=(name,), size=max(2, k), whole=True)  # type: ignore[call-arg]
    return Step(method="top_bottom_coding", columns=(name,), top_share=CODED_SHARE, bottom_share=CODED_SHARE, replace="mean")  # type: ignore[call-arg]


def blanking_step(data: Microdata, name: str) -> Step:
    from discreet.engine.cells.hierarchies import hierarchy_of

    return Step(method="global_recoding", columns=(name,), level=hierarchy_of(data, name).height)  # type: ignore[call-arg]


def close_columns(data: Microdata, names: Sequence[str], k: int) -> list[Step]:
    """The steps after which columns no longer say which values were masked elsewhere.

    The numbers of persons and households are taken out and sampling weights averaged, so that their total stays; of any other
    column all values become one.
    """
    groups = tuple(name for name in names if is_number_of_group(data, name))
    weights = [name for name in names if data.attribute(name).role is Role.WEIGHT]
    size = size_of_ranges(len(data), k)
    return [
        *([Step(method="remove_identifiers", columns=groups)] if groups else []),
        *(Step.model_validate({"method": "microaggregation", "columns": (name,), "size": size}) for name in weights),
        *(blanking_step(data, name) for name in names if name not in groups and name not in weights),
    ]


def range_steps(data: Microdata, names: Sequence[str], k: int) -> list[Step]:
    """The steps that release the values of columns as ranges of near ones, of many records each."""
    size = size_of_ranges(len(data), k)
    return [
        Step.model_validate({"method": "microaggregation", "columns": (name,), "size": size, "publish": "ranges"})
        for name in names
    ]


def size_of_ranges(records: int, k: int) -> int:
    """The records that share an averaged weight or a range: several classes, and at most half of the table."""
    return min(max(_RECORDS_OF_A_RANGE, _CLASSES_OF_A_RANGE * k), max(2, records // 2))
