"""One key, plan and table give one release on this machine and on Spark, whatever the number of partitions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

import discreet
from discreet.model.microdata import Microdata

ROWS = 300
STEPS = [
    {"method": "noise", "columns": ["income"], "level": 0.3},
    {"method": "pram", "columns": ["town"], "retention": 0.6},
    {"method": "sampling", "fraction": 0.5},
]


def people() -> Microdata:
    chance = np.random.default_rng(7)
    frame = pl.DataFrame(
        {
            "age": chance.integers(18, 90, ROWS),
            "income": np.where(chance.random(ROWS) < 0.1, np.nan, chance.lognormal(10, 1, ROWS)),
            "town": [None if n % 17 == 0 else f"Köln {n % 5}" for n in range(ROWS)],
            "born": [dt.date(1950, 1, 1) + dt.timedelta(int(n)) for n in chance.integers(0, 9_000, ROWS)],
            "smokes": chance.random(ROWS) < 0.3,
        }
    )
    return discreet.read(frame, {"attributes": {"age": {"role": "key"}}})


def test_the_key_of_all_draws_and_the_order_are_the_same(to_spark: Callable[..., Any]) -> None:
    data = people()
    here = discreet.mask(data, {"steps": STEPS})
    on_spark = to_spark(data, 5)
    there = discreet.mask(on_spark, {"steps": STEPS}, key=here.plan.key)
    assert there.draw_key == here.draw_key
    assert sorted(there.masked.to_local().records.tolist()) == sorted(here.masked.records.tolist())
    other = discreet.mask(on_spark, {"steps": STEPS, "release": 2}, key=here.plan.key)
    assert other.draw_key != here.draw_key
