"""Why no plan meets a limit on known_sets, with numbers: what remains if as much as possible were masked."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from discreet.assessment.verdicts import limits_of
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.selection.evaluation.evaluator import Evaluator
from discreet.selection.steps.targeted import required_effective_size

_SECONDS_TO_NARROW = 5.0
"""Seconds for narrowing the effective class sizes of a table without keys."""


def explain_unreachable_threshold(evaluate: Evaluator, unmet: Collection[str]) -> list[str]:
    """A sentence, with numbers, if no masking of the known attributes can meet an unmet limit on high-risk records.

    The lower bound of the risk is measured on a table whose known attributes are all blank, so that all records agree on them.
    """
    if "known_sets.high_risk" not in unmet and "known_sets.high_risk_share" not in unmet:
        return []
    data, measure = evaluate.data, evaluate.risks["known_sets"]
    if data.policy.known_together or getattr(measure, "knowledge", "products") != "products":
        return []  # the risk does not rise in every probability, so that what follows would be no lower bound
    known = [name for name in data.columns if data.attribute(name).known > 0 and not data.attribute(name).sensitivity]
    # sensitive attributes count as known to nobody, so that this is a lower bound of the risk
    attributes = {
        name: attribute.model_copy(update={"known": 0.0}) if attribute.sensitivity else attribute
        for name, attribute in data.policy.attributes.items()
    }
    least = measure.measure(_blank(data, known).with_policy(data.policy.with_(attributes=attributes, scenarios={}))).summary
    if not least["high_risk"]:
        return []
    return [
        (
            f"The threshold is out of reach for {least['high_risk']:,} of {len(data):,} records: even if all records agreed on "
            f"every known attribute, the largest risk would be {least['max']:.4g}. "
            "A larger threshold, or suppressed sensitive values, can help."
        )
    ]


def explain_undecided_sizes(evaluate: Evaluator, unmet: Collection[str]) -> list[str]:
    """A sentence if attributes beside the keys leave an unmet limit on effective class sizes open, whatever happens to the keys.

    The smallest effective class size is narrowed, as for a verdict, on a table whose keys are all blank.
    """
    size = required_effective_size(evaluate.data.policy)
    if size is None or not any(limit.startswith("known_sets.") for limit in unmet):
        return []
    data = evaluate.data
    measure = evaluate.risks["known_sets"].for_limits(limits_of("known_sets", data.policy), seconds=_SECONDS_TO_NARROW)
    beside = [name for name in data.columns if data.attribute(name).known > 0 and data.attribute(name).role is not Role.KEY]
    least = measure.measure(_blank(data, data.named(Role.KEY)))
    smallest, largest = least.bounds.get("effective_k_min", (size, size))
    if smallest >= size or not beside:
        return []
    likeliest = max(float(data.attribute(name).known) for name in beside)
    what = (
        f"the smallest effective class size would be at most {largest:.3g}"
        if largest < size
        else f"effective class sizes down to {smallest:.3g} could not be excluded within {_SECONDS_TO_NARROW:g} seconds"
    )
    return [
        (
            f"Even if every key were blank, {what}, where {size:g} is required: an intruder may know {len(beside):,} attributes "
            f"beside the keys, each with a probability of at most {likeliest:g}, and together they count. Give known: 0 to those "
            "that nobody can know, or the role key to those that the plan may mask."
        )
    ]


def _blank(data: Microdata, names: Sequence[str]) -> Microdata:
    return data.with_columns({name: pl.repeat(None, len(data), dtype=data.frame.schema[name], eager=True) for name in names})
