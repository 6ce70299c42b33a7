"""What runs on Spark, and what of it does not; made to be read without Spark.

A work is called as ``work(plugin, data, original)`` for a risk, ``work(plugin, data, columns, draw)`` for a masking method and
``work(plugin, original, masked)`` for a loss, with :class:`~discreet.engine.spark.microdata.SparkMicrodata` as tables.
"""

from __future__ import annotations

from discreet.engine.engines import Gap, Work

_HERE = "discreet.engine.spark"

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

WORKS: dict[tuple[str, str], Work] = {
    ("risk", "k_anonymity"): Work(f"{_HERE}.classes:k_anonymity", (PATTERNS,)),
}
