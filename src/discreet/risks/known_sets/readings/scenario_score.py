"""Scenarios of what is known, measured side by side; every field of the summary is that of its worst scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.known_sets.sums import attributes, family_of
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.knowledge import AS_ATTRIBUTES
from discreet.model.microdata import Microdata
from discreet.model.notes import Note, public_text
from discreet.model.policy import Policy
from discreet.model.score import Score
from discreet.risks.known_sets.fields import BETTER

if TYPE_CHECKING:
    from discreet.risks.known_sets.measure import KnownSets

_COMPARED = ("high_risk", "mean", "max", "effective_k_min")


def takes_part(policy: Policy) -> bool:
    """Whether some attribute of a policy is known with some probability, or sensitive."""
    named = [attribute for attribute in policy.attributes.values() if attribute.role not in (Role.IDENTIFIER, Role.PERSON)]
    return any(attribute.known > 0 or attribute.sensitivity > 0 for attribute in named)


def attributes_in_scenarios(data: Microdata) -> list[str]:
    """The attributes that take part in any scenario, in the table's order."""
    if not data.policy.scenarios:
        return attributes(data)
    names = {name for table in _tables(data).values() for name in attributes(table)}
    return [name for name in data.columns if name in names]


def attributes_in_kept_sets(plugin: KnownSets, data: Microdata) -> list[str]:
    """The attributes in kept sets or with something to learn, in any scenario, in the table's order.

    An attribute known with a probability of at most epsilon is in no set that is kept, so only learning it counts.
    """
    names: dict[str, None] = {}
    for policy in data.policy.in_scenarios().values():
        if not takes_part(policy):
            continue
        in_scenario = data if policy is data.policy else data.with_policy(policy)
        named = attributes(in_scenario)
        if plugin.knowledge == "independent":
            tree = family_of(in_scenario, named, plugin.epsilon, plugin.max_sets, plugin.knowledge)
            kept = {named[at] for at in tree.order[: tree.width]}
        else:
            kept = {name for name in named if in_scenario.attribute(name).known > plugin.epsilon}
        names |= dict.fromkeys(name for name in named if name in kept or in_scenario.attribute(name).sensitivity > 0)
    return [name for name in data.columns if name in names]


def _tables(data: Microdata) -> dict[str, Microdata]:
    """The table under each scenario in which something is known or sensitive."""
    policies = data.policy.in_scenarios()
    tables = {name: data.with_policy(policy) for name, policy in policies.items() if takes_part(policy)}
    if not tables:
        raise DataError(f"known_sets needs at least one attribute of {data.source} with known > 0 or a sensitivity")
    return tables


def measure_scenarios(plugin: KnownSets, data: Microdata, original: Microdata | None) -> Score:
    """The scores of all scenarios as one: every number with a direction is the worst of all, the rest the worst scenario's."""
    tables = _tables(data)
    scores = {name: plugin.measure(table, original=original) for name, table in tables.items()}
    worst = max(scores, key=lambda name: (scores[name]["high_risk"], scores[name]["mean"]))
    summary, bounds = dict(scores[worst].summary), dict(scores[worst].bounds)
    for field, direction in BETTER.items():
        values = {name: value for name, score in scores.items() if isinstance(value := score.summary.get(field), int | float)}
        if values:
            pick = max if direction == "low" else min
            summary[field] = pick(values.values())
            ends = [score.bounds.get(field, (values[name], values[name])) for name, score in scores.items() if name in values]
            if any(field in score.bounds for score in scores.values()):
                bounds[field] = pick(end[0] for end in ends), pick(end[1] for end in ends)
    summary["worst_scenario"] = {worst: scores[worst]["high_risk"]}
    for field in _COMPARED:
        summary[f"{field}_by_scenario"] = {name: score[field] for name, score in scores.items()}
    compared = "; ".join(f"{name} {score['high_risk']:,} (mean {score['mean']:,.4g})" for name, score in scores.items())
    public = f"{len(scores)} scenarios were measured; the worst is {worst}"
    note = Note(
        f"{len(scores)} scenarios were measured, and every number is that of its worst; most high-risk records are in the "
        f"scenario {worst}: {compared}; {AS_ATTRIBUTES} is the attribute table as it is",
        f"{public}, and limits are judged on the worst",
    )
    return Score(
        plugin.name,
        summary,
        lambda: _records(scores, worst),
        notes=(note, *_notes(scores, worst)),
        riskiest=scores[worst].riskiest,
        bounds=bounds,
    )


def _notes(scores: Mapping[str, Score], worst: str) -> list[str]:
    """The notes of the worst scenario, then those of the others that it does not have, with the scenario's name before them."""
    others = [(name, text) for name, score in scores.items() for text in score.notes if text not in scores[worst].notes]
    named = [Note(f"{name}: {text}", f"{name}: {public}" if (public := public_text(text)) else "") for name, text in others]
    return [*scores[worst].notes, *named]


def _records(scores: Mapping[str, Score], worst: str) -> pl.DataFrame:
    """The rows of the worst scenario, with each record's largest risk in any scenario, and in which."""
    frames = {name: score.per_record for name, score in scores.items()}
    risks = np.array([frame["risk"].to_numpy() for frame in frames.values() if frame is not None])
    names = pl.Series("scenario", list(frames), dtype=pl.String)
    own = frames[worst]
    assert own is not None
    place = risks.argmax(axis=0)
    return own.with_columns(pl.Series("scenario_risk", risks.max(axis=0)), names.gather(pl.Series(place, dtype=pl.UInt32)))


def explain_in_worst(plugin: KnownSets, data: Microdata, record: int, original: Microdata | None) -> list[str]:
    """Why a record is at risk in the scenario in which its risk is largest."""
    tables = _tables(data)
    risks: dict[str, Any] = {}
    for name, table in tables.items():
        rows = plugin.measure(table, original=original).per_record
        risks[name] = 0.0 if rows is None else rows["risk"][record]
    worst = max(risks, key=risks.__getitem__)
    return [
        f"of {len(risks)} scenarios {worst} is the worst for this record",
        *plugin.explain(tables[worst], record, original=original),
    ]
