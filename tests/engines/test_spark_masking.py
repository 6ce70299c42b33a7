"""The same plan with the same seed gives the same masked table on both engines, whatever the number of partitions."""

from __future__ import annotations

import csv
import datetime
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import discreet
from discreet.cli.app import app
from discreet.engine.spark import rank_selection as selecting
from discreet.engine.spark import value_counts as dictionaries
from discreet.errors import DataError
from discreet.model.hierarchy import HierarchySpec
from discreet.testing import students, table

Spark = Callable[..., Any]
ROWS = 90


def people(rows: int = ROWS) -> discreet.Microdata:
    """Numbers, categories, dates and weights, with nulls in most of them."""
    random = np.random.default_rng(11)
    day = datetime.date(2020, 1, 1)
    content: dict[str, list[Any]] = {
        "ssn": [f"{at:05d}" for at in range(rows)],
        "person": [int(at) for at in random.integers(0, 30, rows)],
        "age": random.integers(0, 95, rows).tolist(),
        "pay": np.round(random.normal(3000, 900, rows), 2).tolist(),
        "debt": np.round(random.normal(100, 30, rows), 2).tolist(),
        "state": random.choice(["MI", "OH", "IN"], rows, p=[0.7, 0.2, 0.1]).tolist(),
        "job": random.choice(["a", "b", "c", "d"], rows).tolist(),
        "born": [day + datetime.timedelta(days=int(at)) for at in random.integers(0, 900, rows)],
        "weight": random.integers(1, 5, rows).tolist(),
    }
    for name in ("age", "pay", "job", "state"):
        content[name][3::11] = [None] * len(content[name][3::11])
    made = table(
        content, identifier=["ssn"], person=["person"], key=["age", "state", "job"], confidential=["pay"], weight=["weight"]
    )
    tree = HierarchySpec(groups=[{"ab": ("a", "b"), "cd": ("c", "d")}])
    attributes = {**made.policy.attributes, "job": made.attribute("job").model_copy(update={"hierarchy": tree})}
    return made.with_policy(made.policy.model_copy(update={"attributes": attributes}))


STEPS: dict[str, list[dict[str, Any]]] = {
    "cells": [
        {"method": "remove_identifiers"},
        {"method": "global_recoding", "columns": ["age"], "width": 10},
        {"method": "global_recoding", "columns": ["job"], "level": 1},
        {"method": "global_recoding", "columns": ["state"], "groups": {"lakes": ["MI", "OH"]}, "other": "rest"},
        {"method": "global_recoding", "columns": ["born"], "unit": "quarter"},
        {"method": "rounding", "columns": ["pay"], "base": 50, "how": "random"},
        {"method": "rounding", "columns": ["debt"], "base": 0.5},
    ],
    "columns": [
        {"method": "top_bottom_coding", "columns": ["pay"], "top_share": 0.1, "bottom_count": 4, "replace": "mean"},
        {"method": "top_bottom_coding", "columns": ["debt"], "top": 120, "replace": "median"},
        {"method": "top_bottom_coding", "columns": ["age"], "bottom": 5, "top_count": 7, "replace": "label"},
        {"method": "noise", "columns": ["pay", "debt"], "level": 0.3, "how": "kim", "within": True},
        {"method": "noise", "columns": ["weight"], "level": 0.1},
        {"method": "pram", "columns": ["job"], "retention": 0.5, "invariant": True},
        {"method": "pram", "columns": ["state"], "retention": 0.5, "invariant": True, "strata": ["job"]},
    ],
    "records": [
        {"method": "rounding", "columns": ["age"], "base": 5},
        {"method": "sampling", "fraction": 0.6, "strata": ["state", "job"], "least": 1},
        {"method": "noise", "columns": ["pay"], "level": 0.2, "how": "multiplicative"},
        {"method": "sampling", "columns": [], "fraction": 0.5},
    ],
    "classes": [
        {"method": "swapping", "columns": ["pay", "debt"], "how": "random", "strata": ["state"], "share": 0.7},
        {
            "method": "generalization",
            "columns": ["state", "job"],
            "k": 8,
            "l": 2,
            "sensitive": ["born"],
            "suppression_limit": 0.2,
        },
    ],
    "removed": [
        {
            "method": "generalization",
            "columns": ["age", "job"],
            "k": 3,
            "t": 0.6,
            "sensitive": ["state"],
            "suppressed": "remove",
            "suppression_limit": 0.9,
            "loss": "ncp",
        },
    ],
}


def plan(name: str) -> dict[str, Any]:
    return {"seed": 42, "steps": STEPS[name]}


def same(found: pl.DataFrame, wanted: pl.DataFrame) -> None:
    assert_frame_equal(found, wanted, check_exact=False, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize(("name", "partitions"), [("cells", 1), ("columns", 3), ("records", 4), ("classes", 3), ("removed", 2)])
def test_the_same_values_are_masked_on_both_engines(to_spark: Spark, name: str, partitions: int) -> None:
    data = people()
    wanted, found = discreet.mask(data, plan(name)), discreet.mask(to_spark(data, partitions), plan(name))
    same(found.masked.to_polars(), wanted.masked.frame)
    assert (found.n, found.t, found.r, found.sf) == (wanted.n, wanted.t, wanted.r, wanted.sf)
    for one, other in zip(found.log, wanted.log, strict=True):
        assert (one.step, one.method, one.columns) == (other.step, other.method, other.columns)
        assert (one.values_changed, one.records_removed) == (other.values_changed, other.records_removed), one
    losses = discreet.loss(found.original, found), discreet.loss(wanted.original, wanted)
    assert losses[0]["ncp"].summary == pytest.approx(losses[1]["ncp"].summary, rel=1e-9)


def test_one_record_is_masked_as_well(to_spark: Spark) -> None:
    data = people(1)
    given = {"seed": 1, "steps": [*STEPS["cells"][:2], {"method": "sampling", "columns": [], "fraction": 1}]}
    same(discreet.mask(to_spark(data, 1), given).masked.to_polars(), discreet.mask(data, given).masked.frame)


def test_pseudonyms_are_the_key_s(to_spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELEASE_KEY", "a key of many characters")
    data = people()
    keyed = {"seed": 1, "steps": [{"method": "pseudonymization", "key_env": "RELEASE_KEY"}]}
    for partitions in (1, 3):
        same(discreet.mask(to_spark(data, partitions), keyed).masked.to_polars(), discreet.mask(data, keyed).masked.frame)
    fresh = discreet.mask(to_spark(data, 3), {"seed": 1, "steps": [{"method": "pseudonymization"}]})
    words = fresh.masked.to_polars()["person"]
    assert words.n_unique() == data.frame["person"].n_unique(), "workers used different keys"
    assert "the key was generated for this run" in fresh.log[0].notes[0]
    with pytest.raises(DataError, match=r"step 1 .*does not run on Spark; on Spark run generalization, global_recoding, "):
        discreet.mask(to_spark(data), {"steps": [{"method": "microaggregation", "columns": ["pay"], "size": 3}]})
    with pytest.raises(DataError, match=r"step 1 \(rounding\): rounding cannot do how: controlled on Spark"):
        discreet.mask(to_spark(data), {"steps": [{"method": "rounding", "columns": ["pay"], "base": 5, "how": "controlled"}]})
    with pytest.raises(DataError, match="swapping cannot do how: rank or targeted, or how: random without strata on Spark"):
        discreet.mask(to_spark(data), {"steps": [{"method": "swapping", "columns": ["pay"]}]})
    with pytest.raises(DataError, match=r"step 1 \(noise\): noise needs numbers, but 'job'"):
        discreet.mask(to_spark(data), {"steps": [{"method": "noise", "columns": ["job"], "level": 0.1}]})


@pytest.mark.parametrize("most", [1 << 20, 20])
def test_the_penalty_is_the_same_a_record(to_spark: Spark, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """With few values allowed in a dictionary, numbers are told by their least and greatest value only."""
    monkeypatch.setattr(dictionaries, "MOST_VALUES", most)
    data = people()
    steps = [*STEPS["records"][:3], {"method": "global_recoding", "columns": ["pay"], "width": 500}]
    wanted, found = (discreet.mask(one, {"seed": 9, "steps": steps}) for one in (data, to_spark(data, 3)))
    asked = {"ncp": {"attributes": ["age", "pay", "state"], "weights": {"pay": 2.0}}}
    one, other = discreet.loss(found.original, found, asked)["ncp"], discreet.loss(data, wanted, asked)["ncp"]
    assert one.summary == pytest.approx(other.summary, rel=1e-9)
    assert one.per_attribute is not None
    assert other.per_attribute is not None
    same(one.per_attribute, other.per_attribute)
    assert one.per_record is not None
    assert other.per_record is not None
    same(one.per_record, other.per_record)


def test_integrity_is_the_same(to_spark: Spark) -> None:
    """Nulls, coarse numbers, slopes of predictors that depend on each other, and categories that are gone."""
    data = people()
    data = data.with_columns({"twice": data.frame["debt"] * 2})
    plain = {name: attribute for name, attribute in data.policy.attributes.items() if name != "weight"}
    data = data.with_policy(data.policy.model_copy(update={"attributes": plain}))
    steps = [*STEPS["cells"][1:4], *STEPS["records"][2:3], {"method": "rounding", "columns": ["debt"], "base": 7}]
    wanted, found = (discreet.mask(one, {"seed": 9, "steps": steps}) for one in (data, to_spark(data, 3)))
    one, other = (discreet.loss(made.original, made, "integrity")["integrity"] for made in (found, wanted))
    assert one.summary == pytest.approx(other.summary, rel=1e-9, abs=1e-9)
    assert one.per_attribute is not None
    assert other.per_attribute is not None
    same(one.per_attribute, other.per_attribute)
    assert one.notes == other.notes


def test_records_at_risk_lose_their_top_set(to_spark: Spark) -> None:
    data = students(400, dense=True)
    step = {"method": "targeted_suppression", "passes": 1, "threshold": 0.2, "protect": ["gender"]}
    wanted, found = discreet.mask(data, {"steps": [step]}), discreet.mask(to_spark(data, 3), {"steps": [step]})
    same(found.masked.to_polars(), wanted.masked.frame)
    assert found.log[0].values_changed == wanted.log[0].values_changed > 0
    with pytest.raises(DataError, match=r"records are still above the threshold 0.2, and .* the limit 0.0001 allows"):
        discreet.mask(to_spark(data), {"steps": [{**step, "limit": 0.0001}]})


def test_ranks_are_found_digit_by_digit(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few keys allowed to come here, all passes are needed; the value at each rank is that of a sort."""
    values = [-np.inf, -3.5, -0.0, 0.0, 1e-300, 2.0, 2.0, 7.25, 1e300, None]
    frame = spark.createDataFrame(pl.DataFrame({"x": values}).to_arrow()).repartition(3)
    monkeypatch.setattr(selecting, "FEW", 1)
    ordered = selecting.OrderedColumn(frame, "x", 9, "the data")
    assert [ordered[rank] for rank in (0, 3, 6, 8)] == [-np.inf, 0.0, 2.0, 1e300]


def test_the_command_writes_what_the_local_engine_writes(spark: Any, tmp_path: Path) -> None:
    data = people()
    given = discreet.Plan.model_validate({"seed": 5, "steps": [*STEPS["cells"][1:3], STEPS["records"][-1]]})
    limits = {"k_anonymity.k": 1, "k_anonymity.unique": 0}
    source, policy = tmp_path / "people.parquet", tmp_path / "policy.yaml"
    data.frame.write_parquet(source)
    policy.write_text(data.policy.model_copy(update={"plan": given, "limits": limits}).to_yaml())
    written = []
    for engine in ("local", "spark"):
        out, link = tmp_path / f"{engine}.parquet", tmp_path / f"{engine}-link.parquet"
        asked = ["mask", str(source), str(out), "-p", str(policy), "--engine", engine, "--link", str(link), "--json"]
        made = CliRunner().invoke(app, asked)
        assert made.exit_code == 1, made.output  # some records are still unique
        assert made.stdout, made.stderr
        told = json.loads(made.stdout)
        written.append((out, link, [(one["values_changed"], one["records_removed"]) for one in told["steps"]], told["limits"]))
    (local, local_link, steps, verdicts), (folder, folder_link, spark_steps, spark_verdicts) = written
    same(_rows(folder), pl.read_parquet(local))
    assert _rows(folder_link)["record"].to_list() == pl.read_parquet(local_link)["record"].to_list()
    assert (steps, verdicts) == (spark_steps, spark_verdicts)
    assert "ssn" not in _rows(folder).columns
    assert {stat.S_IMODE(one.stat().st_mode) for one in (local_link, *folder_link.iterdir())} == {0o600}
    assert stat.S_IMODE(folder_link.stat().st_mode) == 0o700
    assert not [one.name for one in tmp_path.iterdir() if "writing" in one.name]


def test_no_text_of_a_release_runs_as_a_formula(to_spark: Callable[..., Any], tmp_path: Path) -> None:
    texts = ["=1+1", "-2+3+cmd|' /C calc'!A0", "@SUM(A1)", "-5x", "a=b", "+", None]
    data = table({"=name": texts, "age": list(range(7))}, key=["age"])
    written = []
    for engine, one in (("local", data), ("spark", to_spark(data))):
        release = discreet.mask(one, {"seed": 1, "steps": [{"method": "rounding", "columns": ["age"], "base": 2}]})
        discreet.write(release, tmp_path / f"{engine}.csv")
        discreet.write(one, tmp_path / f"{engine}-own.csv")
        written.append(_cells(tmp_path / f"{engine}.csv"))
        assert ["=1+1", "0"] in _cells(tmp_path / f"{engine}-own.csv")  # nothing is changed in what stays at home
    assert written[0] == written[1]
    assert ["'=name", "age"] in written[0]
    assert ["'=1+1", "0"] in written[0]


def _cells(place: Path) -> list[list[str]]:
    """The lines of a CSV file or of the files of a folder, each once, sorted."""
    files = sorted(place.glob("*.csv")) if place.is_dir() else [place]
    return sorted({tuple(line): line for file in files for line in csv.reader(file.open(newline=""))}.values())


def _rows(folder: Path) -> pl.DataFrame:
    """The files that Spark wrote, in the order of their names."""
    return pl.concat([pl.read_parquet(part) for part in sorted(folder.glob("*.parquet"))])
