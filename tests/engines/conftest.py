"""One Spark session on this machine for all tests of the engines: two threads, tasks that may fail, few partitions."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import discreet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Read = Callable[..., Any]
# Spark makes one partition of each Arrow batch of a table that is too large for the driver: contiguous rows, without a shuffle
_MAX_LOCAL_BYTES = "spark.sql.execution.arrow.localRelationThreshold"
_EXPRESSIONS = "spark.sql.codegen.factoryMode"
_ROWS_PER_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"


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
        "spark.executorEnv.PYTHONPATH": os.environ["SPARK_CONF_DIR"],
        # no Java is written for whole plans of a few rows; single expressions still need it, as the catalog's tables do
        "spark.sql.codegen.wholeStage": "false",
    }
    builder = SparkSession.builder.master("local[2,4]").appName("discreet's tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def interpreting_spark(spark: SparkSession) -> Iterator[SparkSession]:
    """The same session, which interprets expressions meanwhile.

    Writing and compiling Java for each of them was a fifth of the time of Spark. The lists of a catalog, which tests with the
    plain session read, cannot be interpreted.
    """
    spark.conf.set(_EXPRESSIONS, "NO_CODEGEN")
    yield spark
    spark.conf.unset(_EXPRESSIONS)


@pytest.fixture
def to_spark(interpreting_spark: SparkSession) -> Callable[..., Any]:
    """Put a table of this machine on Spark, in so many partitions."""
    spark = interpreting_spark

    def distribute(data: discreet.Microdata, partitions: int = 2) -> Any:
        batches = {_MAX_LOCAL_BYTES: "0", _ROWS_PER_BATCH: str(max(1, -(-len(data) // partitions)))} if partitions > 2 else {}
        for name, value in batches.items():
            spark.conf.set(name, value)
        try:
            frame = spark.createDataFrame(data.frame.to_arrow())
        finally:
            for name in batches:
                spark.conf.unset(name)
        return discreet.read(frame if partitions > 1 else frame.coalesce(1), data.policy)

    return distribute


@pytest.fixture(params=["local", "spark"])
def read(request: pytest.FixtureRequest) -> Read:
    """Reads a table on one engine or the other."""
    if request.param == "local":
        return lambda data: data
    to_spark: Read = request.getfixturevalue("to_spark")
    return to_spark
