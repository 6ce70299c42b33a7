"""Associations: how far the relations between attributes change that users of the data look at."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field, field_validator

from discreet.engine.cells.comparison import link_rows
from discreet.engine.cells.midpoints import released_numbers
from discreet.engine.encoding.columns import encode_series
from discreet.engine.encoding.record_links import original_rows
from discreet.engine.runtime.progress import report_progress
from discreet.errors import DataError, ParameterError, nearest
from discreet.losses.associations.categories import categories_of_both, member_shares
from discreet.losses.associations.regression import Effect, Formula, fit_effects, parse_formula
from discreet.losses.associations.strength import Variable, association
from discreet.model.attribute import Level, Role
from discreet.model.contracts import Direction, LossMeasure
from discreet.model.microdata import Microdata
from discreet.model.notes import Note
from discreet.model.score import Score

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEFT_OUT = (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD, Role.WEIGHT)
_MOST_EFFECTS = 200
"""Dummy variables and numbers of one regression; more would be a table of its own, not an analysis."""


class Associations(LossMeasure):
    """The change of pairwise associations, and of regression effects that the owner names.

    The association of two attributes is Cramér's V (two categories), the correlation ratio (a category and a number) or
    Pearson's correlation (two numbers), in the original and in the release, over the records in which both are present. Intervals
    count as their midpoints, a released group for each of its members in part. ``loss`` is the mean absolute change over the
    pairs with a changed attribute, ``worst`` the largest.

    ``analyses`` are linear regressions such as ``visits ~ sex + race + age``. Categories enter as dummy variables against the
    most frequent one. ``effect`` is the largest change of a coefficient
    that differs from 0 in the original (95 %), as a share of it; a coefficient that cannot be estimated any more counts as 1.
    That of a category with fewer than ``fewest`` records is left out: it tells of single persons, and no safe release keeps it.

    >>> from discreet.testing import table
    >>> before = table({"sex": ["f", "m"] * 20, "age": [30, 50] * 20}, key=["sex", "age"])
    >>> after = before.with_columns({"sex": pl.Series(["f"] * 20 + ["m"] * 20)})
    >>> Associations().measure(before, after).summary["loss"]
    1.0
    """

    name: ClassVar[str] = "associations"
    citation: ClassVar[str] = (
        "Cramér, H. (1946). Mathematical Methods of Statistics, section 21.9; Bergsma, W. (2013). A bias-correction for "
        "Cramér's V and Tschuprow's T. J. Korean Statistical Society 42, 323-328."
    )
    better: ClassVar[Mapping[str, Direction]] = {"loss": "low", "worst": "low", "effect": "low", "effects_outside": "low"}
    neutral: ClassVar[Collection[str]] = ("pairs", "effects")
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "loss": "associations of two attributes change by at most {number} on average",
    }
    meaning: ClassVar[Mapping[str, str]] = {
        "loss": "mean absolute change of the association of two attributes, 0 to 1",
        "worst": "largest change of the association of two attributes",
        "pairs": "pairs of attributes compared: those with a changed attribute",
        "effect": "largest change of a clear regression effect, as a share of it",
        "effects_outside": "regression effects that leave the 95 % interval of the original",
        "effects": "regression effects compared",
    }

    attributes: tuple[str, ...] = Field(
        default=(), description="attributes to compare; default: all that both tables have, without identifiers and weights"
    )
    analyses: tuple[str, ...] = Field(
        default=(), description="regressions to compare: response ~ predictor + predictor; names with spaces in backticks"
    )
    categories: Annotated[int, Field(ge=2)] = Field(
        default=50, description="attributes with more different categories are left out"
    )
    most: Annotated[int, Field(ge=2)] = Field(
        default=40, description="most attributes to compare, the changed ones first; those beyond are named in a note"
    )
    fewest: Annotated[int, Field(ge=1)] = Field(
        default=1, description="the effect of a category with fewer records in the original is reported, but not counted"
    )
    records: Annotated[int, Field(ge=100)] = Field(
        default=100_000, description="most records to compare; of more, this many evenly spread over the original"
    )

    @field_validator("analyses")
    @classmethod
    def _are_formulas(cls, analyses: tuple[str, ...]) -> tuple[str, ...]:
        for text in analyses:
            parse_formula(text)
        return analyses

    @property
    def analysed_attributes(self) -> set[str]:
        """The attributes of the regressions."""
        formulas = [parse_formula(text) for text in self.analyses]
        return {name for formula in formulas for name in (formula.response, *formula.predictors)}

    def measure(self, original: Microdata, masked: Microdata) -> Score:
        names, changed, notes = self._compared(original, masked)
        before = original.cache.setdefault(("associations", self.records), {})
        original, masked = _sample_records(original, masked, self.records)
        sides = {name: _variables(original, masked, name) for name in names}
        pairs = [pair for pair in combinations(names, 2) if changed & set(pair)]
        changes: list[float] = []
        for pair in pairs:
            report_progress("comparing associations", len(changes), len(pairs))
            if pair not in before:  # a search compares many releases with one original
                before[pair] = association(*(sides[name][0] for name in pair))
            changes.append(min(1.0, abs(association(*(sides[name][1] for name in pair)) - before[pair])))
        summary: dict[str, int | float | None] = {
            "loss": float(np.mean(changes)) if changes else 0.0,
            "worst": max(changes, default=0.0),
            "pairs": len(pairs),
        }
        effects = [comparison for text in self.analyses for comparison in self._effects(parse_formula(text), original, masked)]
        counted = [effect for effect in effects if effect.records is None or effect.records >= self.fewest]
        clear = [_relative_change(effect.before, effect.after) for effect in counted if effect.before.is_clear]
        summary["effect"] = max(clear, default=0.0) if self.analyses else None
        summary["effects_outside"] = (
            sum(_is_outside(effect.before, effect.after) for effect in counted) if self.analyses else None
        )
        summary["effects"] = len(counted)
        notes += [Note(_describe(effect, self.fewest), "") for effect in effects]
        return Score(self.name, summary, None, _by_attribute(names, pairs, changes), notes=tuple(notes))

    def _compared(self, original: Microdata, masked: Microdata) -> tuple[list[str], set[str], list[str]]:
        """The attributes, which of them are changed, and notes on those left out."""
        for name in self.attributes:
            original.attribute(name)
        candidates = self.attributes or tuple(name for name in original.columns if original.attribute(name).role not in _LEFT_OUT)
        names = [name for name in candidates if name in masked.columns and name in original.columns]
        if not names:
            raise DataError(f"associations: {original.source} and {masked.source} have no attribute in common to compare")
        large = [name for name in names if not _is_number(original, name) and original.frame[name].n_unique() > self.categories]
        names = [name for name in names if name not in large]
        changed = _changed(original, masked, names)
        compared = sorted(names, key=lambda name: (name not in changed, names.index(name)))[: self.most]
        notes = []
        if large:
            notes.append(f"more than {self.categories} categories, so not compared: {_listed(large)}")
        if len(compared) < len(names):
            notes.append(
                f"not compared, because there are more than {self.most}: {_listed([n for n in names if n not in compared])}"
            )
        return [name for name in names if name in compared], changed, notes

    def _effects(self, formula: Formula, original: Microdata, masked: Microdata) -> list[_ComparedEffect]:
        """Each effect of a regression, before and after."""
        for name in (formula.response, *formula.predictors):
            if name not in original.columns:
                raise ParameterError(
                    f"associations.analyses names '{name}', which is no column; {nearest(name, original.columns)}"
                )
        if not _is_number(original, formula.response):
            raise ParameterError(f"associations.analyses: the response '{formula.response}' must be a number")
        if formula.response not in masked.columns:
            response = released_numbers(original, original, formula.response)[0], np.full(len(masked), np.nan)
        else:
            response = released_numbers(original, masked, formula.response)
        designs: tuple[dict[str, NDArray[np.float64]], dict[str, NDArray[np.float64]]] = ({}, {})
        records: dict[str, int] = {}
        for name in formula.predictors:
            for label, before, after in _design_columns(original, masked, name):
                designs[0][label], designs[1][label] = before, after
                if not _is_number(original, name):
                    records[label] = int(np.nansum(before))
        if len(designs[0]) > _MOST_EFFECTS:
            raise ParameterError(
                f"associations.analyses: '{formula}' has {len(designs[0]):,} effects; at most {_MOST_EFFECTS} can be compared"
            )
        effects_before, effects_after = (fit_effects(response[side], designs[side]) for side in (0, 1))
        return [
            _ComparedEffect(f"{formula}: effect of {label}", effects_before[label], effects_after[label], records.get(label))
            for label in designs[0]
        ]


class _ComparedEffect(NamedTuple):
    """An effect in the original and in the release; ``records`` are those of its category, None for a number."""

    label: str
    before: Effect
    after: Effect
    records: int | None


def _describe(effect: _ComparedEffect, fewest: int) -> str:
    text = f"{effect.label}: {effect.before} becomes {effect.after}"
    if effect.records is None or effect.records >= fewest:
        return text
    return f"{text}; not counted, because fewer than {fewest} records have this value"


def _is_number(data: Microdata, name: str) -> bool:
    dtype = data.frame.schema[name]
    return data.level(name) in (Level.NUMERIC, Level.DATE) and (dtype.is_numeric() or dtype.is_temporal())


def _sample_records(original: Microdata, masked: Microdata, most: int) -> tuple[Microdata, Microdata]:
    """At most so many records of each table, evenly spread over the original, and the same ones of the release.

    A release has another order of rows than its original, and other records would differ by chance alone. Where the links are
    unknown or records are synthetic, those of the release are evenly spread over it.
    """
    if len(original) <= most and len(masked) <= most:
        return original, masked
    chosen, linked = _spread(len(original), most), original_rows(masked, original)
    if linked is None or (linked < 0).any():
        return original.take(chosen), masked.take(_spread(len(masked), most))
    order = np.argsort(linked, kind="stable")
    return original.take(chosen), masked.take(order[np.isin(linked[order], chosen)])


def _spread(length: int, most: int) -> NDArray[np.int64]:
    """At most so many positions, evenly spread over a table."""
    return np.arange(length) if length <= most else np.linspace(0, length - 1, most).astype(np.int64)


def _changed(original: Microdata, masked: Microdata, names: Sequence[str]) -> set[str]:
    """The attributes of which a linked record has another value; all of them where nothing links the tables."""
    rows = link_rows(original, masked)
    if rows is None or len(rows) < len(masked) or len(rows) < len(original):
        return set(names)  # records came or went, which changes every attribute
    before, after = original.frame[rows.original.tolist()], masked.frame[rows.masked.tolist()]
    return {name for name in names if not before[name].equals(after[name])}


def _variables(original: Microdata, masked: Microdata, name: str) -> tuple[Variable, Variable]:
    """An attribute of both tables as numbers or as categories; what is suppressed is missing."""
    if _is_number(original, name):
        before, after = released_numbers(original, masked, name)
        return Variable(before), Variable(after)
    return categories_of_both(original, masked, name)


def _design_columns(
    original: Microdata, masked: Microdata, name: str
) -> list[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
    """The columns of a predictor in the design matrix of the original and of the release, with their labels."""
    missing = np.full(len(masked), np.nan)
    if _is_number(original, name):
        before = released_numbers(original, original, name)[0]
        return [(name, before, released_numbers(original, masked, name)[1] if name in masked.columns else missing)]
    column = encode_series(original.frame[name])
    counts = np.bincount(column.codes, minlength=column.cardinality)[: len(column.values)]
    reference = int(counts.argmax()) if len(counts) else 0
    shares = (
        member_shares(original, masked, name) if name in masked.columns else np.full((len(masked), len(column.values)), np.nan)
    )
    columns = []
    for code, value in enumerate(column.values.to_list()):
        if code != reference:
            before = np.where(column.is_null, np.nan, (column.codes == code).astype(np.float64))
            columns.append((f"{name}={value}", before, shares[:, code]))
    return columns


def _relative_change(before: Effect, after: Effect) -> float:
    return abs(after.value - before.value) / abs(before.value) if np.isfinite(after.value) else 1.0


def _is_outside(before: Effect, after: Effect) -> bool:
    """Whether an effect left the interval of the original; one that could not be estimated before cannot."""
    if not np.isfinite(before.value):
        return False
    low, high = before.interval
    return not low <= after.value <= high


def _by_attribute(names: Sequence[str], pairs: Sequence[tuple[str, str]], changes: Sequence[float]) -> pl.DataFrame:
    """One row per attribute: the mean and the largest change over its pairs, and the attribute of the latter."""
    rows = []
    for name in names:
        own = [
            (change, pair[0] if pair[1] == name else pair[1]) for pair, change in zip(pairs, changes, strict=True) if name in pair
        ]
        largest = max(own, default=(0.0, None), key=lambda entry: entry[0])
        rows.append((name, float(np.mean([change for change, _ in own])) if own else 0.0, largest[0], largest[1]))
    schema = {"attribute": pl.String, "loss": pl.Float64, "worst": pl.Float64, "with": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")
