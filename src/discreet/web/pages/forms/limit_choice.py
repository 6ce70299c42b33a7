"""Choosing limits: by audience, by guidance (presets), by sentences with a blank for the number, or by the measure's own name."""

from __future__ import annotations

import math
from typing import Any

from sqlalchemy import Connection
from starlette.datastructures import FormData

from discreet import registry
from discreet.assessment.limit_sentences import example_sentences, limit_sentence, sentence_of
from discreet.errors import DiscreetError
from discreet.model.policy import Policy
from discreet.model.presets.catalogue import AUDIENCES, PRESETS, Preset, find_preset
from discreet.web.auth.accounts import User
from discreet.web.errors import InvalidRequest
from discreet.web.pages.forms import catalogue, editing
from discreet.web.projects import policies
from discreet.web.projects.projects import Project

LIMIT_ACTIONS = ("preset", "example", "limit", "no-limit", "judge")
"""The actions of the forms in ``limits.html``."""
_FIRST_NUMBERS = {"number": {"low": "0", "high": "5"}, "percent": {"low": "5", "high": "95"}, "one_in": {"low": "11"}}
"""What a blank shows before anybody has chosen a number, by the direction that is safer."""


def limit_rows(policy: Policy) -> list[dict[str, Any]]:
    """One row per limit, as a sentence and with its meaning."""
    return [
        {"limit": limit, "wanted": required, "sentence": describe_in_words(limit, required), **catalogue.describe_limit(limit)}
        for limit, required in policy.limits.items()
    ]


def limit_choices() -> dict[str, Any]:
    """What the forms offer: audiences with their presets, sentences with a blank, and all fields that can be limited."""
    return {
        "audiences": [
            {"audience": audience, "presets": [_describe_preset(PRESETS[name]) for name in audience.presets]}
            for audience in AUDIENCES.values()
        ],
        "presets": [_describe_preset(preset) for preset in PRESETS.values()],
        "examples": [
            {"sentence": sentence, "number": _FIRST_NUMBERS[sentence.blank][registry.resolve_limit(sentence.limit)[3]]}
            for sentence in example_sentences()
        ],
        "fields": catalogue.list_limits(),
    }


def apply_limit_action(
    connection: Connection, user: User, project: Project, base: int, policy: Policy, action: str, form: FormData
) -> str:
    """Apply one of the actions; returns the anchor of the page to show next."""
    if action == "preset":
        _add_preset(connection, user, project, base, policy, form)
    elif action == "judge":
        _change_judge(connection, user, project, base, form)
    else:
        _change_limit(connection, user, project, base, policy, action, form)
    return "limits"


def _describe_preset(preset: Preset) -> dict[str, Any]:
    sentences = [(limit, required, describe_in_words(limit, required)) for limit, required in preset.limits.items()]
    return {"preset": preset, "sentences": sentences}


def describe_in_words(limit: str, required: float) -> str:
    """The sentence of a limit; its name where the measure is not installed."""
    try:
        return limit_sentence(limit, required)
    except DiscreetError:
        return f"{limit} {required:g}"


def _add_preset(connection: Connection, user: User, project: Project, base: int, policy: Policy, form: FormData) -> None:
    """Add the limits of a preset; a limit that is set already gets the preset's number."""
    preset = find_preset(str(form.get("preset", "")))
    sections = {
        "limits": {**policy.limits, **preset.limits},
        "presets": list(dict.fromkeys([*policy.presets, preset.name])),
    }
    policies.edit(connection, user, project, base, sections, f"limits of the preset {preset.name}")


def _change_limit(
    connection: Connection, user: User, project: Project, base: int, policy: Policy, action: str, form: FormData
) -> None:
    limit, limits = str(form.get("limit", "")), dict(policy.limits)
    if action == "no-limit":
        limits.pop(limit, None)
        what = f"the limit {limit} removed"
    else:
        if limit.count(".") != 1:
            raise InvalidRequest("choose what to limit")
        comparison = catalogue.describe_limit(limit)["comparison"]
        registry.resolve_limit(limit, origin="the limit")
        typed = str(form.get("wanted", ""))
        required = sentence_of(limit).parse(typed) if action == "example" else _read_number(limit, typed)
        limits[limit] = required
        what = f"limit: {limit} {comparison} {required:g}"
    editing.save_section(connection, user, project, base, "limits", limits, what)


def _read_number(limit: str, typed: str) -> float:
    try:
        number = float(typed.strip())
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidRequest(f"the limit of {limit} is a number; got '{typed[:40]}'")
    return number


def _change_judge(connection: Connection, user: User, project: Project, base: int, form: FormData) -> None:
    """Set which intruders the limits on risk are judged for; both is the default and is not written to the policy."""
    judge = str(form.get("judge", ""))
    if judge not in ("both", "release"):
        raise InvalidRequest(f"limits are judged for 'both' intruders or for the 'release' alone; got '{judge[:40]}'")
    what = "limits are judged for both intruders" if judge == "both" else "limits are judged on the release alone"
    editing.save_section(connection, user, project, base, "judge", None if judge == "both" else judge, what)
