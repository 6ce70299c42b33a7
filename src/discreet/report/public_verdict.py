"""The verdict in a public report: each limit with its status; what was measured is as coarse as in the rest of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet import registry
from discreet.report.bands import band_text
from discreet.report.field_kinds import Kind, kind_of
from discreet.report.public_fields import Public, show_number
from discreet.report.public_text import soften
from discreet.report.small_counts import hide_small, text_of

_NUMBERS = ("found", "measured_release", "measured_informed")
_WORDS = {(True, "low"): "at most", (False, "low"): "more than", (True, "high"): "at least", (False, "high"): "less than"}
_Shown = Mapping[float, Public]
"""The exact numbers of one limit with what the tables of measures show in their place."""


def show_verdict(
    evidence: Mapping[str, Any], adversaries: Sequence[Mapping[str, Any]], losses: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The verdict of exact evidence, given the public form of its measures."""
    verdict = evidence["verdict"]
    exact, public = _numbers(evidence["adversaries"], evidence["losses"]), _numbers(adversaries, losses)
    records = int(evidence["tables"]["masked"]["records"])
    limits = []
    for one in verdict["limits"]:
        values = zip(exact.get(one["limit"], ()), public.get(one["limit"], ()), strict=True)
        limits.append(_limit(one, {number: shown for number, shown in values if isinstance(number, int | float)}, records))
    required = [float(one["wanted"]) for one in verdict["limits"]]
    extremes = [one["limit"] for one in verdict["limits"] if _kind(one["limit"], one["found"]) == "extreme"]
    sentences = {
        name: [soften(text, band_numbers=any(one in text for one in extremes), exempt=required) for text in verdict[name]]
        for name in ("warnings", "gaps")
    }
    return {**verdict, "limits": limits, **sentences}


def _numbers(adversaries: Sequence[Mapping[str, Any]], losses: Sequence[Mapping[str, Any]]) -> dict[str, tuple[Any, ...]]:
    """MEASURE.FIELD with its numbers: for the attacker who knows the originals and the one who does not, or the loss."""
    risks = {
        f"{one['measure']}.{field['field']}": (field["informed"], field["after"])
        for one in adversaries
        for field in one["fields"]
    }
    return risks | {f"{one['measure']}.{field['field']}": (field["value"],) for one in losses for field in one["fields"]}


def _limit(one: Mapping[str, Any], shown: _Shown, records: int) -> dict[str, Any]:
    better = registry.direction(one["limit"])[3]
    made = {**one, **{name: _measured(one, one[name], shown, better, records) for name in _NUMBERS}}
    if one["found"] is None:
        return {**made, "sentence": soften(one["sentence"])}
    word = "at most" if better == "low" else "at least"
    _, but, why = one["sentence"].partition(", but ")
    reason = f"{but}{soften(why)}" if one["status"] == "incomplete" else ""
    return {
        **made,
        "sentence": f"{one['limit']} is {made['found']}; {word} {one['wanted']:g} is required: {one['status']}{reason}",
    }


def _measured(one: Mapping[str, Any], number: float | None, shown: _Shown, better: str, records: int) -> Public:
    """What was measured for a limit, as the table of its measure shows it, and never against the verdict."""
    if number is None:
        return None
    required, kind = float(one["wanted"]), _kind(one["limit"], number)
    if kind == "extreme":
        return band_text(number, at_most=required) if number <= required else band_text(number, at_least=required)
    if number in shown:
        public = shown[number]
    else:
        public = text_of(hide_small(int(number))) if kind in ("count", "size") else show_number(number, records)
    if public is None or isinstance(public, str):
        return public
    meets, agrees = ((value <= required) if better == "low" else (value >= required) for value in (number, public))
    return public if meets == agrees else f"{_WORDS[meets, better]} {required:g}"


def _kind(limit: str, number: float | None) -> Kind:
    where, measure, field, _ = registry.direction(limit)
    meaning = (registry.load("risk", measure) if where == "risk" else registry.load("loss", measure)).meaning.get(field, "")
    if kind_of(measure, field, 0.5, meaning) == "extreme":
        return "extreme"
    whole = number is not None and float(number).is_integer() and where == "risk"
    return kind_of(measure, field, int(number) if whole and number is not None else number, meaning)
