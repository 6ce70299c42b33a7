"""A release to report on, with planted values that must not appear in its public report."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import discreet
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.results import Release
from discreet.report.evidence import gather
from discreet.report.page import render

PLANTED = {
    "name": "Xavier Plantedname",
    "ssn": "987-65-4321",
    "job": "Astronautplanted",
    "income": 918273645,
    "disease": "Plantedfever",
    "town": "<script>alert('town')</script>",
}


def people_with_planted_values(records: int = 60) -> Microdata:
    """People of a few jobs and towns, and one person whose values are all unique."""
    frame = pl.DataFrame(
        {
            "name": [f"Person Number{row}" for row in range(records)],
            "ssn": [f"100-00-{row:04d}" for row in range(records)],
            "age": [20 + row % 40 for row in range(records)],
            "job": [("nurse", "teacher", "clerk")[row % 3] for row in range(records)],
            "town": [("Lund", "Bergen & Co <b>")[row % 2] for row in range(records)],
            "income": [20_000 + 1_000 * (row % 30) for row in range(records)],
            "disease": [("Flu", "Cold")[row % 2] for row in range(records)],
        }
    )
    planted_row = {name: PLANTED.get(name, 77) for name in frame.columns}
    frame = pl.concat([frame, pl.DataFrame([planted_row], schema=frame.schema)])
    policy = Policy.from_dict(
        {
            "attributes": {
                "name": {"role": "identifier"},
                "ssn": {"role": "identifier"},
                "age": {"role": "key", "known": 0.3},
                "job": {"role": "key", "known": 0.6, "order": ["nurse", "teacher", "clerk", PLANTED["job"]]},
                "town": {"role": "key", "known": 0.5},
                "income": {"role": "confidential", "known": 0.005, "sensitivity": 0.5},
                "disease": {
                    "role": "confidential", "sensitivity": 1.0, "values": {"Flu": 0.2, PLANTED["disease"]: 1.0}, "default": 0.1,
                },
            },
            "risk": {"known_sets": {}, "k_anonymity": {}},
            "limits": {"k_anonymity.k": 2, "known_sets.high_risk": 1_000},
            "plan": {
                "seed": 7,
                "steps": [{"method": "remove_identifiers"}, {"method": "rounding", "columns": ["age"], "base": 10}],
            },
        }
    )  # fmt: skip
    return Microdata(frame, policy, "people.csv")


@pytest.fixture(scope="session")
def people() -> Microdata:
    return people_with_planted_values()


@pytest.fixture(scope="session")
def secrets() -> dict[str, Any]:
    return PLANTED


@pytest.fixture(scope="session")
def release(people: Microdata) -> Release:
    return discreet.mask(people)


@pytest.fixture(scope="session")
def page(release: Release) -> str:
    return render(gather(release.original, release))


@pytest.fixture(scope="session")
def readings() -> Callable[[str], list[str]]:
    """Everything that a reader can extract from a page: its bytes, its text, and the data of its charts."""

    def read(page: str) -> list[str]:
        specs = re.search(r'id="specs">(.*?)</script>', page, flags=re.DOTALL)
        assert specs is not None, "the page has no charts"
        return [page, html.unescape(page), json.dumps(json.loads(specs[1]), ensure_ascii=False)]

    return read
