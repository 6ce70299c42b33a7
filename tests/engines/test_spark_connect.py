"""Spark Connect: the same work through a server, in a process of its own, for a process has one kind of session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from patience import patient

PROGRAM = """
import warnings
import discreet
from discreet.engine.spark.session import without_remarks
from discreet.errors import SourceError
from discreet.testing import table

without_remarks()
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "2").getOrCreate()
people = {"age": [44, 44, 55, None, 31] * 8, "sex": list("fmfmf") * 8, "ill": ["Flu", "Cold", "Flu", "Flu", None] * 8}
known = {"age": 0.5, "sex": 0.9}
data = table(people, key=["age", "sex"], confidential=["ill"], known=known, sensitivity={"ill": 1.0})
frame = spark.createDataFrame(data.frame.to_arrow())
on_server = discreet.read(frame, data.policy)
assert type(frame).__module__.startswith("pyspark.sql.connect"), type(frame)
found, wanted = (discreet.risk(one, "known_sets")["known_sets"] for one in (on_server, data))
assert abs(found["mean"] - wanted["mean"]) <= 1e-9 * wanted["mean"], (found, wanted)
try:
    discreet.read("sc://localhost#nothing", data.policy)
except SourceError as error:
    assert "there is no such table or view" in str(error)
print("the same")
spark.stop()
"""


def test_a_server_of_spark_connect_gives_the_same_numbers(tmp_path: Path) -> None:
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": os.environ["SPARK_CONF_DIR"]}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=patient(400),
    )
    assert "the same" in done.stdout, done.stderr[-3000:]
