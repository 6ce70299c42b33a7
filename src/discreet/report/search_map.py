"""What the wizard tried, as a risk-utility map: each plan by its risk and its loss, the frontier, and the one that was chosen.

Duncan, G. T., Keller-McNulty, S. A. & Stokes, S. L. (2001). Disclosure risk vs. data utility: the R-U confidentiality map.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import registry
from discreet.errors import DiscreetError, SourceError
from discreet.report import charts
from discreet.report.redaction import Discretion
from discreet.selection.results import Selection

if TYPE_CHECKING:
    import altair as alt

_MOST = 1_000
_SPREAD = 50
_SAID = ("method", "columns", "enabled", "reason")
_LIMITS = {True: "met", False: "not met"}


def read_selection(path: Path) -> dict[str, Any]:
    """What ``discreet select --json`` printed into a file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        _rows(found)
    except OSError:
        raise SourceError(f"{path}: there is no such file to read") from None
    except (ValueError, KeyError, TypeError, AttributeError, DiscreetError):
        raise SourceError(f"{path}: is not what 'discreet select … --json' prints") from None
    return dict(found)


def tried(selection: Selection | Mapping[str, Any], discretion: Discretion) -> dict[str, Any]:
    """The search as plain values, without rare values of the data; risks in their measure's own direction."""
    found = content(selection)
    rows = _rows(found)
    plans = {one["name"]: one["plan"].get("steps", []) for one in found["frontier"]}
    for row in rows:
        row["steps"] = [_step_text(step) for step in _discreet(plans.get(row["plan"], []), discretion)]
    return {
        "risk": found["risk"]["name"],
        "loss": found["loss"]["name"],
        "better": registry.direction(found["risk"]["name"])[3],
        "met": bool(found["met"]),
        "tried": int(found["tried"]),
        "tried_on_sample": int(found["tried_on_sample"]),
        "rows": rows,
        "why": [discretion.sentence(str(sentence)) for sentence in found["why"]],
    }


def content(selection: Selection | Mapping[str, Any]) -> Mapping[str, Any]:
    """A search as ``discreet select --json`` prints it."""
    if isinstance(selection, Selection):
        return selection.to_dict() | {"placed": [one.to_dict() for one in selection.placed]}
    return selection


def _rows(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row a plan: all that were tried on the whole table where they are told, else those of the frontier."""
    sign = -1.0 if registry.direction(found["risk"]["name"])[3] == "high" else 1.0
    edge = {one["name"] for one in found["frontier"]}
    here = (float(found["risk"]["value"]), float(found["loss"]["value"]))
    placed = found.get("placed") or found["frontier"]
    placed = sorted(placed, key=lambda one: one["name"] not in edge)[:_MOST]  # the frontier is never left out
    rows = [
        {
            "plan": str(one["name"]), "risk": sign * float(one["risk"]) + 0.0, "loss": float(one["loss"]),
            "kept": bool(one["kept"]), "frontier": one["name"] in edge, "chosen": False,
        }
        for one in placed
        if math.isfinite(one["risk"]) and math.isfinite(one["loss"])
    ]  # fmt: skip
    for row in rows:
        if (row["risk"], row["loss"]) == (sign * here[0] + 0.0, here[1]):
            row["chosen"] = True
            break
    return sorted(rows, key=lambda row: (sign * row["risk"], row["loss"]))


def _discreet(steps: Sequence[Mapping[str, Any]], discretion: Discretion) -> list[Mapping[str, Any]]:
    made: list[Mapping[str, Any]] = discretion.policy({"plan": {"steps": list(steps)}})["plan"].get("steps", [])
    return made


def _step_text(step: Mapping[str, Any]) -> str:
    said = ", ".join(f"{name} {value}" for name, value in step.items() if name not in _SAID)
    columns = f" of {', '.join(step['columns'])}" if step.get("columns") else ""
    return f"{step['method']}{columns}" + (f" ({said})" if said else "")


def risk_map(rows: Sequence[Mapping[str, Any]], risk: str, loss: str, better: str) -> alt.Chart:
    """The map: loss to the right, risk upwards whichever way its measure counts; drag moves it, shift and wheel zoom."""
    alt = charts.altair()
    shown = [
        {
            "plan": row["plan"] + (" (chosen)" if row["chosen"] else ""), "risk": row["risk"], "loss": row["loss"],
            "limits": _LIMITS[row["kept"]], "frontier": row["frontier"], "chosen": row["chosen"],
            "steps": "; ".join(row.get("steps", ())) or "not on the frontier",
        }
        for row in rows
    ]  # fmt: skip
    word = "less is riskier" if better == "high" else "more is riskier"
    y = alt.Y("risk:Q", title=f"{risk} ({word})", scale=_scale(alt, [row["risk"] for row in shown], reverse=better == "high"))
    x = alt.X("loss:Q", title=f"{loss} (more is lost)", scale=_scale(alt, [row["loss"] for row in shown]))
    base = alt.Chart(alt.Data(values=shown), width=620, height=320)
    domain = list(_LIMITS.values())
    colours = alt.Scale(domain=domain, range=[charts.AFTER, charts.BEFORE])
    told = [alt.Tooltip(f"{field}:Q", title=name, format=".4~g") for field, name in (("risk", risk), ("loss", loss))]
    points = base.mark_point(size=70, filled=True, opacity=0.9).encode(
        x=x,
        y=y,
        color=alt.Color("limits:N", title="limits", scale=colours, legend=alt.Legend(orient="top")),
        shape=alt.Shape("limits:N", title="limits", scale=alt.Scale(domain=domain, range=["circle", "cross"])),
        tooltip=["plan:N", *told, "limits:N", "steps:N"],
    )
    line = base.transform_filter("datum.frontier").mark_line(color="currentColor", opacity=0.35, interpolate="step-after")
    ring = base.transform_filter("datum.chosen").mark_point(size=320, color="currentColor", strokeWidth=2)
    zoom = alt.selection_interval(name="zoom", bind="scales", zoom="wheel![event.shiftKey]")
    return alt.layer(line.encode(x=x, y=y, order="loss:Q"), points.add_params(zoom), ring.encode(x=x, y=y))


def _scale(alt: Any, numbers: Sequence[float], *, reverse: bool = False) -> Any:
    """Logarithmic where the numbers span orders of magnitude."""
    wide = bool(numbers) and min(numbers) > 0 and max(numbers) > _SPREAD * min(numbers)
    return alt.Scale(type="log", reverse=reverse) if wide else alt.Scale(zero=False, reverse=reverse)
