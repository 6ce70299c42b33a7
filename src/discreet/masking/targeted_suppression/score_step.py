"""A step that targets special uniques: its parameters, the table that it masks, and what later steps broke."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.encoding.columns import encode
from discreet.engine.special_uniques.scores import weigh_sizes
from discreet.engine.special_uniques.walk import check_search
from discreet.errors import DataError
from discreet.masking.targeted_suppression.by_score import ScoreRule, score_rows, suppress_special_uniques
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from discreet.engine.targeting.rule import TargetingOutcome
    from discreet.masking.targeted_suppression.method import TargetedSuppression

_KNOWN_SETS_ONLY = ("alpha", "epsilon", "choice", "side", "max_sets")
_SPECIAL_UNIQUES_ONLY = ("keys", "max_size", "scores")


def check_parameters(step: TargetedSuppression) -> None:
    """Raise ValueError where a parameter belongs to the other risk."""
    by_score = step.risk == "special_uniques"
    fields = type(step).model_fields
    for name in _KNOWN_SETS_ONLY if by_score else _SPECIAL_UNIQUES_ONLY:
        if getattr(step, name) != fields[name].default:
            label = fields[name].alias or name
            raise ValueError(f"{label} does not apply to risk: {step.risk}; leave it out, or change risk")
    if by_score and not isinstance(step.threshold, float | int):
        raise ValueError("risk: special_uniques needs a threshold that is a score, not {among: …}")
    if not by_score and step.missing == "ignore":
        raise ValueError("missing: ignore needs risk: special_uniques; known_sets reads a null as category or wildcard")


def keys_of(step: TargetedSuppression, data: Microdata) -> list[str]:
    """The quasi-identifiers whose sets are searched."""
    return list(step.keys) or data.named(Role.KEY)


def check_columns(step: TargetedSuppression, data: Microdata, columns: Sequence[str]) -> None:
    """Raise DataError where the keys cannot be searched, or none of them may be suppressed."""
    keys = keys_of(step, data)
    for name in keys:
        data.attribute(name)
    check_search(step.name, keys, data.source, step.max_size, step.missing)
    if not any(name in columns and name not in step.protect for name in keys):
        raise DataError("targeted_suppression with risk: special_uniques needs a column that is a key and not protected")


def mask_by_score(step: TargetedSuppression, data: Microdata, columns: Sequence[str]) -> tuple[Microdata, TargetingOutcome]:
    """The table with suppressed values, and the outcome."""
    keys = keys_of(step, data)
    encoded = encode(data, keys)
    masked, outcome = suppress_special_uniques(encoded, len(data), _rule(step, keys, len(data), columns))
    changed = {
        after.name: data.frame[after.name].set(pl.Series(after.is_null), None)
        for before, after in zip(encoded, masked, strict=True)
        if int(after.is_null.sum()) > int(before.is_null.sum())
    }
    return data.with_columns(changed), outcome


def count_above(step: TargetedSuppression, final: Microdata, columns: Sequence[str]) -> int | None:
    """The records above the threshold in the final table; None where it lacks keys."""
    keys = keys_of(step, final)
    if not keys or not set(keys) <= set(final.columns) or not len(final):
        return None
    return len(score_rows(encode(final, keys), len(final), _rule(step, keys, len(final), columns)).rows)


def _rule(step: TargetedSuppression, keys: list[str], size: int, columns: Sequence[str]) -> ScoreRule:
    allowed = np.array([name in columns and name not in step.protect for name in keys], dtype=np.bool_)
    cells = size * int(allowed.sum())

    def check_budget(suppressed_count: int, above: int) -> None:
        step.check_budget(suppressed_count, above, cells)

    threshold: Any = step.threshold
    return ScoreRule(
        weigh_sizes(step.scores, len(keys), step.max_size),
        float(threshold),
        step.missing,
        allowed,
        np.array([step.weights.get(name, 1.0) for name in keys]),
        step.passes == 1,
        check_budget,
    )
