"""The score of known_sets for the population: two kinds of uncertainty, shown apart and judged together."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.encoding.columns import encode
from discreet.engine.known_sets.effective_size import Sizes, effective_sizes
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.inputs import build_queries, find_sensitive_records, single_pattern, weights_of
from discreet.engine.known_sets.queries import Queries
from discreet.engine.known_sets.summary import QUANTILES, Summary, median_size, quantiles
from discreet.engine.known_sets.sums import attributes, family_of
from discreet.engine.statistics.normal import normal_quantile
from discreet.errors import DataError
from discreet.model.microdata import Microdata
from discreet.model.notes import Note, public_text
from discreet.model.score import Score
from discreet.risks.known_sets.population.class_walk import CountedTable, SetClasses, Visit, walk_classes
from discreet.risks.known_sets.population.options import build_table
from discreet.risks.known_sets.population.sums import HIGH, LOW, VALUE, PopulationSums, find_top_sets, sum_population

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.risks.known_sets.measure import KnownSets

_BASIS = {
    "table": "class sizes are counted in the population table: exact",
    "weights": "class sizes rest on the sampling weights (Benedetti & Franconi); the interval also holds the model's",
    "model": "class sizes of the population are estimated by a model",
}

_INTERVAL_ENDS = ("mean_low", "mean_high", "all_sets_low", "all_sets_high")
_NOT_OF_THE_POPULATION = ("sets", "undecided", "widest", "quantiles", "histogram", *_INTERVAL_ENDS)
"""Fields that the report does not list: descriptions of the run, and ends of intervals that stand beside their field."""


@dataclass(frozen=True)
class _Run:
    """One measurement: who asks, who is counted, and the sums."""

    plugin: KnownSets
    data: Microdata
    names: list[str]
    tree: Family
    table: CountedTable
    slots: NDArray[np.int64]
    queries: Queries

    def sums(self) -> PopulationSums:
        return sum_population(self.table, self.tree, self.queries, self.slots)

    def sizes(self, sums: PopulationSums) -> Sizes:
        """Effective class sizes at the estimate, with bounds that hold both kinds of uncertainty."""
        return effective_sizes(
            sums.kept[VALUE], sums.lower[LOW], sums.upper[HIGH], self.queries.weight, sums.kept_mass, sums.whole_mass,
            round(self.table.sizes.persons),
        )  # fmt: skip

    def set_name(self, node: int) -> str:
        return "+".join(self.names[at] for at in self.tree.members(node))


def measure_population(plugin: KnownSets, data: Microdata, original: Microdata | None) -> Score:
    """The score with E(1/F) in place of 1/f; bounds of fields hold both what epsilon left out and the statistical error."""
    _refuse_other_guesses(plugin, data, original)
    run, fraction = _start(plugin, data, None)
    sums, alpha, records = run.sums(), plugin.alpha, len(data)
    sizes = run.sizes(sums)
    summary = Summary(plugin.threshold)
    summary.add(sums.kept[VALUE] * alpha, sums.lower[LOW] * alpha, sums.upper[HIGH] * alpha, sizes)
    some = sizes.part(sizes.defined)
    middle, least, most = (median_size(one) for one in (some.value, some.lower, some.upper))
    risk = sums.kept[VALUE] * alpha
    fields = summary.fields(len(run.tree), records, quantiles(risk, records, QUANTILES), middle)
    bounds = summary.bounds(records, middle, None if least is None or most is None else (least, most))
    means = [side.sum(axis=1) * alpha / max(records, 1) for side in (sums.kept, sums.lower, sums.upper)]
    chance = sums.chance * alpha / max(records, 1) * float(normal_quantile((1 + plugin.confidence) / 2))
    down, up = means[0][VALUE] - means[0][LOW], means[0][HIGH] - means[0][VALUE]
    fields |= {
        "mean_low": min(max(float(means[0][VALUE] - hypot(down, chance)), 0.0), fields["mean"]),
        "mean_high": max(float(means[0][VALUE] + hypot(up, chance)), fields["mean"]),
        "all_sets_low": float(means[1][VALUE]),
        "all_sets_high": float(means[2][VALUE]),
    }
    low, high = bounds["mean"]
    bounds["mean"] = float(max(low - (hypot(down, chance) - down), 0.0)), float(high + (hypot(up, chance) - up))
    level = "" if run.table.sizes.exact else f"; level of the interval {plugin.confidence:.0%}"
    persons = f"{round(run.table.sizes.persons):,} persons, sampling fraction {fraction:.3g}"
    # the fraction is the data controller's to publish
    note = Note(f"{_BASIS[plugin.population]}; {persons}{level}", f"{_BASIS[plugin.population]}{level}")
    further = () if run.table.sizes.exact else (
        "the risk of a single record is its expected value given the size of its classes in the sample; its 1/F may be up to 1/f",
    )  # fmt: skip
    return Score(
        plugin.name,
        fields,
        lambda: _records(plugin, data),
        notes=(note, *further, *map(_as_estimated, summary.notes(records, bounds))),
        riskiest=lambda number: _riskiest(plugin, data, risk, run.slots, number),
        bounds=bounds,
        basis=dict.fromkeys((name for name in fields if name not in _NOT_OF_THE_POPULATION), note),
    )


def _refuse_other_guesses(plugin: KnownSets, data: Microdata, original: Microdata | None) -> None:
    """Raise where the release would not be measured alone, or with more than one number for a guess."""
    if original is not None:
        raise DataError(
            f"known_sets: population: {plugin.population} measures the release alone; an intruder who knows the original "
            "values is measured with population: none"
        )
    if any(data.attribute(name).ranges for name in attributes(data)):
        raise DataError(
            f"known_sets: population: {plugin.population} takes one number for each guess, but the policy has ranges; give "
            "the upper ends, or measure with population: none"
        )
    if data.policy.scenarios:
        raise DataError(
            f"known_sets: population: {plugin.population} takes one number for each guess, but the policy has scenarios; give "
            "each its own policy, or measure with population: none"
        )


def _as_estimated(note: str) -> str:
    """A note of the summary where its bounds hold the statistical error too, and nothing can be narrowed."""
    text = note.replace("; decide: true narrows this", "")
    text = text.replace("over all known sets", "over all known sets and within the interval of the class sizes")
    public = public_text(note)
    return text if public == note else Note(text, public)


def _start(plugin: KnownSets, data: Microdata, slots: NDArray[np.int64] | None) -> tuple[_Run, float]:
    """The run for these records; default: those with something to learn."""
    names = attributes(data)
    tree = family_of(data, names, plugin.epsilon, plugin.max_sets)
    if slots is None:
        slots = np.flatnonzero(find_sensitive_records(data, weights_of(data, names)))
    table, fraction = build_table(plugin, data, names, tree)
    pattern, patterns = single_pattern(len(slots))
    queries = build_queries(data, tree, names, slots, pattern, patterns)
    return _Run(plugin, data, names, tree, table, slots, queries), fraction


def _records(plugin: KnownSets, data: Microdata) -> pl.DataFrame:
    """One row per record."""
    run, _ = _start(plugin, data, np.arange(len(data)))
    sums, alpha = run.sums(), plugin.alpha
    top = find_top_sets(run.table, run.tree, run.queries, run.slots)
    sizes = run.sizes(sums)
    risk = sums.kept[VALUE] * alpha
    names = pl.Series("top_set", [run.set_name(node) for node in range(len(run.tree))], dtype=pl.String)
    share = np.divide(top.part * alpha, risk, out=np.zeros_like(risk), where=risk > 0)
    return pl.DataFrame(
        {
            "risk": risk,
            "lower": sums.lower[LOW] * alpha,
            "upper": sums.upper[HIGH] * alpha,
            "effective_k": pl.Series(sizes.value).fill_nan(None),
            "effective_k_lower": pl.Series(sizes.lower).fill_nan(None),
            "effective_k_upper": pl.Series(sizes.upper).fill_nan(None),
            "top_set": names[np.where(top.part > 0, top.node, 0)],
            "top_share": share,
            "likelihood": top.likelihood,
            "consequence": run.queries.weight,
            "risk_low": sums.kept[LOW] * alpha,
            "risk_high": sums.kept[HIGH] * alpha,
        }
    )


def _riskiest(
    plugin: KnownSets, data: Microdata, risk: NDArray[np.float64], slots: NDArray[np.int64], number: int
) -> pl.DataFrame:
    """The records with the largest risk, and the set that contributes most to each."""
    order = np.lexsort((slots, -risk))[:number]
    order = order[risk[order] > 0]
    run, _ = _start(plugin, data, slots[order])
    top = find_top_sets(run.table, run.tree, run.queries, run.slots)
    return pl.DataFrame(
        {
            "record": slots[order],
            "risk": risk[order],
            "top_set": pl.Series([run.set_name(int(node)) for node in top.node], dtype=pl.String),
            "top_share": top.part * plugin.alpha / risk[order],
        }
    )


def explain_population(plugin: KnownSets, data: Microdata, record: int) -> list[str]:
    """Sentences on the sets that contribute most to a record's risk, with its classes in the sample and in the population."""
    run, _ = _start(plugin, data, np.array([record]))
    weights = {name: float(own[0]) for name, own in _weights(run).items()}
    parts: list[tuple[float, int, int, float]] = []

    def learnt_beside(node: int) -> dict[str, float]:
        members = {run.names[at] for at in run.tree.members(node)}
        return {name: weight for name, weight in weights.items() if weight > 0 and name not in members}

    def begin(of: NDArray[np.int64], _number: int) -> Visit:
        def add(found: SetClasses) -> None:
            place = found.ids[of[record]]
            inverse = float(found.inverse.value[place])
            value = run.tree.chance[found.node] * inverse * plugin.alpha * sum(learnt_beside(found.node).values())
            parts.append((value, found.node, int(found.sizes[place]), inverse))

        return add

    walk_classes(run.table, run.tree, begin)
    alone = 1 / run.table.sizes.persons
    parts.append((alone * plugin.alpha * sum(weights.values()), 0, len(data), alone))
    total = sum(part[0] for part in parts)
    family_text = f"{len(run.tree):,} known sets (alpha {plugin.alpha:g}, epsilon {plugin.epsilon:g})"
    sentences = [f"record {record + 1:,} of {len(data):,}: risk {total:.6g} in the population over {family_text}"]
    if total == 0:
        return [*sentences, "nothing sensitive would be learnt of it, so its risk is 0"]
    for value, node, size, inverse in sorted(parts, key=lambda part: (-part[0], run.tree.rank[part[1]]))[:5]:
        learnt = ", ".join(f"{name} ({weight:g})" for name, weight in learnt_beside(node).items())
        knows = run.set_name(node).replace("+", " + ") or "nothing"
        shared = f"{size:,} {'record' if size == 1 else 'records'} of the sample share these values"
        sentences.append(
            f"{value / total:.1%} of it: an intruder who knows {knows} (probability {run.tree.chance[node]:.4g}) is right with "
            f"probability {inverse:.3g} ({shared}), and would learn {learnt}"
        )
    return sentences


def _weights(run: _Run) -> dict[str, NDArray[np.float64]]:
    weights = weights_of(run.data, run.names)
    return {column.name: weights[column.name][column.codes[run.slots]] for column in encode(run.data, weights)}
