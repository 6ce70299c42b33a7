"""Sentences on why a record is at risk: the known sets that contribute most to its risk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.encoding.record_links import require_original_rows
from discreet.engine.known_sets.family import Knowledge
from discreet.engine.known_sets.inputs import cells_agree, weights_of
from discreet.engine.known_sets.sums import Missing, attributes, family_of
from discreet.engine.known_sets.walk import walk_sets
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHOWN = 5


@dataclass(frozen=True)
class ContributingSet:
    """A known set that finds a record: what it contributes to the record's risk, and whom the record hides among."""

    risk: float
    known: tuple[str, ...]
    records: int
    """Records that share the values of the set, the record itself included."""
    probability: float
    learnt: Mapping[str, float]
    """Attributes that an intruder would learn, with the weight of each."""


def contributing_sets(
    data: Microdata,
    record: int,
    *,
    alpha: float,
    epsilon: float,
    max_sets: int,
    missing: Missing,
    original: Microdata | None,
    knowledge: Knowledge = "products",
) -> tuple[list[ContributingSet], int]:
    """The sets that find a record, those that contribute most first; and the number of sets in the family.

    None of a simulated record, because nobody can be re-identified by it.
    """
    names = [name for name in attributes(data) if original is None or name in original.columns]
    tree = family_of(data, names, epsilon, max_sets, knowledge)
    weights = _weights(data, names, record)
    row = record if original is None else int(require_original_rows(data, original, "known_sets")[record])
    if row < 0:
        return [], len(tree)
    agree = {level: cells_agree(data, names[tree.order[level]], record, row, missing, original) for level in range(tree.width)}
    parts: list[tuple[float, int, tuple[int, ...], int, float, dict[str, float]]] = []

    def add_set(node: int, above: NDArray[np.int64]) -> NDArray[np.int64] | None:
        matches = above[agree[int(tree.last[node])][above]] if node else above
        if not (matches == record).any():
            return None  # masking changed a value of this set, so neither it nor any larger set finds the record
        members = tree.members(node)
        learnt = {
            name: weight for position, (name, weight) in enumerate(weights.items()) if position not in members and weight > 0
        }
        if tree.chance[node] == 0:  # only a part of what is known together, or impossible
            return matches
        value = tree.chance[node] / len(matches) * alpha * sum(learnt.values())
        parts.append((value, -len(members), members, len(matches), float(tree.chance[node]), learnt))
        return matches

    walk_sets(tree.children, add_set(0, np.arange(len(data))), add_set)
    parts.sort(key=lambda part: (-part[0], -part[1], part[2]))
    sets = [
        ContributingSet(value, tuple(names[position] for position in members), count, chance, learnt)
        for value, _, members, count, chance, learnt in parts
    ]
    return sets, len(tree)


def explain(
    data: Microdata,
    record: int,
    *,
    alpha: float,
    epsilon: float,
    max_sets: int,
    missing: Missing,
    original: Microdata | None,
    knowledge: Knowledge = "products",
) -> list[str]:
    """Sentences on the sets that identify a record: probability known, records that share the values, what would be disclosed."""
    if original is not None and int(require_original_rows(data, original, "known_sets")[record]) < 0:
        return [f"record {record + 1:,} was simulated: nobody can be re-identified by it"]
    sets, family_size = contributing_sets(
        data, record, alpha=alpha, epsilon=epsilon, max_sets=max_sets, missing=missing, original=original, knowledge=knowledge
    )
    total = sum(part.risk for part in sets)
    reading = "" if knowledge == "products" else f", knowledge {knowledge}"
    family_text = f"{family_size:,} known sets (alpha {alpha:g}, epsilon {epsilon:g}{reading})"
    sentences = [f"record {record + 1:,} of {len(data):,}: risk {total:.6g} over {family_text}"]
    if total == 0:
        sentences.append("nothing sensitive would be learnt of it, so its risk is 0")
        return sentences
    for part in sets[:_SHOWN]:
        learnt_text = ", ".join(f"{name} ({weight:g})" for name, weight in part.learnt.items())
        knows = " + ".join(part.known) or "nothing"
        knows += "" if knowledge == "products" else " and nothing else" if part.known else ""
        sentences.append(
            f"{part.risk / total:.1%} of it: an intruder who knows {knows} (probability {part.probability:.4g}) finds "
            f"{'it alone' if part.records == 1 else f'{part.records:,} records that share these values'}, "
            f"and would learn {learnt_text}"
        )
    if len(sets) > _SHOWN:
        sentences.append(f"{sum(part.risk for part in sets[_SHOWN:]) / total:.1%} of it: {len(sets) - _SHOWN:,} further sets")
    return sentences


def _weights(data: Microdata, names: list[str], record: int) -> dict[str, float]:
    """W(A) W(value) of one record, by attribute (Orooji & Knapp (2018a), eq. 4)."""
    weights = weights_of(data, names)
    columns = data.cache["columns"]
    return {name: float(weights[name][columns[name].codes[record]]) if name in weights else 0.0 for name in names}
