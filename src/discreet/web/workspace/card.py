"""One record in detail: whom it hides among, what would be learnt of it, and which steps would help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet import registry
from discreet.convert.reading import paging
from discreet.convert.reading.source import prepare
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.report.riskiest import count_agreeing
from discreet.risks.known_sets.explain import contributing_sets
from discreet.web.errors import NotFound
from discreet.web.projects.comparing import is_changed
from discreet.web.projects.paging import json_value
from discreet.web.workspace.file_codes import FILE_CODES
from discreet.web.workspace.preview import Preview

MOST_SETS = 5


@dataclass(frozen=True)
class FindingSet:
    """A set of attributes by which an intruder finds the record."""

    known: list[str]
    probability: float | None
    """That an intruder knows the set; None for k-anonymity, where all quasi-identifiers are known."""
    share: float
    """The share of the record's risk that comes from this set."""
    records: int
    """Records of the whole initial microdata with the same values, this one included."""
    after: int | None
    """Records of the masked sample with the same released values; None where the record or an attribute is not released."""
    learnt: list[str]


@dataclass(frozen=True)
class Help:
    """A step that would hide the record better, and the records among which it would hide."""

    method: str
    columns: list[str]
    records: int | None
    """The size of its class in the initial microdata without these attributes."""
    sentence: str


@dataclass(frozen=True)
class RecordCard:
    """What is known about one record."""

    record: int
    risk_before: float | None
    risk_after: float | None
    in_sample: bool
    released: bool
    cells: list[dict[str, Any]]
    """Per attribute: ``name``, ``role``, ``before``, ``after`` and ``changed``."""
    sets: list[FindingSet]
    sentences: list[str]
    help: list[Help]


def describe_record(preview: Preview, file: Path, record: int) -> RecordCard:
    """Describe a record by its number in the initial microdata, from 1; it need not be in the sample."""
    risks, row = preview.risks, record - 1
    if not 0 <= row < risks.of:
        raise NotFound(f"there is no record {record:,}; the table has {risks.of:,}")
    at = int(np.searchsorted(risks.rows, row))
    in_sample = at < len(risks.rows) and int(risks.rows[at]) == row
    data = preview.original if in_sample else _with_record(preview, file, row)
    place = at if in_sample else len(data) - 1
    masked_place = _masked_place(preview, at) if in_sample else None
    values = data.frame.row(place, named=True)
    finding_sets = _finding_sets(preview, data, place)
    named = list(dict.fromkeys(name for known, *_ in finding_sets[:MOST_SETS] for name in known))
    agreeing = _agreeing_rows(file, named, values)
    sets = [
        FindingSet(
            list(known),
            probability,
            share,
            _count(agreeing, known, risks.of),
            _count_masked(preview, masked_place, known),
            learnt,
        )
        for known, probability, share, learnt in finding_sets[:MOST_SETS]
    ]
    masked = preview.release.masked
    after = masked.frame.row(masked_place, named=True) if masked_place is not None else {}
    cells = [
        {
            "name": name, "role": data.attribute(name).role.value, "before": json_value(values[name]),
            "after": json_value(after.get(name)), "released": name in after,
            "changed": name in after and is_changed(values[name], after[name]),
        }
        for name in data.columns
    ]  # fmt: skip
    measure: Any = registry.create("risk", risks.measure, data.policy.risk.get(risks.measure), origin=data.policy.origin)
    sentences = [] if sets else list(measure.explain(data, place))
    return RecordCard(
        record, _finite(risks.before[at]) if in_sample else None, _finite(risks.after[at]) if in_sample else None, in_sample,
        masked_place is not None, cells, sets, sentences, _suggest(preview, sets, agreeing),
    )  # fmt: skip


def _with_record(preview: Preview, file: Path, row: int) -> Microdata:
    """The sample with one more record, the last. Only that record is prepared: the sample was, and its types hold."""
    data = preview.original
    schema: Any = dict(data.frame.schema)
    extra = paging.read_rows(file, [row], data.columns).cast(schema)
    extra = prepare(extra.lazy(), data.policy, data.source, dates=False).collect().cast(schema)
    return Microdata(pl.concat([data.frame, extra]), data.policy, data.source)


def _finding_sets(preview: Preview, data: Microdata, place: int) -> list[tuple[tuple[str, ...], float | None, float, list[str]]]:
    """The sets that find a record, by falling share of its risk: attributes, probability, share, what would be learnt."""
    measure: Any = registry.create(
        "risk", preview.risks.measure, data.policy.risk.get(preview.risks.measure), origin=data.policy.origin
    )
    if measure.name == "k_anonymity":
        keys = tuple(measure.keys) or tuple(data.named(Role.KEY))
        return [(keys, None, 1.0, data.named(Role.CONFIDENTIAL))]
    if data.policy.scenarios or measure.name != "known_sets":
        return []
    sets, _ = contributing_sets(
        data, place, alpha=measure.alpha, epsilon=measure.epsilon, max_sets=measure.max_sets, missing=measure.missing,
        original=None, knowledge=measure.knowledge,
    )  # fmt: skip
    total = sum(one.risk for one in sets)
    return [(one.known, one.probability, one.risk / total, list(one.learnt)) for one in sets if one.known and one.risk > 0]


def _masked_place(preview: Preview, at: int) -> int | None:
    places = np.flatnonzero(preview.release.masked.records == at)
    return int(places[0]) if len(places) else None


def _agreeing_rows(file: Path, names: Sequence[str], values: dict[str, Any]) -> dict[str, NDArray[np.bool_]]:
    """For each attribute, which records of the whole initial microdata have the value of this one."""
    return {name: FILE_CODES.find_agreeing(file, name, values[name]) for name in names}


def _count(agreeing: dict[str, NDArray[np.bool_]], names: Sequence[str], of: int) -> int:
    if not names:
        return of
    agree = agreeing[names[0]].copy()
    for name in names[1:]:
        agree &= agreeing[name]
    return int(np.count_nonzero(agree))


def _count_without_each(agreeing: dict[str, NDArray[np.bool_]], names: Sequence[str], of: int) -> dict[str, int]:
    """For each attribute, the records that agree on all others: those that agree on all, and those that differ in it alone."""
    differing: NDArray[Any] = np.zeros(of, dtype=np.uint8 if len(names) < 256 else np.uint32)
    for name in names:
        differing += ~agreeing[name]
    alone, all_agree = differing == 1, of - int(np.count_nonzero(differing))
    return {name: all_agree + int(np.count_nonzero(alone & ~agreeing[name])) for name in names}


def _count_masked(preview: Preview, place: int | None, names: Sequence[str]) -> int | None:
    masked = preview.release.masked
    if place is None or not all(name in masked.columns for name in names):
        return None
    return count_agreeing(masked, list(names), place, wildcard=False)


def _suggest(preview: Preview, sets: list[FindingSet], agreeing: dict[str, NDArray[np.bool_]]) -> list[Help]:
    """A step for the riskiest records alone, then the attributes without which this record would hide among most."""
    targeted = "local_suppression" if preview.risks.measure == "k_anonymity" else "targeted_suppression"
    helps = [Help(targeted, [], None, "suppress values of the records at risk only")]
    if not sets:
        return helps
    known, now = sets[0].known, sets[0].records
    without = _count_without_each(agreeing, known, preview.risks.of)
    for name, records in sorted(without.items(), key=lambda pair: -pair[1])[:3]:
        if records <= now:
            continue
        helps.append(Help("global_recoding", [name], records, f"coarsen {name}"))
    return helps


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
