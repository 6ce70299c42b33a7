"""What runs on Spark, and what of it does not; made to be read without Spark.

A work is called as ``work(plugin, data, original)`` for a risk, ``work(plugin, data, columns, draw)`` for a masking method and
``work(plugin, original, masked)`` for a loss, with :class:`~discreet.engine.spark.microdata.SparkMicrodata` as tables.
"""

from __future__ import annotations

from typing import Any

from discreet.engine.engines import Gap, Work

_HERE = "discreet.engine.spark"
READER = f"{_HERE}.source:read_spark"


def claims(source: Any) -> bool:
    """Whether a source lies on Spark: an address, a frame of PySpark (classic or Connect), or what was read from one."""
    if isinstance(source, str):
        return source.startswith(("spark://", "sc://"))
    kinds = [(one.__module__, one.__name__) for one in type(source).__mro__]
    return any(
        (module.startswith("pyspark.sql") and name == "DataFrame") or (module.startswith(_HERE) and name == "SparkMicrodata")
        for module, name in kinds
    )


WILDCARD = Gap(
    "missing: wildcard where nulls occur",
    "a null that agrees with anything agrees with records on other machines",
)
LAYERS = Gap("original=", "coarse values that contain true ones are compared on one machine only")
NARROWING = Gap(
    "tolerance or decide",
    "intervals are narrowed by counting on one machine",
    lambda one: one.tolerance is not None or one.decide,
)
PATTERNS = Gap("nulls in more than 64 pairs of patterns", "each pair of patterns is a pass over the table")

MANY_VALUES = Gap("sensitive attributes of more than a million values", "their distribution is sent to every worker")
COARSE = Gap(
    "coarse cells beside another table",
    "intervals, groups and labels that contain values are compared on one machine only",
)
FUZZY = Gap(
    "tolerance, similarity, edits or errors",
    "only exact agreement is counted without comparing pairs",
    lambda one: bool(one.tolerance or one.similarity or one.edits or one.errors is not None),
)
SIMILAR = Gap("similarity", "only exact consistency is counted without comparing pairs", lambda one: one.similarity is not None)
RECORD_WEIGHTS = Gap("record_weights", "a weight a record is read on one machine", lambda one: one.record_weights is not None)

WORKS: dict[tuple[str, str], Work] = {
    ("risk", "decision"): Work(f"{_HERE}.decision:decision", (SIMILAR, RECORD_WEIGHTS, COARSE, PATTERNS)),
    ("risk", "k_anonymity"): Work(f"{_HERE}.classes:k_anonymity", (PATTERNS,)),
    ("risk", "known_sets"): Work(f"{_HERE}.known_risk:known_sets", (WILDCARD, LAYERS, NARROWING)),
    ("risk", "l_diversity"): Work(f"{_HERE}.diversity:l_diversity", (PATTERNS,)),
    ("risk", "repeated_records"): Work(f"{_HERE}.persons:repeated_records", (WILDCARD,)),
    ("risk", "t_closeness"): Work(f"{_HERE}.diversity:t_closeness", (PATTERNS, MANY_VALUES)),
    ("risk", "target_linkage"): Work(f"{_HERE}.linkage:target_linkage", (FUZZY, COARSE, PATTERNS)),
}
