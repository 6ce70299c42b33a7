"""Check a plan before it runs, on the first records of the table, so that a page never waits for a large table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import Connection

from discreet import registry, verbs
from discreet.errors import DiscreetError
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.selection.validate import Finding, validate
from discreet.web.projects import datasets
from discreet.web.projects.projects import Project
from discreet.web.settings import Settings

PREVIEW_RECORDS = 2_000
"""The number of records that are checked."""


@dataclass(frozen=True)
class TablePreview:
    """The columns and first records of the project's table."""

    columns: tuple[str, ...]
    records: int
    data: Microdata | None
    problem: str = ""
    """Why the policy does not fit the table, in one sentence."""

    @property
    def partial(self) -> bool:
        """Whether only the first records are checked."""
        return self.records > PREVIEW_RECORDS


def preview_table(connection: Connection, settings: Settings, project: Project, policy: Policy) -> TablePreview:
    """Read the project's columns, and its first records under the current policy."""
    if project.dataset_id is None:
        return TablePreview(tuple(policy.attributes), 0, None)
    dataset = datasets.get(connection, project)
    names = tuple(column["name"] for column in dataset.columns)
    path = datasets.path(settings, dataset)
    try:
        frame = _read_first_records(path, path.stat().st_mtime_ns)
        return TablePreview(names, dataset.records, verbs.read(frame, policy))
    except OSError:
        return TablePreview(names, dataset.records, None, "the file of the initial microdata no longer exists; upload it again")
    except DiscreetError as error:
        return TablePreview(names, dataset.records, None, str(error))


def findings_by_step(preview: TablePreview, plan: Plan) -> dict[int, list[Finding]]:
    """Errors and warnings by the number of their step."""
    findings: dict[int, list[Finding]] = {}
    for finding in validate(preview.data, plan) if preview.data is not None else ():
        findings.setdefault(finding.step, []).append(finding)
    return findings


def split_columns(preview: TablePreview, method: str, parameters: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
    """The columns that a method can mask, and why the others do not fit; all columns if none fits."""
    method_class = registry.load("masking", method)
    try:
        method_object = method_class.model_validate(dict(parameters))
    except ValueError:
        method_object = method_class.example()
    fitting: list[str] = []
    misfits: dict[str, str] = {}
    for name in preview.columns:
        try:
            if preview.data is not None:
                method_object.check(preview.data, [name])
                if method == "generalization" and preview.data.attribute(name).role is Role.IDENTIFIER:
                    raise DiscreetError("it is an identifier; remove it instead of generalising it")
            fitting.append(name)
        except DiscreetError as error:
            misfits[name] = str(error)
    return (fitting, misfits) if fitting else (list(preview.columns), {})


@lru_cache(maxsize=16)
def _read_first_records(path: Path, _modified: int) -> pl.DataFrame:
    return pl.scan_parquet(path).head(PREVIEW_RECORDS).collect()
