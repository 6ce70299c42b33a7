"""The verdict in a public report: each limit with its status, and measured numbers as coarse as in the rest of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet import registry
from discreet.assessment.verdicts import UNDECIDED
from discreet.report.bands import format_band
from discreet.report.field_kinds import Kind, kind_of
from discreet.report.public_report.fields import PublicValue, show_number
from discreet.report.public_report.text import coarsen_sentence
from discreet.report.small_counts import NOT_SHOWN, format_count, hide_small

_EXACT_KINDS = ("count", "size", "extreme", "share")
"""Kinds of numbers of which not even the ends of an interval are shown as they are."""
_MEASURED_FIELDS = ("found", "measured_release", "measured_informed")
_COMPARISONS = {(True, "low"): "at most", (False, "low"): "more than", (True, "high"): "at least", (False, "high"): "less than"}
_PublicNumbers = Mapping[float, PublicValue]
"""The exact numbers of one limit, each with its public form in the tables of measures."""


def show_verdict(
    evidence: Mapping[str, Any], adversaries: Sequence[Mapping[str, Any]], losses: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The public form of the verdict, given the public form of the measures."""
    verdict = evidence["verdict"]
    exact, public = _numbers(evidence["adversaries"], evidence["losses"]), _numbers(adversaries, losses)
    records = int(evidence["tables"]["masked"]["records"])
    limits = []
    for limit in verdict["limits"]:
        values = zip(exact.get(limit["limit"], ()), public.get(limit["limit"], ()), strict=True)
        public_numbers = {number: public_number for number, public_number in values if isinstance(number, int | float)}
        limits.append(_show_limit(limit, public_numbers, records))
    required = [float(limit["wanted"]) for limit in verdict["limits"]]
    hidden = {name for name, numbers in public.items() if any(isinstance(number, str) for number in numbers)}
    extremes = [
        limit["limit"]
        for limit in verdict["limits"]
        if limit["limit"] in hidden or _kind(limit["limit"], limit["found"]) == "extreme"
    ]
    sentences = {
        name: [
            coarsen_sentence(text, band_numbers=any(limit in text for limit in extremes), exempt=required)
            for text in verdict[name]
        ]
        for name in ("warnings", "gaps")
    }
    return {**verdict, "limits": limits, **sentences}


def _numbers(adversaries: Sequence[Mapping[str, Any]], losses: Sequence[Mapping[str, Any]]) -> dict[str, tuple[Any, ...]]:
    """The numbers of MEASURE.FIELD: against the intruder who knows the originals and the one who does not, or the loss."""
    risks = {
        f"{entry['measure']}.{field['field']}": (field["informed"], field["after"])
        for entry in adversaries
        for field in entry["fields"]
    }
    return risks | {f"{entry['measure']}.{field['field']}": (field["value"],) for entry in losses for field in entry["fields"]}


def _show_limit(limit: Mapping[str, Any], public_numbers: _PublicNumbers, records: int) -> dict[str, Any]:
    better = registry.resolve_limit(limit["limit"])[3]
    public = {**limit, **{name: _show_measured(limit, limit[name], public_numbers, better, records) for name in _MEASURED_FIELDS}}
    if limit["found"] is None:
        return {**public, "sentence": coarsen_sentence(limit["sentence"])}
    if UNDECIDED in limit["sentence"] and _kind(limit["limit"], limit["found"]) not in _EXACT_KINDS:
        # it names the interval; the number that was judged is only the end of it
        return {**public, "sentence": coarsen_sentence(limit["sentence"], exempt=[float(limit["wanted"])])}
    comparison = "at most" if better == "low" else "at least"
    _, but, why = limit["sentence"].partition(", but ")
    reason = f"{but}{coarsen_sentence(why)}" if limit["status"] == "incomplete" else ""
    return {
        **public,
        "sentence": f"{limit['limit']} is {public['found']}; {comparison} {limit['wanted']:g} is required: "
        f"{limit['status']}{reason}",
    }


def _show_measured(
    limit: Mapping[str, Any], number: float | None, public_numbers: _PublicNumbers, better: str, records: int
) -> PublicValue:
    """The measured number of a limit as the table of its measure shows it, and never in contradiction to the verdict."""
    if number is None:
        return None
    required, kind = float(limit["wanted"]), _kind(limit["limit"], number)
    if kind == "extreme" and public_numbers.get(number) != NOT_SHOWN:
        return format_band(number, at_most=required) if number <= required else format_band(number, at_least=required)
    if number in public_numbers:
        public = public_numbers[number]
    else:
        public = format_count(hide_small(int(number))) if kind in ("count", "size") else show_number(number, records)
    if public is None or (isinstance(public, str) and public != NOT_SHOWN):
        return public
    meets = number <= required if better == "low" else number >= required
    if isinstance(public, str) or meets != (public <= required if better == "low" else public >= required):
        return f"{_COMPARISONS[meets, better]} {required:g}"
    return public


def _kind(limit: str, number: float | None) -> Kind:
    family, measure, field, _ = registry.resolve_limit(limit)
    meaning = (registry.load("risk", measure) if family == "risk" else registry.load("loss", measure)).meaning.get(field, "")
    if kind_of(measure, field, 0.5, meaning) == "extreme":
        return "extreme"
    whole = number is not None and float(number).is_integer() and family == "risk"
    return kind_of(measure, field, int(number) if whole and number is not None else number, meaning)
