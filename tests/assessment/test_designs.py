"""The sampling designs of an original and its release, table by table."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from discreet.assessment.designs import with_designs
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

SAMPLING = {"method": "sampling", "fraction": 0.5}
ROUNDING = {"method": "rounding", "columns": ["age"], "base": 10}


def table(size: int, *steps: dict[str, Any], **sections: Any) -> Microdata:
    attributes = {"age": {"role": "key"}, "w": {"role": sections.pop("role", "other")}}
    policy = Policy.from_dict({"attributes": attributes, "plan": {"steps": list(steps)}, **sections})
    return Microdata(pl.DataFrame({"age": range(size), "w": [1.0] * size}, schema={"age": pl.Int64, "w": pl.Float64}), policy)


@pytest.mark.parametrize(
    ("steps", "role"),
    [([], "other"), ([ROUNDING], "other"), ([{**SAMPLING, "enabled": False}], "other"), ([SAMPLING], "weight")],
    ids=["no steps", "no sampling", "sampling is off", "weights"],
)
def test_where_no_sample_is_drawn_or_weights_say_it_both_tables_stay(steps: list[dict[str, Any]], role: str) -> None:
    original, masked = table(8, *steps, role=role), table(4, *steps, role=role)
    assert with_designs(original, masked, original.policy.plan) == (original, masked)


def test_a_sample_read_from_its_file_has_the_share_of_its_records_and_an_original_is_everybody() -> None:
    original, masked = table(8, ROUNDING, SAMPLING), table(2, ROUNDING, SAMPLING)
    designs = [data.policy.sampling.fraction for data in with_designs(original, masked, original.policy.plan)]
    assert designs == [1.0, 0.25]


def test_an_original_that_is_a_sample_itself_keeps_its_fraction() -> None:
    original, masked = (table(size, SAMPLING, sampling={"fraction": 0.5}) for size in (8, 4))
    designs = [data.policy.sampling.fraction for data in with_designs(original, masked, original.policy.plan)]
    assert designs == [0.5, 0.25]


def test_a_release_that_carries_its_share_is_not_thinned_again() -> None:
    original, masked = table(8, SAMPLING), table(4, SAMPLING, sampling={"fraction": 0.5})
    assert with_designs(original, masked, original.policy.plan)[1].policy.sampling.fraction == 0.5


@pytest.mark.parametrize(("records", "released"), [(4, 8), (4, 0), (0, 0)], ids=["more rows", "no rows", "nobody"])
def test_a_share_is_never_more_than_everybody_nor_nothing(records: int, released: int) -> None:
    original, masked = table(records, SAMPLING), table(released, SAMPLING)
    assert with_designs(original, masked, original.policy.plan)[1].policy.sampling.fraction in (1.0, None)
