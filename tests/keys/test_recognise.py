"""A release is recognised by its content, whatever file or database it was read from."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.keys.recognise import order_keys, release_digest
from discreet.keys.ring import KeyRing, RememberedRelease
from discreet.masking.release import release_table
from discreet.verbs import link

ROWS = 60


def people_table() -> pl.DataFrame:
    random = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "name": [f"Person {number}" for number in range(ROWS)],
            "age": random.integers(18, 90, ROWS),
            "born": [dt.date(1950, 1, 1) + dt.timedelta(int(n)) for n in random.integers(0, 20_000, ROWS)],
            "seen": [dt.datetime(2020, 1, 1) + dt.timedelta(hours=int(n)) for n in random.integers(0, 2_000, ROWS)],
            "smokes": random.random(ROWS) < 0.3,
            "town": random.choice(["Aix", "Bonn", "=Cork", ""], ROWS),
            "income": np.where(random.random(ROWS) < 0.1, np.nan, random.lognormal(10, 1, ROWS)),
        }
    )


POLICY = {
    "attributes": {"name": {"role": "identifier"}, "age": {"role": "key", "known": 0.3}, "income": {"role": "confidential"}},
    "risk": {"k_anonymity": {}},
    "limits": {"k_anonymity.k": 1},
    "plan": {"steps": [{"method": "remove_identifiers"}, {"method": "noise", "columns": ["age", "income"], "level": 0.5}]},
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DISCREET_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


TARGETS = ["r.csv", "r.parquet", "r.xlsx", "r.jsonl", "r.sav", "sqlite:///{}/r.db#r", "duckdb:///{}/r.duckdb#r"]


@pytest.mark.parametrize("target", TARGETS)
def test_the_row_order_is_recovered_without_a_key_in_the_policy_and_with_edited_limits(
    home: Path, tmp_path: Path, target: str
) -> None:
    data = discreet.read(people_table(), POLICY)
    release = discreet.mask(data)
    target_name = target.format(tmp_path) if "://" in target else str(tmp_path / target)
    discreet.write(release, target_name)
    edited = {**POLICY, "limits": {"k_anonymity.k": 3}, "risk": {"k_anonymity": {}, "known_sets": {}}}
    masked = discreet.read(target_name, edited)
    original = data.with_policy(discreet.read(people_table(), edited).policy)
    assert order_keys(masked, original) == [release.draw_key]
    assert (link(original, masked).records == release_table(release).records).all()
    assert not [warning for warning in discreet.assess(original, masked).warnings if "strangers" in warning]


def test_without_the_key_the_row_order_cannot_be_recovered(home: Path, tmp_path: Path) -> None:
    data = discreet.read(people_table(), POLICY)
    release = discreet.mask(data)
    discreet.write(release, tmp_path / "r.csv")
    KeyRing().delete(str(release.plan.key))
    masked = discreet.read(tmp_path / "r.csv", POLICY)
    assert order_keys(masked, data) == []
    assert link(data, masked).is_initial


def test_a_policy_that_names_the_key_recovers_the_row_order_without_a_digest(home: Path) -> None:
    data = discreet.read(people_table(), POLICY)
    release = discreet.mask(data)
    named = data.with_policy(data.policy.with_(plan=release.plan))
    assert order_keys(release_table(release), named) == [release.draw_key]


def test_of_several_releases_with_the_same_content_the_order_in_which_the_values_agree_is_taken(
    home: Path, tmp_path: Path
) -> None:
    """Of five records two releases have the same order once in 120 times, and neither key was used then."""
    data = discreet.read(people_table(), POLICY)
    release, others = discreet.mask(data), [discreet.mask(data) for _ in range(4)]
    discreet.write(release, tmp_path / "r.csv")
    masked = discreet.read(tmp_path / "r.csv", POLICY)
    ring = KeyRing()
    for other in others:
        ring.remember(release_digest(masked.frame), RememberedRelease(str(other.plan.key), other.draw_key, len(masked)))
    assert len(order_keys(masked, data)) == 5
    assert (link(data, masked).records == release_table(release).records).all()


def test_a_digest_depends_on_every_column_and_on_the_order_of_rows() -> None:
    frame = people_table()
    own = release_digest(frame)
    assert release_digest(frame.reverse()) != own
    for name in frame.columns:
        assert release_digest(frame.drop(name)) != own
        assert release_digest(frame.with_columns(pl.col(name).shift(1))) != own
