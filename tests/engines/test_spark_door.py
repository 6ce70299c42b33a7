"""The way to Spark and back: sources, targets, the command line, and what goes wrong, each in one clear sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from command_line import run_command
from patience import busyness, patient

import discreet
from discreet import registry
from discreet.engine.runtime import dispatch
from discreet.engine.spark.session import _check_java
from discreet.errors import DataError, PluginError, SourceError
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.k_anonymity.measure import KAnonymity
from discreet.testing import students, table

POLICY = "attributes: {age: {role: key, known: 0.5}, ill: {role: confidential, sensitivity: 1}}\n"
FRAME = pl.DataFrame({"age": [44, 44, 55, None], "ill": ["Flu", "Cold", "Flu", "Flu"]})


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    FRAME.write_parquet(tmp_path / "people.parquet")
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path / "people.parquet", tmp_path / "policy.yaml"


def run(*words: str, **environment: str) -> tuple[int, str, str]:
    """The command line in a process of its own, where no Spark runs yet: status, and what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", "from discreet.cli import main; main()", *words],
        env={**os.environ, "PYTHONPATH": os.environ["SPARK_CONF_DIR"], **environment},
        capture_output=True, text=True, check=False, timeout=patient(120),
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr.strip()


@pytest.mark.parametrize("place", ["spark://127.0.0.1:1#people", "sc://127.0.0.1:1#people"])
def test_a_lost_cluster_is_told_at_once(files: tuple[Path, Path], place: str) -> None:
    begun = time.monotonic()
    done = run_command("risk", place, "-p", str(files[1]), folder=files[0].parent)
    assert (done.returncode, done.stdout) == (2, "")
    address = place.partition("#")[0]
    assert done.stderr.strip() == f"discreet: {address}: no Spark answers there; is the address right and the cluster up?"
    assert time.monotonic() - begun < 60 * busyness()


def test_a_cluster_that_goes_away_is_told_in_a_sentence() -> None:
    from discreet.engine.spark.errors import translate_errors

    with (
        pytest.raises(SourceError, match=r"^people: the connection to Spark is lost \(.*refused\); start again$"),
        translate_errors("people"),
    ):
        raise ConnectionRefusedError("connection refused")


def test_without_java_one_sentence_says_so(files: tuple[Path, Path]) -> None:
    status, out, message = run("risk", str(files[0]), "-p", str(files[1]), "--engine", "spark", PATH="/nowhere", JAVA_HOME="")
    assert (status, out) == (2, "")
    assert message.startswith("discreet: Spark needs Java 17 or newer, and there is no java on the PATH")
    assert "\n" not in message


def test_a_java_home_without_java_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(SourceError, match="JAVA_HOME is /nowhere"):
        _check_java()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("spark://local[2]", "names no table"),
        ("sc://#people", "names no host"),
        ("people.xlsx", "not a format that Spark reads"),
        ("people.parquet", "there is no such file"),
    ],
)
def test_a_source_that_cannot_be_is_told_before_spark_starts(source: str, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        discreet.read(source, engine="spark")


def test_a_wrong_table_is_told_with_the_nearest_one(spark: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any, files: Any) -> None:
    from discreet.cli import main

    spark.createDataFrame(FRAME.to_arrow()).createOrReplaceTempView("people")
    monkeypatch.setattr(sys, "argv", ["discreet", "risk", "spark://local[2]#poeple", "-p", str(files[1])])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr().err.strip()
    assert "there is no such table or view in this Spark catalog; did you mean 'people'?" in said
    assert "Traceback" not in said


def test_an_attribute_that_the_table_lacks_is_told(to_spark: Callable[..., Any]) -> None:
    data = to_spark(table({"age": [1, 2]}, key=["age"]))
    with pytest.raises(DataError, match=r"has no column 'zip'"):
        discreet.risk(data, {"k_anonymity": {"keys": ["zip"]}})


def test_what_spark_cannot_do_exactly_is_refused_by_name(to_spark: Callable[..., Any]) -> None:
    data = students(30)
    on_spark = to_spark(data)
    with pytest.raises(
        DataError, match="record_linkage does not run on Spark; on Spark run decision, delta_presence, individual_risk"
    ):
        discreet.risk(on_spark, "record_linkage", original=on_spark)
    with pytest.raises(DataError, match="known_sets cannot do tolerance or decide on Spark"):
        discreet.risk(on_spark, {"known_sets": {"tolerance": 0.1}})
    with pytest.raises(DataError, match="target_linkage cannot do tolerance, similarity, edits or errors on Spark"):
        discreet.risk(on_spark, {"target_linkage": {"edits": {"parish": 1}}})
    coarse = table({"age": ["20..30", "25", "40..50"], "ill": ["y", "n", "y"]}, known={"age": 0.5}, sensitivity={"ill": 1.0})
    with pytest.raises(DataError, match="known_sets cannot do coarse cells that overlap on Spark"):
        discreet.risk(to_spark(coarse), "known_sets")
    assert discreet.risk(to_spark(coarse.take(np.array([0, 2]))), "known_sets")["known_sets"]["sets"] == 2  # these do not overlap
    with pytest.raises(DataError, match="select does not run on Spark"):
        discreet.select(on_spark)
    with pytest.raises(DataError, match="different engines"):
        discreet.risk(on_spark, "target_linkage", original=data)
    with pytest.raises(DataError, match="there is no engine 'sparc'; did you mean 'spark'"):
        discreet.read(data.frame, engine="sparc")


def test_every_plug_in_says_on_which_engines_it_runs() -> None:
    found = {one["name"]: one["engines"] for kind in ("risk", "masking", "loss") for one in registry.describe(kind)}  # type: ignore[arg-type]
    assert all("local" in one for one in found.values())
    assert found["record_linkage"] == {"local": ""}
    assert found["known_sets"]["spark"].startswith("missing: wildcard")
    for kind in registry.PLUGIN_TYPES:
        able = registry.names_on_engine(kind, "spark")  # type: ignore[arg-type]
        assert able
        for name in able:
            work = dispatch.declared_work(registry.load(kind, name), "spark")  # type: ignore[call-overload]
            assert work is not None
            assert callable(work.load())


def test_a_subclass_with_its_own_measure_does_not_inherit_the_spark_work() -> None:
    class Renamed(KAnonymity):
        name: ClassVar[str] = "renamed"

    class Stricter(KAnonymity):
        name: ClassVar[str] = "stricter"

        def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
            return super().measure(data, original=original)

    assert dispatch.declared_work(Renamed, "spark") is KAnonymity.spark
    assert dispatch.declared_work(Stricter, "spark") is None


def test_an_engine_function_that_does_not_exist_is_named() -> None:
    with pytest.raises(PluginError, match=r"the engine function 'discreet\.nowhere:work' cannot be loaded"):
        EngineWork("discreet.nowhere:work").load()


def test_records_are_written_by_spark(
    spark: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any, files: tuple[Path, Path], tmp_path: Path
) -> None:
    from discreet.cli import main

    words = ["risk", str(files[0]), "-p", str(files[1]), "-m", "known_sets", "-m", "k_anonymity", "--json"]
    told = []
    for more in (
        ["--engine", "spark", "--records", str(tmp_path / "by.parquet")],
        ["--records", str(tmp_path / "local.parquet")],
    ):
        monkeypatch.setattr(sys, "argv", ["discreet", *words, *more])
        try:
            main()
        except SystemExit as ended:
            assert not ended.code  # noqa: PT017 - the command line ends so where it worked
        told.append(json.loads(capsys.readouterr().out))
    assert told[0]["records"] == told[1]["records"] == 4
    assert told[0]["measures"]["k_anonymity"] == told[1]["measures"]["k_anonymity"]
    assert told[0]["measures"]["known_sets"]["mean"] == pytest.approx(told[1]["measures"]["known_sets"]["mean"], rel=1e-9)
    written, local = pl.read_parquet(tmp_path / "by.parquet"), pl.read_parquet(tmp_path / "local.parquet")
    assert (tmp_path / "by.parquet").is_dir()
    assert written.columns == local.columns
    assert written["known_sets.risk"].to_list() == pytest.approx(local["known_sets.risk"].to_list(), rel=1e-9)


def test_a_table_goes_to_the_catalog_and_back(spark: Any, to_spark: Callable[..., Any], tmp_path: Path) -> None:
    data = to_spark(table({"age": [44, None, 55], "n/a": ["x", "-", "y"]}, key=["age"]))
    discreet.write(data, "spark://local[2]#kept")
    discreet.write(data, tmp_path / "kept.csv")
    back: Any = discreet.read("spark://local[2]#kept", {"missing": ["-"], "attributes": {"age": {"missing": ["55"]}}})
    assert sorted(back.to_polars().rows(), key=str) == sorted([(44, "x"), (None, None), (None, "y")], key=str)
    assert len(discreet.read(tmp_path / "kept.csv", engine="spark")) == 3
    with pytest.raises(SourceError, match="not a format that Spark writes"):
        discreet.write(data, tmp_path / "kept.sav")
    with pytest.raises(SourceError, match="there is no folder"):
        discreet.write(data, tmp_path / "nowhere" / "kept.parquet")
    spark.sql("drop table kept")


def test_a_column_can_number_the_records(spark: Any) -> None:
    from discreet.engine.spark.hidden_columns import RECORD
    from discreet.engine.spark.source import read_spark

    frame = spark.createDataFrame([(7, "x"), (3, "y")], "id long, text string")
    data = read_spark(frame, discreet.Policy(), record="id")
    assert {row["id"]: row[RECORD] for row in data.numbered.collect()} == {7: 7, 3: 3}
    twice = read_spark(frame.union(frame), discreet.Policy(), record="id")
    with pytest.raises(DataError, match="'id' cannot number the records"):
        twice.numbered  # noqa: B018 - made when asked for
