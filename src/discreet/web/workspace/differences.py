"""What differs between two policies and between what was measured of them: steps, guesses, limits and numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any

from discreet.assessment.limit_sentences import field_words
from discreet.model.policy import Plan, Policy
from discreet.web.pages.forms import catalogue
from discreet.web.pages.forms.labels import step_rows
from discreet.web.pages.forms.limit_choice import describe_in_words

Numbers = Mapping[str, Mapping[str, Any]]
"""Values by measure and field."""


def compare_plans(first: Plan, second: Plan) -> list[dict[str, Any]]:
    """The steps of two plans in rows: a step of each that belong together (``a``, ``b``), or one of them alone.

    Steps belong together where method and columns agree, or, between such steps, where the method does. ``same`` says that they
    agree in everything; ``differences`` lists the parameters that do not.
    """
    rows_a, rows_b = step_rows(first), step_rows(second)
    keys = [[(str(row["step"].method), tuple(row["columns"])) for row in rows] for rows in (rows_a, rows_b)]
    rows: list[dict[str, Any]] = []
    for tag, a_from, a_to, b_from, b_to in SequenceMatcher(a=keys[0], b=keys[1], autojunk=False).get_opcodes():
        if tag == "equal":
            pairs: list[tuple[int | None, int | None]] = list(zip(range(a_from, a_to), range(b_from, b_to), strict=True))
        else:
            pairs = _pair_methods([key[0] for key in keys[0]], [key[0] for key in keys[1]], (a_from, a_to), (b_from, b_to))
        rows += [_describe_pair(None if a is None else rows_a[a], None if b is None else rows_b[b]) for a, b in pairs]
    return rows


def _pair_methods(
    methods_a: list[str], methods_b: list[str], span_a: tuple[int, int], span_b: tuple[int, int]
) -> list[tuple[int | None, int | None]]:
    matcher = SequenceMatcher(a=methods_a[slice(*span_a)], b=methods_b[slice(*span_b)], autojunk=False)
    pairs: list[tuple[int | None, int | None]] = []
    for tag, a_from, a_to, b_from, b_to in matcher.get_opcodes():
        left = range(span_a[0] + a_from, span_a[0] + a_to)
        right = range(span_b[0] + b_from, span_b[0] + b_to)
        if tag == "equal":
            pairs.extend(zip(left, right, strict=True))
        else:
            pairs.extend((at, None) for at in left)
            pairs.extend((None, at) for at in right)
    return pairs


def _describe_pair(first: dict[str, Any] | None, second: dict[str, Any] | None) -> dict[str, Any]:
    a, b = (None if row is None else _describe_step(row) for row in (first, second))
    differences: list[dict[str, Any]] = []
    if a is not None and b is not None:
        differences = [
            {"name": name, "a": a["parameters"].get(name), "b": b["parameters"].get(name)}
            for name in {**a["parameters"], **b["parameters"]}
            if a["parameters"].get(name) != b["parameters"].get(name)
        ]
    return {"a": a, "b": b, "same": a is not None and b is not None and not differences, "differences": differences}


def _describe_step(row: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {"columns": ", ".join(row["columns"]) or "by their roles", **dict(row["parameters"])}
    return {"number": row["number"], "title": row["title"],
            "parameters": parameters | ({} if row["enabled"] else {"state": "disabled"})}  # fmt: skip


def compare_guesses(first: Policy, second: Policy) -> list[dict[str, Any]]:
    """The attributes whose probability of being known differs."""
    rows = []
    for name in {**first.attributes, **second.attributes}:
        a, b = (policy.attributes[name].known if name in policy.attributes else None for policy in (first, second))
        if a != b:
            rows.append({"name": name, "a": _plain(a), "b": _plain(b)})
    return rows


def _plain(known: Any) -> float | None:
    return None if known is None else float(known)


def compare_limits(first: Mapping[str, Any], second: Mapping[str, Any], numbers: tuple[Numbers, Numbers]) -> list[dict[str, Any]]:
    """Every limit of either verdict: its sentence with what each requires, what was measured, and whether it is met."""
    by_name = [{limit["limit"]: limit for limit in verdict["limits"]} for verdict in (first, second)]
    rows = []
    for name in {**by_name[0], **by_name[1]}:
        described = catalogue.describe_limit(name)
        sides = [_limit_side(name, limits.get(name), measured) for limits, measured in zip(by_name, numbers, strict=True)]
        rows.append(
            {"limit": name, "meaning": described["meaning"], "comparison": described["comparison"], "a": sides[0], "b": sides[1],
             "better": _better(sides[0]["measured"], sides[1]["measured"], described["comparison"])}
        )  # fmt: skip
    return rows


def _limit_side(name: str, limit: Mapping[str, Any] | None, numbers: Numbers) -> dict[str, Any]:
    if limit is not None:
        measured = limit["found"] if _is_number(limit["found"]) else None
        sentence = describe_in_words(name, limit["wanted"])
        return {"required": limit["wanted"], "sentence": sentence, "measured": measured, "status": limit["status"]}
    measure, _, field = name.partition(".")
    value = numbers.get(measure, {}).get(field)
    return {"required": None, "sentence": "", "measured": value if _is_number(value) else None, "status": None}


def compare_numbers(kind: str, first: Numbers, second: Numbers) -> list[dict[str, Any]]:
    """The fields that both measured and that have a better direction, with which side is better: ``a``, ``b`` or ``same``."""
    rows = []
    for measure, fields in first.items():
        for field, value in fields.items():
            name, other = f"{measure}.{field}", second.get(measure, {}).get(field)
            comparison = catalogue.describe_limit(name)["comparison"]
            if comparison and _is_number(value) and _is_number(other):
                words, explanation = field_words(name)
                rows.append(
                    {"kind": kind, "name": name, "words": words, "explanation": explanation, "a": value, "b": other,
                     "better": _better(value, other, comparison)}
                )  # fmt: skip
    return sorted(rows, key=lambda row: row["better"] == "same")


def _better(first: Any, second: Any, comparison: str) -> str:
    if not _is_number(first) or not _is_number(second) or not comparison:
        return ""
    if first == second:
        return "same"
    return "a" if (first < second) == (comparison == "at most") else "b"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
