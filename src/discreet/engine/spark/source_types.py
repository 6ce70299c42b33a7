"""Which sources are read on Spark; decided without importing Spark."""

from __future__ import annotations

from typing import Any

READER = "discreet.engine.spark.source:read_spark"
SCHEMES = ("spark", "sc")


def is_address(source: Any) -> bool:
    """Whether a source is the address of a table on Spark."""
    return isinstance(source, str) and source.startswith(tuple(f"{scheme}://" for scheme in SCHEMES))


def is_frame(source: Any) -> bool:
    """Whether a source is a Spark frame, classic or of Spark Connect."""
    return _has_ancestor(source, "pyspark.sql", "DataFrame")


def is_engine_source(source: Any) -> bool:
    """Whether a source lies on Spark: an address, a Spark frame, or a table that was read from one."""
    return is_address(source) or is_frame(source) or _has_ancestor(source, "discreet.engine.spark", "SparkMicrodata")


def _has_ancestor(source: Any, package: str, name: str) -> bool:
    return any(kind.__module__.startswith(package) and kind.__name__ == name for kind in type(source).__mro__)
