"""The installed measures and methods in words for people, from the plug-ins' own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from discreet import registry
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


@cache
def entries(kind: Kind) -> list[dict[str, Any]]:
    """Every plug-in of a kind, with a title and a summary without a programmer's marks."""
    return [
        one | {"title": title(one["name"]), "heading": heading(one["name"]), "summary": said(one["summary"])}
        for one in registry.describe(kind)
    ]


def entry(kind: Kind, name: str) -> dict[str, Any]:
    """One plug-in; raises with the nearest name where there is none."""
    registry.load(kind, name)
    return next(one for one in entries(kind) if one["name"] == name)


def title(name: str) -> str:
    """A plug-in's name as the literature writes it."""
    return TITLES.get(name, name.replace("_", " "))


def heading(name: str) -> str:
    """The same at the beginning of a line."""
    found = title(name)
    return found if found[1:2] == "-" else found[:1].upper() + found[1:]


def limitable() -> list[dict[str, Any]]:
    """Measures with the fields that a limit may name: (limit, at most or at least, meaning)."""
    groups = []
    for kind in ("risk", "loss"):
        for one in entries(kind):
            found = [
                {"limit": f"{one['name']}.{field['name']}", **_words(one, field)} for field in one["fields"] if field["better"]
            ]
            if found:
                groups.append({"kind": kind, "title": one["title"], "limits": found})
    return groups


def meaning(limit: str) -> dict[str, str]:
    """What a limit such as ``k_anonymity.k`` says: its words and its meaning; empty where no such measure is installed."""
    try:
        kind, name, field, _ = registry.direction(limit)
    except DiscreetError:
        return {"word": "", "meaning": "", "kind": ""}
    one = entry(kind, name)
    return _words(one, next(found for found in one["fields"] if found["name"] == field)) | {"kind": kind}


def summary(kind: Kind, name: str) -> str:
    """What a plug-in is, in a sentence; nothing where it is not installed any more."""
    return str(entry(kind, name)["summary"]) if name in registry.names(kind) else ""


def _words(one: Mapping[str, Any], field: Mapping[str, str]) -> dict[str, str]:
    told = field["meaning"] or (one["summary"] if field["name"] == "loss" else field["name"].replace("_", " "))
    return {"word": "at most" if field["better"] == "low" else "at least", "meaning": told}


def said(text: str) -> str:
    """A docstring's line without its marks."""
    text = re.sub(r"\s*\((?:seed|equation)[^)]*\)", "", text)
    return re.sub(r"``([^`]*)``", r"“\1”", text).strip()
