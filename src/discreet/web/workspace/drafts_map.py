"""The risk-utility map of a project: every draft and release by one risk and one loss."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from discreet import registry
from discreet.web.pages.assess import choose_axis, list_axes, map_points
from discreet.web.pages.forms import catalogue
from discreet.web.projects import releases
from discreet.web.projects.projects import Project


def map_of(connection: Connection, project: Project) -> dict[str, Any] | None:
    """The points with their places in a square of 100, and what the axes say; None before anything was run."""
    made = releases.list_releases(connection, project)
    axes = list_axes(made)
    risk, loss = (choose_axis(axes, kind, "", made) for kind in ("risk", "loss"))
    points = map_points(connection, project, risk, loss) if risk and loss else []
    if not points:
        return None
    upside_down = registry.resolve_limit(risk)[3] == "high"
    across, up = ([point[axis] for point in points] for axis in ("loss", "risk"))
    placed = [
        point | {"x": _place(point["loss"], across), "y": 100 - _place(point["risk"], up)}
        for point in points
    ]  # fmt: skip
    return {
        "points": placed,
        "risk": catalogue.describe_limit(risk)["meaning"] or risk,
        "loss": catalogue.describe_limit(loss)["meaning"] or loss,
        "risk_name": risk,
        "loss_name": loss,
        "risk_ends": (min(up), max(up)),
        "loss_ends": (min(across), max(across)),
        "safer": "up" if upside_down else "down",
    }


def _place(value: float, values: list[float]) -> float:
    low, high = min(values), max(values)
    return 50.0 if low == high else 8 + 84 * (value - low) / (high - low)
