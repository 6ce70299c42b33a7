"""Titles and descriptions of the installed measures and methods, taken from the plug-ins."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from discreet import registry
from discreet.assessment.limit_sentences import field_words
from discreet.errors import DiscreetError
from discreet.registry import Kind

TITLES = {
    "k_anonymity": "k-anonymity",
    "l_diversity": "l-diversity",
    "t_closeness": "t-closeness",
    "ncp": "normalized certainty penalty",
    "pram": "PRAM",
    "min_risk_disclosure": "minimum-risk disclosure",
}

_HINT = re.compile(
    r"[;,:] (?:measure the release itself, or )?give the link of mask --link|; limits: \{[^{}]*\} would require none"
)
"""What a person would write in a file or type: the pages have forms for it."""


@cache
def entries(kind: Kind) -> list[dict[str, Any]]:
    """Every plug-in of a kind, with its title and its summary as plain text."""
    return [
        plugin | {"title": title(plugin["name"]), "heading": heading(plugin["name"]), "summary": strip_markup(plugin["summary"])}
        for plugin in registry.describe(kind)
    ]


def entry(kind: Kind, name: str) -> dict[str, Any]:
    """One plug-in; the error for an unknown name suggests the nearest one."""
    registry.load(kind, name)
    return next(plugin for plugin in entries(kind) if plugin["name"] == name)


def title(name: str) -> str:
    """A plug-in's name as the literature writes it."""
    return TITLES.get(name, name.replace("_", " "))


def heading(name: str) -> str:
    """The title for the beginning of a line: capitalised, except for names such as k-anonymity."""
    text = title(name)
    return text if text[1:2] == "-" else text[:1].upper() + text[1:]


def list_limits() -> list[dict[str, Any]]:
    """The measures with the fields that can be limited: limit, comparison (at most or at least) and meaning."""
    groups = []
    for kind in ("risk", "loss"):
        for plugin in entries(kind):
            limits = [
                {"limit": f"{plugin['name']}.{field['name']}", **_describe_field(plugin, field)}
                for field in plugin["fields"]
                if field["better"]
            ]
            if limits:
                groups.append({"kind": kind, "title": plugin["title"], "limits": limits})
    return groups


def describe_limit(limit: str) -> dict[str, str]:
    """Comparison and meaning of a limit such as ``k_anonymity.k``; empty if no such measure is installed."""
    try:
        kind, name, field, _ = registry.resolve_limit(limit)
    except DiscreetError:
        return {"comparison": "", "meaning": "", "kind": ""}
    plugin = entry(kind, name)
    return _describe_field(plugin, next(candidate for candidate in plugin["fields"] if candidate["name"] == field)) | {
        "kind": kind
    }


def spell_out(sentence: str) -> str:
    """A sentence with the names of fields, measures and methods in words, without hints on options of the command line.

    >>> spell_out("k_anonymity.k is 1; rare_values was not measured")
    'records in the smallest equivalence class is 1; rare values was not measured'
    """
    sentence = without_commands(sentence)

    def say(match: re.Match[str]) -> str:
        measure = match[0].split(".")[0]
        if not any(measure in registry.installed_names(kind) for kind in ("risk", "loss", "masking")):
            return match[0]
        return field_words(match[0])[0] if "." in match[0] else title(measure)

    return re.sub(r"\b[a-z]+(?:_[a-z]+)*\.[a-z][a-z0-9_]*\b|\b[a-z]+(?:_[a-z]+)+\b", say, sentence)


def without_commands(sentence: str) -> str:
    """A message without hints on commands and files: the server stores the link with each release, and limits are set by forms.

    >>> without_commands("it was not measured; give the link of mask --link")
    'it was not measured'
    >>> without_commands("the tables differ; measure the release itself, or give the link of mask --link (off by 1)")
    'the tables differ (off by 1)'
    >>> without_commands("1 record is at risk, and no limit is set on it; limits: {known_sets.high_risk: 0} would require none")
    '1 record is at risk, and no limit is set on it'
    """
    return _HINT.sub("", sentence)


def summary(kind: Kind, name: str) -> str:
    """The summary of a plug-in in one sentence; empty if it is no longer installed."""
    return str(entry(kind, name)["summary"]) if name in registry.installed_names(kind) else ""


def _describe_field(plugin: Mapping[str, Any], field: Mapping[str, str]) -> dict[str, str]:
    meaning = field["meaning"] or (plugin["summary"] if field["name"] == "loss" else field["name"].replace("_", " "))
    return {"comparison": "at most" if field["better"] == "low" else "at least", "meaning": meaning}


def strip_markup(text: str) -> str:
    """A line of a docstring without its markup and its references to equations."""
    text = re.sub(r"\s*\((?:seed|equation)[^)]*\)", "", text)
    return re.sub(r"``([^`]*)``", r"“\1”", text).strip()
