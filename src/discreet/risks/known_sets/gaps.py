"""What known_sets measures on one machine only; Spark says so in these words."""

from __future__ import annotations

from discreet.model.engine_work import Gap

ORIGINAL_VALUES = Gap("original=", "coarse cells that contain original values are compared on one machine only")
RANGES = Gap("ranges in the policy", "best and worst cases are compared record by record on one machine only")
NARROWING = Gap(
    "tolerance or decide",
    "intervals are narrowed by counting on one machine",
    lambda plugin: plugin.tolerance is not None or plugin.decide,
)
INDEPENDENT = Gap(
    "knowledge: independent",
    "the probability of being found is counted for every record on one machine",
    lambda plugin: plugin.knowledge != "products",
)
TOGETHER = Gap("known_together in the policy", "units of several attributes are counted on one machine")
POPULATION = Gap(
    "population",
    "class sizes of the population are estimated from all classes of each set on one machine",
    lambda plugin: plugin.population != "none",
)
