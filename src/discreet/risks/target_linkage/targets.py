"""The intruder's targets: their known attributes, their probability of being in the file, and their true records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.cells.hierarchies import usable_hierarchy
from discreet.engine.encoding.columns import Column, encode
from discreet.engine.encoding.policy_tables import load_table
from discreet.engine.encoding.record_links import original_rows, positions_of_records
from discreet.engine.linkage.comparisons import Comparison, Fuzzy, compare
from discreet.engine.runtime.progress import report_progress
from discreet.engine.statistics.sampling_weights import read_sampling_weights
from discreet.errors import DataError, nearest
from discreet.model.attribute import Role
from discreet.model.hierarchy import Hierarchy
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NAME = "target_linkage"
_NEVER_KNOWN = (Role.IDENTIFIER, Role.PERSON, Role.WEIGHT)


@dataclass(frozen=True)
class Targets:
    """One row per target; ``inclusion``: probability of being in the file; ``truth``: masked row (-1: none), None if unknown."""

    frame: pl.DataFrame
    attributes: tuple[str, ...]
    inclusion: NDArray[np.float64]
    truth: NDArray[np.int64] | None
    notes: tuple[str, ...]
    table: Microdata | None = None
    """The table that the targets are the records of, whose columns may be encoded already; None for a list."""
    true: bool = False
    """Whether the targets are the original records, against which the masked cells are read."""


def find_targets(
    data: Microdata,
    original: Microdata | None,
    source: str | None,
    attributes: Sequence[str],
    population: float | None,
    fraction: float | None,
) -> Targets:
    """The targets in the list ``source``; default: every record of the original, or of the data without an original."""
    notes: list[str] = []
    truth: NDArray[np.int64] | None = None
    if source is not None:
        frame = load_table(source, data.policy)
        known = [name for name in frame.columns if name in data.columns and data.attribute(name).role not in _NEVER_KNOWN]
        list_name = f"the list {source}"
    else:
        frame = (original or data).frame
        known, list_name = [name for name in data.named(Role.KEY) if name in frame.columns], (original or data).source
        if original is not None and (links := original_rows(data, original)) is not None:
            truth = positions_of_records(np.arange(len(original), dtype=np.int64), np.where(links < 0, -1, links))
        if original is not None:
            missing = [name for name in original.named(Role.KEY) if name not in data.columns]
            notes += [f"'{name}' is not in the release, so the intruder cannot use it" for name in missing]
    for name in attributes:
        data.attribute(name)
        if name not in frame.columns:
            raise DataError(f"target_linkage: {list_name} has no column '{name}'; {nearest(name, frame.columns)}")
    used = tuple(attributes) or tuple(known)
    if not used:
        raise DataError(
            f"target_linkage needs attributes that the intruder knows: {list_name} shares no column with {data.source}"
            if source is not None
            else f"target_linkage needs at least one attribute with the role key in {data.source}, or attributes"
        )
    inclusion = _inclusion(data, original, frame, population, fraction)
    table = None if source is not None else original or data
    return Targets(frame, used, inclusion, truth, tuple(notes), table, source is None and original is not None)


def _inclusion(
    data: Microdata, original: Microdata | None, frame: pl.DataFrame, population: float | None, fraction: float | None
) -> NDArray[np.float64]:
    """The inclusion probability of each target: as specified, by sampling weights, by the plan's sampling factor, or 1."""
    real = int((data.records >= 0).sum())
    if population is not None:
        return np.full(frame.height, real / population)
    if fraction is not None:
        return np.full(frame.height, fraction)
    for name in data.named(Role.WEIGHT)[:1]:
        if name in frame.columns:
            return 1 / read_sampling_weights(frame[name], _NAME)
        return np.full(frame.height, min(1.0, real / float(read_sampling_weights(data.frame[name], _NAME).sum())))
    if original is not None and len(original):
        links = original_rows(data, original)
        return np.full(frame.height, min(1.0, (real if links is None else int((links >= 0).sum())) / len(original)))
    return np.ones(frame.height)


def compare_attributes(
    data: Microdata,
    units: Targets,
    tolerance: Mapping[str, float],
    similarity: Mapping[str, float],
    edits: Mapping[str, int],
) -> list[Comparison]:
    """The comparisons of targets and masked records, one per attribute."""
    comparisons = []
    masked_columns = _encode_once(data, units.attributes)
    target_columns = {} if units.table is None else _encode_once(units.table, units.attributes)
    for number, name in enumerate(units.attributes):
        report_progress("target_linkage", number, len(units.attributes))
        fuzzy: Fuzzy | None = None
        if name in similarity:
            fuzzy = ("similarity", similarity[name])
        elif name in edits:
            fuzzy = ("edits", float(edits[name]))
        plain = fuzzy is None and name not in tolerance
        same_table, cells = units.frame is data.frame, data.cells.get(name)
        masked = data.frame[name]
        comparisons.append(
            compare(
                masked if same_table else units.frame[name],
                masked,
                tolerance=tolerance.get(name),
                fuzzy=fuzzy,
                hierarchy=_hierarchy(data, units.frame, name) if plain and cells is None else None,
                cells=cells,
                target_cells=cells if same_table else None,
                true=units.true,
                encoded=(target_columns.get(name), masked_columns.get(name)),
            )
        )
    return comparisons


def _encode_once(data: Microdata, names: Sequence[str]) -> dict[str, Column]:
    """The codes of columns, which the table keeps; not of those with a stated order, which unexplained labels are not in."""
    without_order = [name for name in names if data.attribute(name).order is None]
    return dict(zip(without_order, encode(data, without_order), strict=True))


def _hierarchy(data: Microdata, frame: pl.DataFrame, name: str) -> Hierarchy | None:
    """The attribute's hierarchy over the targets' values; None where there is none or it does not cover them."""
    attribute = data.attribute(name)
    if attribute.hierarchy is None:
        return None
    policy = data.policy.with_(attributes={name: attribute.model_copy(update={"order": None})})
    return usable_hierarchy(Microdata(frame.select(name), policy, "the targets"), name)
