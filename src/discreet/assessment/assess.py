"""The Disclosure Risk and Information Loss Analyzer (seed 002, section 2): a release judged by its owner's limits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import polars as pl

from discreet import registry
from discreet.assessment.adversaries import side_by_side
from discreet.engine.progress import OutOfTimeError, until
from discreet.errors import DataError
from discreet.model.contracts import RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.results import Assessment, Verdict
from discreet.model.score import Score

_LEFT_OUT = "to an intruder who holds true values is left out"


def assess(
    original: Microdata, masked: Microdata, risks: list[RiskMeasure], losses: Mapping[str, Score], deadline: float | None = None
) -> Assessment:
    """Every risk before and after, beside losses already measured, and the verdict limit by limit.

    Both tables keep their encoded columns, so what several measures count is encoded once. The verdicts are those of the
    masked table on its own, which anybody can repeat on the written file. What an intruder who holds true values finds is left
    out where it is not told by the deadline, a moment of ``time.monotonic``.
    """
    before: dict[str, Score] = {}
    after: dict[str, Score] = {}
    informed: dict[str, Score] = {}
    warnings: list[str] = []
    for measure in risks:
        required = measure.needs_original(masked)
        before[measure.name] = measure.measure(original, original=original if measure.needs_original(original) else None)
        after[measure.name] = measure.measure(masked, original=original if required else None)
        if measure.original_use == "optional" and not required:
            try:
                with until(deadline):
                    informed[measure.name] = measure.measure(masked, original=original)
            except DataError as error:
                warnings.append(f"{measure.name} {_LEFT_OUT}: {error}")
            except OutOfTimeError:
                warnings.append(f"{measure.name} {_LEFT_OUT}: there was no time left for it; assess tells it")
    limits = original.policy.limits
    verdicts = tuple(verdict(limit, wanted, {**after, **losses}) for limit, wanted in limits.items())
    warnings += [
        f"{limit} holds for the file alone, but to an intruder who holds true values it is {shown(other.found)} "
        f"(limit {shown(other.wanted)})"
        for limit, found in zip(limits, verdicts, strict=True)
        if found.kept and limit.split(".")[0] in informed and not (other := verdict(limit, found.wanted, informed)).kept
    ]

    @cache
    def records() -> pl.DataFrame:
        return side_by_side(original, masked, after)

    return Assessment(before, after, informed, losses, verdicts, len(original), len(masked), tuple(warnings), records)


def verdict(limit: str, wanted: float, found: Mapping[str, Score]) -> Verdict:
    """One limit against what was found; the sentence says by how much it is kept or missed."""
    _, name, field, better = registry.direction(limit)
    value = found[name].summary.get(field) if name in found else None
    if value is None or isinstance(value, Mapping):
        return Verdict(limit, wanted, None, False, f"{limit} could not be measured")
    number = float(value)
    kept = number <= wanted if better == "low" else number >= wanted
    by = shown(abs(number - wanted))
    word = "at most" if better == "low" else "at least"
    told = f"{limit} is {shown(number)}, {word} {shown(wanted)} is wanted"
    if not kept:
        told += f" (off by {by})"
    elif number != wanted:
        told += f" ({by} to spare)"
    return Verdict(limit, wanted, number, kept, told)


def shown(number: float | None) -> str:
    """A number as sentences say it."""
    return "unknown" if number is None else f"{number:,.6g}"
