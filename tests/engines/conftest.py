"""One Spark session on this machine for all tests of the engines: two threads, tasks that may fail, few partitions."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import discreet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Read = Callable[..., Any]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spark's own remark on the version of pandas, which nothing here uses, is no failure of ours."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker("spark")
            item.add_marker(pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from discreet.engine.spark.session import without_remarks

    without_remarks()
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.log.level": "OFF",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.python.daemon.module": "warm_daemon",
        "spark.executorEnv.PYTHONPATH": os.environ["SPARK_CONF_DIR"],
        # no Java is written for whole plans of a few rows; single expressions still need it, as the catalog's tables do
        "spark.sql.codegen.wholeStage": "false",
    }
    builder = SparkSession.builder.master("local[2,4]").appName("discreet's tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    yield made
    made.stop()


@pytest.fixture
def to_spark(spark: SparkSession) -> Callable[..., Any]:
    """A table of this machine on Spark, in so many partitions."""

    def made(data: discreet.Microdata, partitions: int = 2) -> Any:
        frame = spark.createDataFrame(data.frame.to_arrow())
        if partitions <= 2:
            frame = frame.coalesce(partitions)
        else:
            frame = spark.createDataFrame(data.frame.with_columns(at=pl.int_range(len(data))).to_arrow()).repartitionByRange(
                partitions, "at"
            )
            frame = frame.sortWithinPartitions("at").drop("at")
        return discreet.read(frame, data.policy)

    return made


@pytest.fixture(params=["local", "spark"])
def read(request: pytest.FixtureRequest) -> Read:
    """Reads a table on one engine or the other."""
    if request.param == "local":
        return lambda data: data
    found: Read = request.getfixturevalue("to_spark")
    return found
