"""The Disclosure Risk and Information Loss Analyzer (seed 002, section 2): a release judged by its owner's limits."""

from __future__ import annotations

from collections.abc import Mapping

from discreet import registry
from discreet.model.contracts import RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.results import Assessment, Verdict
from discreet.model.score import Score


def assess(original: Microdata, masked: Microdata, risks: list[RiskMeasure], losses: Mapping[str, Score]) -> Assessment:
    """Every risk before and after, beside losses already measured, and the verdict limit by limit."""
    before, after, informed = {}, {}, {}
    for measure in risks:
        required = measure.needs_original(masked)
        before[measure.name] = measure.measure(original, original=original if measure.needs_original(original) else None)
        after[measure.name] = measure.measure(masked, original=original if required else None)
        if measure.original_use == "optional" and not required:
            informed[measure.name] = measure.measure(masked, original=original)
    limits = original.policy.limits
    verdicts = tuple(_verdict(limit, wanted, {**after, **losses}) for limit, wanted in limits.items())
    warnings = tuple(
        f"{limit} holds for the file alone, but to an intruder who holds true values it is {_shown(other.found)} "
        f"(limit {_shown(other.wanted)})"
        for limit, verdict in zip(limits, verdicts, strict=True)
        if verdict.kept and limit.split(".")[0] in informed and not (other := _verdict(limit, verdict.wanted, informed)).kept
    )
    return Assessment(before, after, informed, losses, verdicts, len(original), len(masked), warnings)


def _verdict(limit: str, wanted: float, found: Mapping[str, Score]) -> Verdict:
    _, name, field, better = registry.direction(limit)
    value = found[name].summary.get(field) if name in found else None
    if value is None or isinstance(value, Mapping):
        return Verdict(limit, wanted, None, False, f"{limit} could not be measured")
    number = float(value)
    kept = number <= wanted if better == "low" else number >= wanted
    by = abs(number - wanted)
    word = "at most" if better == "low" else "at least"
    told = f"{limit} is {_shown(number)}, {word} {_shown(wanted)} is wanted" + ("" if kept else f" (off by {_shown(by)})")
    return Verdict(limit, wanted, number, kept, told)


def _shown(number: float | None) -> str:
    return "unknown" if number is None else f"{number:,.6g}"
