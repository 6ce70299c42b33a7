"""Confidential columns that the quasi-identifiers give: whoever knows these knows them, whatever their role says."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.risks.coverage.computed import columns_computed_from

KEYS = ["admitted", "discharged", "sex"]


def stays(records: int = 1_000, *, moments: bool = False) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    begin = [dt.datetime(2021, 1, 1, 8) + dt.timedelta(hours=int(hours)) for hours in rng.integers(0, 20_000, records)]
    end = [start + dt.timedelta(hours=int(hours)) for start, hours in zip(begin, rng.integers(1, 900, records), strict=True)]
    frame = pl.DataFrame({"admitted": begin, "discharged": end, "sex": rng.choice(["m", "f"], records)})
    days = (frame["discharged"].dt.date() - frame["admitted"].dt.date()).dt.total_days()
    frame = frame.with_columns(days.alias("days"), pl.Series("wage", rng.integers(0, 40, records)))
    return frame if moments else frame.with_columns(pl.col("admitted", "discharged").dt.date())


def assess(frame: pl.DataFrame, *, days: dict[str, Any], columns: list[str] = KEYS) -> Any:
    attributes = {name: {"role": "key"} for name in KEYS} | {
        "days": days, "wage": {"role": "confidential", "sensitivity": 0.5},
    }  # fmt: skip
    step = {"method": "microaggregation", "columns": columns, "publish": "ranges", "size": 5, "how": "mdav"}
    judged = {"risk": {"k_anonymity": {"keys": KEYS}}, "limits": {"k_anonymity.k": 5}}
    policy = {"attributes": attributes, "plan": {"steps": [step]}} | judged
    data = discreet.read(frame, policy)
    return discreet.assess(data, discreet.mask(data))


@pytest.mark.parametrize("moments", [False, True])
def test_a_length_of_stay_is_no_secret_to_those_who_know_both_dates(moments: bool) -> None:
    """k = 5 was met, and three of four persons were found by their dates and the confidential length of their stay."""
    assessment = assess(stays(moments=moments), days={"role": "confidential", "sensitivity": 0.5})
    assert assessment.status == "incomplete"
    (gap,) = assessment.gaps
    assert "'days' is released with the role confidential, but whoever knows the quasi-identifiers knows it" in gap
    assert "discharged - " in gap
    assert "admitted" in gap
    assert "give it the role key, mask it, or write accepted" in gap


def test_a_few_missing_dates_do_not_hide_how_a_column_is_computed() -> None:
    """An extract with 1 % of blank dates counted them as 1970-01-01, so that no formula fitted."""
    rng = np.random.default_rng(6)
    frame = stays().with_columns(
        pl.when(pl.Series(rng.random(1_000) < 0.02)).then(None).otherwise(pl.col(name)).alias(name)
        for name in ("admitted", "discharged", "days")
    )
    born = [dt.date(1930, 1, 1) + dt.timedelta(days=int(days)) for days in rng.integers(0, 25_000, 1_000)]
    frame = frame.with_columns(pl.Series("born", born))
    data = discreet.read(frame, {"attributes": {name: {"role": "key"} for name in [*KEYS, "born"]}})
    computed = columns_computed_from(data, [*KEYS, "born"], ["days", "wage"])
    assert {name: one.rule for name, one in computed.items()} == {"days": "discharged - admitted"}


def test_what_is_not_computed_masked_with_the_keys_or_accepted_is_no_gap() -> None:
    accepted = assess(stays(), days={"role": "confidential", "accepted": "the dates are known to nobody"})
    assert accepted.status == "met"
    masked = assess(stays(), days={"role": "confidential", "sensitivity": 0.5}, columns=[*KEYS, "days"])
    assert masked.status == "met", masked.gaps
    shuffled = stays().with_columns(pl.col("days").shuffle(seed=2))
    assert assess(shuffled, days={"role": "confidential", "sensitivity": 0.5}).status == "met"


def test_only_what_an_intruder_knows_counts() -> None:
    data = discreet.read(stays(200), {"attributes": {name: {"role": "key"} for name in KEYS}})
    assert set(columns_computed_from(data, KEYS, ["days", "wage", "sex"])) == {"days"}
    assert not columns_computed_from(data, ["admitted", "sex"], ["days"])
    assert not columns_computed_from(data, [], ["days"])
    assert not columns_computed_from(data.take(np.arange(0)), KEYS, ["days"])
