"""What runs on Spark, and what of it does not; made to be read without Spark.

A work is called as ``work(plugin, data, original)`` for a risk, ``work(plugin, data, columns, draw)`` for a masking method and
``work(plugin, original, masked)`` for a loss, with :class:`~discreet.engine.spark.microdata.SparkMicrodata` as tables.
"""

from __future__ import annotations

from typing import Any

from discreet.engine.runtime.dispatch import Gap, Work

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
OVERLAPPING = Gap("coarse cells that overlap", "a cell that agrees with several others agrees with records on other machines")
FUZZY = Gap(
    "tolerance, similarity, edits or errors",
    "only exact agreement is counted without comparing pairs",
    lambda one: bool(one.tolerance or one.similarity or one.edits or one.errors is not None),
)
SIMILAR = Gap("similarity", "only exact consistency is counted without comparing pairs", lambda one: one.similarity is not None)
RECORD_WEIGHTS = Gap("record_weights", "a weight a record is read on one machine", lambda one: one.record_weights is not None)

MOST_STRATA = 10_000
MANY_STRATA = Gap("more than 10,000 strata", "their sizes are sent to every worker")
MANY_CATEGORIES = Gap("groups or levels of more than a million values", "what each becomes is sent to every worker")
QUANTILES = Gap("hierarchies of quantiles", "their bounds are those of all records of a finished table on one machine")
CONTROLLED = Gap("how: controlled", "its running sum goes through all records one by one", lambda one: one.how == "controlled")
MOST_COUNTS = 1 << 29
MANY_ABOVE = Gap(
    "more than 500 million known sets times records above the threshold", "what blanks bring them is weighed by one machine"
)
WEIGHTED = Gap("survey weights", "weighted quantiles need all records in their order")
MANY_COARSE = Gap(
    "categories, groups or hierarchies of attributes with more than a million values", "how many there are is told by all of them"
)
MOST_CLASSES = 5_000_000
MANY_CLASSES = Gap("more than 5 million combinations of values", "they are searched on one machine")
PARTITION = Gap(
    "algorithm: partition", "its cuts are made on one machine, one after the other", lambda one: one.algorithm == "partition"
)
PARTNERS = Gap(
    "how: rank or targeted, or how: random without strata",
    "partners are looked for among all records",
    lambda one: one.how != "random" or not one.strata,
)

WORKS: dict[tuple[str, str], Work] = {
    ("loss", "integrity"): Work("discreet.losses.integrity.spark:integrity", (WEIGHTED,)),
    ("loss", "ncp"): Work("discreet.losses.ncp.spark:ncp", (QUANTILES, MANY_COARSE)),
    ("masking", "generalization"): Work(
        "discreet.masking.generalization.spark:generalization", (PARTITION, QUANTILES, MANY_CLASSES)
    ),
    ("masking", "global_recoding"): Work(f"{_HERE}.cells:global_recoding", (QUANTILES, MANY_CATEGORIES)),
    ("masking", "noise"): Work(f"{_HERE}.spread:noise"),
    ("masking", "pram"): Work(f"{_HERE}.categories:pram", (MANY_STRATA,)),
    ("masking", "pseudonymization"): Work(f"{_HERE}.cells:pseudonymization"),
    ("masking", "remove_identifiers"): Work(f"{_HERE}.cells:remove_identifiers"),
    ("masking", "rounding"): Work(f"{_HERE}.cells:rounding", (CONTROLLED,)),
    ("masking", "sampling"): Work(f"{_HERE}.strata:sampling", (MANY_STRATA,)),
    ("masking", "swapping"): Work("discreet.masking.swapping.spark:swapping", (PARTNERS,)),
    ("masking", "targeted_suppression"): Work(
        "discreet.masking.targeted_suppression.spark:targeted_suppression", (WILDCARD, MANY_ABOVE, OVERLAPPING)
    ),
    ("masking", "top_bottom_coding"): Work(f"{_HERE}.spread:top_bottom_coding"),
    ("risk", "decision"): Work("discreet.risks.decision.spark:decision", (SIMILAR, RECORD_WEIGHTS, COARSE, PATTERNS)),
    ("risk", "k_anonymity"): Work("discreet.risks.k_anonymity.spark:k_anonymity", (PATTERNS,)),
    ("risk", "known_sets"): Work("discreet.risks.known_sets.spark:known_sets", (WILDCARD, LAYERS, NARROWING, OVERLAPPING)),
    ("risk", "l_diversity"): Work(f"{_HERE}.diversity:l_diversity", (PATTERNS,)),
    ("risk", "repeated_records"): Work("discreet.risks.repeated_records.spark:repeated_records", (WILDCARD,)),
    ("risk", "t_closeness"): Work(f"{_HERE}.diversity:t_closeness", (PATTERNS, MANY_VALUES)),
    ("risk", "target_linkage"): Work("discreet.risks.target_linkage.spark:target_linkage", (FUZZY, COARSE, PATTERNS)),
}
