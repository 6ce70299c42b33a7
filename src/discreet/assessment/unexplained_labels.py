"""Whether every label of a masked table can be explained: checked before anything is measured."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import polars as pl

from discreet.engine.cells.atoms import read_sides
from discreet.engine.cells.hierarchies import usable_hierarchy
from discreet.engine.encoding.columns import encode
from discreet.errors import UnexplainedCellError
from discreet.model.microdata import Microdata


def check_explained(original: Microdata, masked: Microdata) -> None:
    """Raise UnexplainedCellError, naming table, column and label, where a masked cell is no value and nobody says what it means.

    Numbers and dates are always values of their kind, whether the original holds them or not. A text is one where the
    original holds it, where it is a leaf of the attribute's hierarchy, or where the column is declared: a ``cells`` entry says
    that whatever is no label is a value (a pseudonym, for example).
    """
    for name in masked.columns:
        if name not in original.columns:
            continue
        before, after = original.frame[name], masked.frame[name]
        if before is after or (before.dtype == after.dtype and before.dtype.is_numeric() and name not in masked.cells):
            continue
        (true_column,), (masked_column,) = encode(original, [name]), encode(masked, [name])
        sides = [(true_column, original.cells.get(name)), (masked_column, masked.cells.get(name))]
        try:
            read_sides(sides, hierarchy=usable_hierarchy(original, name), reference=0, strict=True)
        except UnexplainedCellError as error:
            raise UnexplainedCellError(f"{masked.source}: {error}") from None


def check_ambiguous(original: Microdata, masked: Microdata, recoded: Collection[str]) -> None:
    """Raise UnexplainedCellError where a recoded column holds labels of the policy that read like values of the column.

    Groups named "1" and "2" look like numbers. Where neither a file beside the table nor the policy says what they stand for,
    they would be taken for the numbers 1 and 2, which contain no true value, and every risk against true values would be 0.
    """
    for name in masked.columns:
        if name not in recoded or name in masked.cells or name not in original.columns:
            continue
        labels = _labels_of_plan(original, name)
        if not labels or isinstance(masked.schema[name], pl.Duration):  # which has no labels, and no text form
            continue
        texts = masked.frame[name].drop_nulls().unique().cast(pl.String, strict=False).drop_nulls().to_list()
        ambiguous = sorted(text for text in texts if _as_label(text) in labels)
        if ambiguous and (masked.schema[name] != pl.String or any(_is_number(text) for text in ambiguous)):
            raise UnexplainedCellError(
                f"{masked.source}: '{ambiguous[0]}' in column '{name}' is a label of the plan that reads like a value, and "
                "nothing says which it is; keep the .cells.yaml file beside the release, or use the policy that "
                "'mask --write-policy' wrote"
            )


def _labels_of_plan(original: Microdata, name: str) -> set[str]:
    """The labels that steps and the attribute's hierarchy give to several values of a column."""
    labels: set[str] = set()
    for step in original.policy.plan.steps:
        groups = (step.model_extra or {}).get("groups")
        if step.enabled and isinstance(groups, Mapping) and (not step.columns or name in step.columns):
            labels |= {_as_label(str(label)) for label, members in groups.items() if [str(label)] != list(map(str, members))}
    hierarchy = usable_hierarchy(original, name)
    return labels | ({_as_label(label) for label in hierarchy.groups} if hierarchy is not None else set())


def _as_label(text: str) -> str:
    """One text for 1 and 1.0, which files and databases write differently."""
    return str(int(float(text))) if _is_number(text) and float(text).is_integer() else text


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
