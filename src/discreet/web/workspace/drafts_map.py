"""The risk-utility map of a project: every draft and release by one risk and one loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet import registry
from discreet.selection.frontier import MapPoint, mark_dominated
from discreet.web.pages.forms import catalogue
from discreet.web.projects import releases
from discreet.web.projects.releases import Release

_LABEL_GAPS = {"x": 7.0, "y": 6.5}
"""Texts of points that are closer than this in both directions would overlap."""
_LABEL_ROOM = 60.0
"""A point further to the right has its text on its left, where there is room for several numbers."""
_MOST_LABELS = 4


def map_of(listed: Sequence[Release]) -> dict[str, Any] | None:
    """Releases, newest first, as points in a square of 100, with what the axes say; None before anything was run."""
    axes = list_axes(listed)
    risk, loss = (choose_axis(axes, kind, "", listed) for kind in ("risk", "loss"))
    points = map_points(listed, risk, loss) if risk and loss else []
    return lay_out(points, risk, loss) if points else None


def lay_out(points: Sequence[Mapping[str, Any]], risk: str, loss: str) -> dict[str, Any]:
    """Points (each with ``risk`` and ``loss``) with their places in a square of 100, and what the axes say."""
    across, up = ([float(point[axis]) for point in points] for axis in ("loss", "risk"))
    on_map = [
        {**point, "x": _place(point["loss"], across), "y": 100 - _place(point["risk"], up)}
        for point in points
    ]  # fmt: skip
    _place_labels(on_map)
    return {
        "points": on_map,
        "risk": catalogue.describe_limit(risk)["meaning"] or risk,
        "loss": catalogue.describe_limit(loss)["meaning"] or loss,
        "risk_name": risk,
        "loss_name": loss,
        "risk_ends": (min(up), max(up)),
        "loss_ends": (min(across), max(across)),
        "risk_ticks": _ticks(up),
        "loss_ticks": _ticks(across),
        "safer": "up" if registry.resolve_limit(risk)[3] == "high" else "down",
    }


def _place_labels(points: list[dict[str, Any]]) -> None:
    """Give each point the text beside it and whether it stands on its left; points whose texts would overlap share one.

    The drafts A and B of a comparison have theirs on the right and on the left, so that they never share one.
    """
    firsts: list[tuple[dict[str, Any], list[str]]] = []
    for point in points:
        label, side = str(point.get("label", point.get("release", ""))), point.get("side")
        point |= {"text": "", "on_left": side == "b" or (not side and point["x"] > _LABEL_ROOM)}
        shared = [
            names for first, names in firsts
            if first["on_left"] == point["on_left"]
            and all(abs(first[axis] - point[axis]) < gap for axis, gap in _LABEL_GAPS.items())
        ]  # fmt: skip
        if shared:
            shared[0].append(label)
        else:
            firsts.append((point, [label]))
    for first, names in firsts:
        more = f" and {len(names) - _MOST_LABELS} more" if names[_MOST_LABELS:] else ""
        first["text"] = ", ".join(names[:_MOST_LABELS]) + more


def list_axes(all_releases: Sequence[Release]) -> dict[str, list[dict[str, str]]]:
    """The measure fields that can be axes of the map: MEASURE.FIELD with its meaning, per kind (risk, loss)."""
    axes: dict[str, list[dict[str, str]]] = {"risk": [], "loss": []}
    for kind, part in (("risk", "after"), ("loss", "losses")):
        names = dict.fromkeys(
            f"{measure}.{field}"
            for release in all_releases
            for measure, fields in release.assessment.get(part, {}).items()
            for field, value in fields.items()
            if isinstance(value, int | float)
        )
        for name in names:
            description = catalogue.describe_limit(name)
            if description["comparison"]:
                axes[kind].append({"name": name, **description})
    return axes


def choose_axis(axes: Mapping[str, list[dict[str, str]]], kind: str, requested: str, all_releases: Sequence[Release]) -> str:
    """The requested axis if it exists, else the first one with a limit, else the default, else the first."""
    names = [axis["name"] for axis in axes[kind]]
    limit_names = [limit for release in all_releases[:1] for limit in release.policy.get("limits", {})]
    candidates = [requested, *limit_names, "known_sets.mean" if kind == "risk" else "ncp.loss"]
    return next((name for name in candidates if name in names), names[0] if names else "")


def map_points(listed: Sequence[Release], risk: str, loss: str) -> list[dict[str, Any]]:
    """Releases, newest first, as points of the map, with the dominated ones marked."""
    points = releases.risk_loss_points(listed, risk, loss)
    signs = [-1.0 if registry.resolve_limit(name)[3] == "high" else 1.0 for name in (risk, loss)]
    marked = mark_dominated(
        [MapPoint(str(point["release"]), signs[0] * point["risk"], signs[1] * point["loss"]) for point in points]
    )
    return [point | {"dominated": mark.dominated} for point, mark in zip(points, marked, strict=True)]


def _ticks(values: list[float]) -> list[tuple[float, float]]:
    """The ends of an axis: (number, place in the square of 100)."""
    return [(end, _place(end, values)) for end in dict.fromkeys((min(0.0, *values), max(values)))]


def _place(value: float, values: list[float]) -> float:
    low, high = min(0.0, *values), max(values)  # from 0, so that a small difference looks small
    return 50.0 if low == high else 8 + 84 * (value - low) / (high - low)
