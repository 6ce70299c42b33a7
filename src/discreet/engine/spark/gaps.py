"""Gaps on Spark that several plug-ins share; those of a single plug-in are declared beside its class.

Importable without pyspark, because plug-in classes name these gaps.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from discreet.model.engine_work import Gap

if TYPE_CHECKING:
    from discreet.engine.spark.microdata import SparkMicrodata

MOST_STRATA = 10_000
MOST_CLASSES = 5_000_000

WILDCARD = Gap(
    "missing: wildcard where nulls occur",
    "a null that agrees with anything agrees with records on other machines",
)
PATTERNS = Gap("nulls in more than 64 pairs of patterns", "each pair of patterns is a pass over the table")
COARSE = Gap(
    "coarse cells beside another table",
    "intervals, groups and labels that contain values are compared on one machine only",
)
OVERLAPPING = Gap("coarse cells that overlap", "a cell that agrees with several others agrees with records on other machines")
SCENARIOS = Gap("scenarios in the policy", "scenarios of known probabilities are compared on one machine")
MANY_STRATA = Gap(f"more than {MOST_STRATA:,} strata", "their sizes are sent to every worker")
MANY_CATEGORIES = Gap(
    "columns of more than a million values",
    "the replacement of each value is sent to every worker",
)
COLLECTED = Gap(
    "tables whose keys do not fit on one machine",
    "a population's classes are estimated or compared for all equivalence classes at once",
)
MANY_CLASSES = Gap(
    f"more than {MOST_CLASSES:,} equivalence classes",
    "the different combinations of all keys are searched on one machine",
)
QUANTILES = Gap("hierarchies of quantiles", "their bounds are computed from all records, on one machine")


def refuse_quantile_hierarchies(plugin: Any, data: SparkMicrodata, names: Iterable[str]) -> None:
    """Raise DataError where one of these attributes has a hierarchy of quantiles."""
    for name in names:
        spec = data.attribute(name).hierarchy
        if spec is not None and spec.quantiles:
            QUANTILES.refuse(plugin, data.engine)
