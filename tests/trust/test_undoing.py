"""An intruder with a release, its public policy and this package tries to undo it: order, noise, swapping, PRAM, two releases.

He recomputes draws as the package makes them, with every seed that he can think of (0, small numbers, dates), and lays what
comes out beside what he knows. Each attack here undid a release that was made with the defaults before keys were secret.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.engine.draws.context import derive_draw_key
from discreet.masking import generate as generator
from discreet.masking.release import release_table
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan

AREA = "Nothing leaks"
ROWS = 1_000
ATTRIBUTES = {"age": {"role": "key"}, "income": {"role": "confidential"}, "state": {"role": "key"}}
NOISE = {"method": "noise", "columns": ["income"], "level": 0.5}
SWAPPING = {"method": "swapping", "how": "random", "columns": ["income"]}
PRAM = {"method": "pram", "columns": ["state"], "retention": 0.5}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_HOME", str(tmp_path / "home"))


def people() -> Microdata:
    chance = np.random.default_rng(4)
    frame = pl.DataFrame(
        {
            "age": chance.integers(18, 90, ROWS),
            "income": np.round(chance.lognormal(10, 1, ROWS)),
            "state": chance.choice(["MI", "IN", "OH", "IL"], ROWS),
        }
    )
    return discreet.read(frame, {"attributes": ATTRIBUTES})


def seeds() -> Iterator[int]:
    """What people choose: small numbers, and the dates of a year as one number."""
    yield from range(30)
    first = dt.date(2026, 1, 1)
    yield from (int(f"{first + dt.timedelta(day):%Y%m%d}") for day in range(0, 365, 7))


def guesses(data: Microdata, steps: list[dict[str, Any]]) -> Iterator[discreet.Release]:
    """Releases as the package makes them of a table that the intruder made up, by the seeds that he tries."""
    for seed in seeds():
        yield generator.generate(data, Plan.model_validate({"seed": seed, "steps": steps}))


def made_up(rows: int = ROWS) -> Microdata:
    """Draws did not depend on the values, so the intruder's own table of the same shape did."""
    states = ["MI", "IN", "OH", "IL"] * (rows // 4)
    frame = pl.DataFrame({"age": np.arange(rows), "income": np.arange(rows, dtype=float), "state": states})
    return discreet.read(frame, {"attributes": ATTRIBUTES})


@pytest.mark.trust(AREA, "the order of the source cannot be computed from a release made with the defaults")
def test_the_order_of_the_source_is_not_recovered() -> None:
    data = people()
    written = release_table(discreet.mask(data, {"steps": [NOISE]}))
    best = max(float((release_table(guess).records == written.records).mean()) for guess in guesses(made_up(), [NOISE]))
    assert best < 0.01  # chance puts one row in a thousand right


@pytest.mark.trust(AREA, "noise cannot be computed and taken away from a release made with the defaults")
def test_noise_is_not_removed() -> None:
    data = people()
    release = discreet.mask(data, {"steps": [NOISE]})
    noise = (release.masked.frame["income"].cast(pl.Float64) - data.frame["income"]).to_numpy()
    own = made_up()
    best = 0.0
    for guess in guesses(own, [NOISE]):
        drawn = (guess.masked.frame["income"].cast(pl.Float64) - own.frame["income"]).to_numpy()
        best = max(best, abs(float(np.corrcoef(drawn, noise)[0, 1])))
    assert best < 0.2  # of 83 guesses, the largest correlation of 1,000 independent pairs


@pytest.mark.trust(AREA, "random swapping cannot be computed and undone in a release made with the defaults")
def test_swapping_is_not_undone() -> None:
    data = people()
    swapped = discreet.mask(data, {"steps": [SWAPPING]}).masked.frame["income"].to_numpy()
    original = data.frame["income"].to_numpy()
    best = 0.0
    for guess in guesses(made_up(), [SWAPPING]):
        partner = guess.masked.frame["income"].to_numpy().astype(np.int64)  # a made-up income is the number of its row
        undone = swapped.copy()
        undone[partner] = swapped
        best = max(best, float((undone == original).mean()))
    assert best < float((swapped == original).mean()) + 0.05


@pytest.mark.trust(AREA, "which categories PRAM changed cannot be computed from a release made with the defaults")
def test_pram_is_not_pinned() -> None:
    data = people()
    changed = (discreet.mask(data, {"steps": [PRAM]}).masked.frame["state"] != data.frame["state"]).to_numpy()
    own = made_up()
    best = 0.0
    for guess in guesses(own, [PRAM]):
        said = (guess.masked.frame["state"] != own.frame["state"]).to_numpy()
        best = max(best, abs(float(np.corrcoef(said, changed)[0, 1])))
    assert best < 0.2


@pytest.mark.trust(AREA, "two releases of one table under one key do not solve to the original values")
def test_two_releases_under_one_key_do_not_give_the_originals() -> None:
    data = people()
    secret = 918_273_645_546_372_819
    one = discreet.mask(data, {"seed": secret, "steps": [NOISE]})
    other = discreet.mask(data, {"seed": secret, "steps": [{**NOISE, "level": 0.3}]})
    high, low = (made.masked.frame["income"].cast(pl.Float64).to_numpy() for made in (one, other))
    original = data.frame["income"].to_numpy()
    solved = low - (high - low) * 0.3 / (0.5 - 0.3)  # x + 0.5 s z and x + 0.3 s z are two equations for x
    assert float((np.abs(solved - original) < 2).mean()) < 0.02
    drawn = [(values - original) for values in (high, low)]
    assert abs(float(np.corrcoef(*drawn)[0, 1])) < 0.15


@pytest.mark.trust(AREA, "a date as a seed is not found, because there is none: two releases with the defaults differ")
def test_nothing_that_the_policy_says_repeats_a_release() -> None:
    data = people()
    first, second = discreet.mask(data, {"steps": [NOISE]}), discreet.mask(data, {"steps": [NOISE]})
    assert not first.masked.frame.equals(second.masked.frame)
    # the public policy names the key by its id alone; without the ring it repeats nothing
    assert "key" in first.plan.model_dump(exclude_none=True)
    draws = {made.draw_key for made in (first, second)}
    draws |= {guess.draw_key for guess in guesses(data, [NOISE])}
    assert len(draws) == 2 + len(list(seeds()))


@pytest.mark.parametrize("named_by", ["hierarchy", "risk", "step"])
def test_two_releases_share_no_draw_where_a_file_that_the_policy_names_differs(tmp_path: Path, named_by: str) -> None:
    """One hierarchy file, edited between two releases under one key: equal noise would be cancelled by a difference."""
    file = tmp_path / "named.csv"
    attributes: dict[str, Any] = {**ATTRIBUTES}
    if named_by == "hierarchy":
        attributes["state"] = {"role": "key", "hierarchy": {"file": "named.csv"}}
    policy = {"attributes": attributes, "risk": {"other_plugin": {"lists": ["named.csv"]}} if named_by == "risk" else {}}
    steps = [{"method": "pseudonymization", "columns": ["name"], "key_file": "named.csv"}] if named_by == "step" else []
    loaded = discreet.Policy.from_dict(policy, folder=str(tmp_path))
    plan = Plan.model_validate({"steps": steps})
    keys = []
    for content in ("a,b\n", "a,c\n", "a,b\n"):
        file.write_text(content)
        os.utime(file, ns=(len(keys), len(keys)))  # a new time of writing, however coarse the file system's clock is
        keys.append(derive_draw_key(b"s" * 32, loaded, plan, b"fingerprint"))
    assert keys[0] == keys[2] != keys[1]
    other = tmp_path / "copy"
    other.mkdir()
    (other / "named.csv").write_text("a,b\n")
    assert derive_draw_key(b"s" * 32, discreet.Policy.from_dict(policy, folder=str(other)), plan, b"fingerprint") == keys[0]
