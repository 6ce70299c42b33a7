"""A masked table beside its original: which released row comes from which record, and what its labels stand for."""

from __future__ import annotations

from typing import Any

import polars as pl

from discreet import registry
from discreet.engine.encoding.unique_keys import unique_keys
from discreet.engine.runtime import dispatch
from discreet.model.microdata import Microdata
from discreet.model.results import Release


def link_to_original(masked: Microdata | Release, original: Microdata) -> tuple[Microdata, list[str]]:
    """The masked table with its rows tied to their originals, and sentences on what is not certain about that."""
    if isinstance(masked, Release):
        _check_labels(masked.masked, original)
        return masked.masked, []
    masked = with_policy_labels(masked, original)
    _check_labels(masked, original)
    if dispatch.engine_of(masked) != dispatch.LOCAL:  # its record numbers are its link
        return masked, _doubts_about_order(masked, original)
    from discreet.engine.encoding.release_order import align_with_original
    from discreet.keys.recognise import order_keys

    ordered = align_with_original(masked, original, original.policy.plan, order_keys)
    doubt = ordered.doubt or _doubt_of_unmasked_columns(ordered.masked, original)
    return ordered.masked, [doubt] if doubt else []


def with_policy_labels(data: Microdata, original: Microdata | None = None) -> Microdata:
    """A table with what the policy says its labels stand for, where no file beside it says so.

    The policy describes masked columns. A table that is measured alone may be the original: then only columns of text can
    hold labels.
    """
    if dispatch.engine_of(data) != dispatch.LOCAL:
        return data
    if original is not None:
        data = _without_formula_guards(data, original)
    policy = original.policy if original is not None else data.policy
    cells = {name: column for name, column in policy.cells.items() if name in data.columns and name not in data.cells}
    if original is None:
        cells = {name: column for name, column in cells.items() if data.schema[name] == pl.String}
    if not cells:
        return data
    from discreet.convert.files.cells_file import apply_cells

    return apply_cells(data, cells)


def check_listed(data: Microdata, *, initial: bool = True) -> list[str]:
    """Warnings about values that the policy lists and the table does not hold; an error where that looks like a typing error.

    A table that is measured alone under a policy with a plan may be the plan's result (``initial`` is false).
    """
    if dispatch.is_distributed(data):  # there the measures check it with the dictionaries that they make
        return []
    from discreet.engine.cells.listed_values import check_listed_values

    return check_listed_values(data, initial=initial)


def _without_formula_guards(data: Microdata, original: Microdata) -> Microdata:
    """Texts as the original has them: a released CSV file has an apostrophe before what a spreadsheet would run."""
    from discreet.convert.files.formulas import remove_formula_guards

    shared = [name for name in data.columns if name in original.columns and data.schema[name] == pl.String]
    columns = {name: remove_formula_guards(data.frame[name], original.frame[name]) for name in shared}
    changed = {
        name: series for name, series in columns.items() if series is not data.frame[name] and not series.equals(data.frame[name])
    }
    return data.with_columns(changed) if changed else data


def _doubt_of_unmasked_columns(masked: Microdata, original: Microdata) -> str | None:
    """Why the pairing of rows is wrong where a column that no step masks has the original's values, but in other rows.

    A file that was sorted after it was written looks partly right: the column it was sorted by agrees wherever the original is
    sorted too. Columns that the plan leaves alone must agree in every row.
    """
    if len(masked) != len(original) or not (masked.records == original.records).any():
        return None
    rows = masked.records
    if (rows < 0).any() or len(unique_keys(rows)) != len(rows):
        return None
    touched = masked_columns(original)
    for name in masked.columns:
        if name in touched or name not in original.columns:
            continue
        released, true = _comparable(masked.frame[name]), _comparable(original.frame[name])
        if released.dtype != true.dtype or released.equals(true[rows], null_equal=True):
            continue
        if released.sort().equals(true.sort(), null_equal=True):
            return (
                f"column '{name}' of {masked.source} has the values of {original.source}, but in other rows, and no step of the "
                "plan masks it: the rows were reordered after the release was made; give its link"
            )
    return None


def _comparable(values: pl.Series) -> pl.Series:
    """Numbers as floats and all else as text, so that a column compares equal whatever file it was read from."""
    if isinstance(values.dtype, pl.Duration):  # Polars does not write durations as text
        values = values.dt.total_microseconds()
    return values.cast(pl.Float64) if values.dtype.is_numeric() else values.cast(pl.String, strict=False)


def masked_columns(original: Microdata) -> set[str]:
    """The columns that some step of the policy's plan works on."""
    columns: set[str] = set()
    for number, step in enumerate(original.policy.plan.steps, 1):
        if step.enabled:
            _, method = registry.resolve_step(step, original.policy, origin=f"{original.policy.origin}, step {number}")
            columns.update(step.columns or method.choose(original))
    return columns


def _check_labels(masked: Microdata, original: Microdata) -> None:
    """A label that nobody can explain, or that reads like a value, is an error, never a value of its own."""
    if dispatch.engine_of(masked) == dispatch.LOCAL:
        from discreet.assessment.unexplained_labels import check_ambiguous, check_explained

        check_explained(original, masked)
        check_ambiguous(original, masked, masked_columns(original))


def _doubts_about_order(masked: Any, original: Microdata) -> list[str]:
    """A release read again on another engine has record numbers of its own, which shuffling separated from the original's."""
    plan = original.policy.plan
    if not masked.is_initial or masked.source == original.source or plan.order == "kept" or not plan.steps:
        return []
    rows = f"the rows of {masked.source} are taken for those of {original.source} in their order"
    return [f"{rows}; a release is written in another, so give its link, or read both on the local engine"]
