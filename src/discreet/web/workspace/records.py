"""The list of risky records: above a threshold, in a brushed bar, in an order, page by page over all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.convert.reading import paging
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.web.errors import InvalidRequest
from discreet.web.projects.paging import json_value
from discreet.web.workspace.multiples import Bars
from discreet.web.workspace.risks import RecordRisks
from discreet.web.workspace.view import View

PAGE_RECORDS = 15
_MOST_COLUMNS = 7
_FIRST_ROLES = (Role.KEY, Role.CONFIDENTIAL)


@dataclass(frozen=True)
class RecordPage:
    """One page of the list."""

    columns: list[str]
    rows: list[dict[str, Any]]
    """Per record: ``record`` (its number in the initial microdata, from 1), ``before``, ``after`` and ``cells``."""
    total: int
    """Records that the list holds on all pages."""
    page: int
    pages: int


def list_records(
    risks: RecordRisks, view: View, threshold: float, columns: list[str], file: Path, bars: Bars | None, size: int = PAGE_RECORDS
) -> RecordPage:
    """The records above a threshold (before or after masking) in a brushed bar, the riskiest first."""
    ordered = select_records(risks, view, threshold, file, bars)
    pages = max(math.ceil(len(ordered) / size), 1)
    page = min(view.page, pages)
    shown = ordered[(page - 1) * size : page * size]
    rows = paging.read_rows(file, risks.rows[shown].tolist(), columns)
    listed = [
        {
            "record": int(risks.rows[at]) + 1,
            "before": _finite(risks.before[at]),
            "after": _finite(risks.after[at]),
            "cells": [json_value(value) for value in row],
        }
        for at, row in zip(shown, rows.rows() if columns else [()] * len(shown), strict=True)
    ]
    return RecordPage(columns, listed, len(ordered), page, pages)


def select_records(risks: RecordRisks, view: View, threshold: float, file: Path, bars: Bars | None) -> NDArray[np.intp]:
    """Positions of the records above the threshold and in the brushed bar, in the order of the list."""
    side: Literal["before", "after"] = "before" if view.sort == "before" else "after"
    if view.brushes_risk and view.bar is not None:
        if view.bar >= len(risks.bands):
            raise InvalidRequest("the risk distribution has no such bar; reload the page")
        return _sort(risks.order_within(side, risks.bands[view.bar]), view.sort, len(risks.rows))
    chosen = risks.order_above(side, threshold)
    if bars is not None and view.bar is not None:
        if view.bar >= len(bars.labels):
            raise InvalidRequest(f"the distribution of '{view.on[:80]}' has no such bar; reload the page")
        column = pl.read_parquet(file, columns=[view.on], glob=False, hive_partitioning=False)[view.on]
        chosen = chosen[bars.assign(column.gather(risks.rows[chosen])) == view.bar]
    return _sort(chosen, view.sort, len(risks.rows))


def listed_columns(policy: Policy, data: Microdata, brushed: str = "") -> list[str]:
    """The columns of the list: the brushed one, quasi-identifiers, then confidential attributes."""
    by_role = [name for role in _FIRST_ROLES for name in data.columns if policy.attributes.get(name) is not None
               and policy.attributes[name].role is role]  # fmt: skip
    known = [name for name in data.columns if (attribute := policy.attributes.get(name)) is not None and attribute.known > 0]
    names = list(dict.fromkeys([*([brushed] if brushed in data.columns else []), *by_role, *known]))
    return names[:_MOST_COLUMNS]


def _sort(chosen: NDArray[np.intp], sort: str, records: int) -> NDArray[np.intp]:
    """Positions by falling risk in the order of the list."""
    if sort != "row":
        return chosen
    is_chosen = np.zeros(records, dtype=bool)
    is_chosen[chosen] = True
    return np.flatnonzero(is_chosen)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
