"""A plan looked at before it runs, on the first records of the table, so that a page never waits for a million."""

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

FIRST = 2_000
"""Records that are looked at."""


@dataclass(frozen=True)
class Looked:
    """What a page knows of the project's table."""

    columns: tuple[str, ...]
    records: int
    data: Microdata | None
    problem: str = ""
    """Why the table and the policy do not go together, in a sentence."""

    @property
    def part(self) -> bool:
        """Whether only the first records were looked at."""
        return self.records > FIRST


def look(connection: Connection, settings: Settings, project: Project, policy: Policy) -> Looked:
    """The project's columns, and its first records under the policy as it stands."""
    if project.dataset_id is None:
        return Looked(tuple(policy.attributes), 0, None)
    found = datasets.get(connection, project)
    names = tuple(column["name"] for column in found.columns)
    place = datasets.path(settings, found)
    try:
        frame = _first(place, place.stat().st_mtime_ns)
        return Looked(names, found.records, verbs.read(frame, policy))
    except OSError:
        return Looked(names, found.records, None, "the file of the initial microdata is not there any more; upload it again")
    except DiscreetError as error:
        return Looked(names, found.records, None, str(error))


def findings(looked: Looked, plan: Plan) -> dict[int, list[Finding]]:
    """Errors and warnings by the number of their step."""
    found: dict[int, list[Finding]] = {}
    for one in validate(looked.data, plan) if looked.data is not None else ():
        found.setdefault(one.step, []).append(one)
    return found


def fitting(looked: Looked, method: str, parameters: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
    """The columns that a method can work on, and why the others do not fit; all fit where nothing can be told."""
    loaded = registry.load("masking", method)
    try:
        made = loaded.model_validate(dict(parameters))
    except ValueError:
        made = loaded.example()
    fits: list[str] = []
    misfits: dict[str, str] = {}
    for name in looked.columns:
        try:
            if looked.data is not None:
                made.check(looked.data, [name])
                if method == "generalization" and looked.data.attribute(name).role is Role.IDENTIFIER:
                    raise DiscreetError("it is an identifier; remove it rather than make it coarser")
            fits.append(name)
        except DiscreetError as error:
            misfits[name] = str(error)
    return (fits, misfits) if fits else (list(looked.columns), {})


@lru_cache(maxsize=16)
def _first(place: Path, _written: int) -> pl.DataFrame:
    return pl.scan_parquet(place).head(FIRST).collect()
