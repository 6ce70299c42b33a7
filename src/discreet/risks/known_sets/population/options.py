"""What a population run of known_sets rests on: who is counted, and how class sizes of the population are obtained."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.classes.groups import class_sizes
from discreet.engine.encoding.columns import encode
from discreet.engine.encoding.policy_tables import load_table
from discreet.engine.encoding.shared_codes import encode_shared
from discreet.engine.known_sets.family import Family
from discreet.engine.population.population_table import refuse_strangers, require_comparable_columns
from discreet.engine.statistics.normal import normal_quantile
from discreet.engine.statistics.sampling_design import record_weights, sampling_fraction
from discreet.errors import DataError
from discreet.model.microdata import Microdata
from discreet.risks.known_sets.population.class_sizes import CountedSizes, ModelledSizes, WeightedSizes
from discreet.risks.known_sets.population.class_walk import CountedTable

if TYPE_CHECKING:
    from discreet.risks.known_sets.measure import KnownSets


def build_table(plugin: KnownSets, data: Microdata, names: list[str], tree: Family) -> tuple[CountedTable, float]:
    """Who is counted, with how their class sizes are obtained, and the sampling fraction."""
    known = tree.known_names(names)
    if plugin.missing == "wildcard" and any(column.has_null for column in encode(data, known)):
        raise DataError(
            f"known_sets: population: {plugin.population} compares nulls as one more value; use missing: category, because class "
            "sizes of the population are not estimated where a null agrees with anything"
        )
    if plugin.population == "table":
        return _counted(plugin, data, known, tree)
    columns = encode(data, known)
    codes, cardinalities = [column.codes for column in columns], [column.cardinality for column in columns]
    deviations = float(normal_quantile((1 + plugin.confidence) / 2))
    if plugin.population == "weights":
        weights = record_weights(data, plugin.name)
        if weights is None:
            raise DataError(
                f"known_sets: population: weights needs the sampling weights of {data.source}: give an attribute the role "
                "weight, or the policy a section sampling"
            )
        persons = float(weights.sum())
        fraction = len(weights) / persons if len(weights) else 1.0
        return CountedTable(len(data), codes, cardinalities, weights, WeightedSizes(persons, fraction, deviations)), fraction
    fraction_given = sampling_fraction(data, plugin.name, plugin.sampling_fraction, plugin.size)
    if fraction_given is None:
        raise DataError(
            f"known_sets: population: model needs to know what share of the population {data.source} is: give sampling_fraction "
            "or size, the policy a section sampling, or an attribute the role weight"
        )
    sizes = ModelledSizes(max(len(data) / fraction_given, 1.0), fraction_given, deviations)
    return CountedTable(len(data), codes, cardinalities, None, sizes), fraction_given


def _counted(plugin: KnownSets, data: Microdata, known: list[str], tree: Family) -> tuple[CountedTable, float]:
    """The records above the persons of the population table, over shared codes.

    Attributes that are in no kept set may be missing in the population. What sets with them could add is then bounded by the
    classes of the sample, which are never larger than those of the population.
    """
    if plugin.population_table is None:
        raise DataError("known_sets: population: table needs population_table: a file or table of the population")
    frame = load_table(plugin.population_table, data.policy)
    compared = known[: tree.width]
    require_comparable_columns(data, frame, compared, plugin.name)
    least = None
    if any(name not in frame.columns or name in data.cells for name in known):
        least = class_sizes(encode(data, known), len(data))
    else:
        compared = known
    shared = encode_shared(data.frame, frame, [(name, name) for name in compared])
    codes = [np.concatenate((column.left, column.right)) for column in shared]
    sizes = CountedSizes(float(max(frame.height, 1)))
    table = CountedTable(len(data), codes, [column.cardinality for column in shared], None, sizes, frame.height, least)
    of, first = table.distinct_rows(range(len(compared)))
    refuse_strangers(data, compared, table.count_rows(of, len(first))[1][of[: len(data)]], plugin.name)
    return table, len(data) / max(frame.height, 1)
