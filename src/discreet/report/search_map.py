"""The plans that a search tried, as a risk-utility map: each plan by its risk and its loss, the frontier, and the chosen plan.

Duncan, G. T., Keller-McNulty, S. A. & Stokes, S. L. (2001). Disclosure risk vs. data utility: the R-U confidentiality map.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from discreet import registry
from discreet.errors import DiscreetError, SourceError
from discreet.model.policy import Step
from discreet.report import charts
from discreet.report.redaction import Redactor
from discreet.selection.results import Selection
from discreet.selection.step_sentences import format_step

if TYPE_CHECKING:
    import altair as alt

_MOST_PLANS = 1_000
_LOG_SCALE_RATIO = 50
"""A scale is logarithmic where the largest number exceeds the smallest by this factor."""
_NO_STEPS = "nothing is masked"
_LIMITS = {True: "met", False: "not met"}


def read_selection(path: Path) -> dict[str, Any]:
    """Read a file with the output of ``discreet select --json``."""
    try:
        selection = json.loads(path.read_text(encoding="utf-8"))
        _plan_rows(selection)
    except OSError:
        raise SourceError(f"{path}: there is no such file to read") from None
    except (ValueError, KeyError, TypeError, AttributeError, DiscreetError):
        raise SourceError(f"{path}: is not the output of 'discreet select … --json'") from None
    return dict(selection)


def describe_search(selection: Selection | Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    """The search as plain values, without rare values of the data; risks in the direction of their measure."""
    search = selection_content(selection)
    rows = _plan_rows(search)
    plans = {plan["name"]: plan["plan"].get("steps", []) for plan in search["frontier"]}
    for row in rows:
        steps = [_step_text(step) for step in _redact_steps(plans.get(row["plan"], []), redactor)]
        row["steps"] = steps or ([_NO_STEPS] if row["plan"] in plans else [])
    return {
        "risk": search["risk"]["name"],
        "loss": search["loss"]["name"],
        "better": registry.resolve_limit(search["risk"]["name"])[3],
        "met": bool(search["met"]),
        "tried": int(search["tried"]),
        "tried_on_sample": int(search["tried_on_sample"]),
        "rows": rows,
        "why": [redactor.redact_sentence(str(sentence)) for sentence in search["why"]],
    }


def selection_content(selection: Selection | Mapping[str, Any]) -> Mapping[str, Any]:
    """A search in the form of ``discreet select --json``."""
    if isinstance(selection, Selection):
        return selection.to_dict() | {"placed": [plan.to_dict() for plan in selection.placed]}
    return selection


def _plan_rows(search: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row per plan: all that were tried on the whole table where the search lists them, else those of the frontier."""
    sign = -1.0 if registry.resolve_limit(search["risk"]["name"])[3] == "high" else 1.0
    frontier = {plan["name"] for plan in search["frontier"]}
    chosen = (float(search["risk"]["value"]), float(search["loss"]["value"]))
    plans = search.get("placed") or search["frontier"]
    plans = sorted(plans, key=lambda plan: plan["name"] not in frontier)[:_MOST_PLANS]  # never without the frontier
    rows = [
        {
            "plan": str(plan["name"]), "risk": sign * float(plan["risk"]) + 0.0, "loss": float(plan["loss"]),
            "kept": bool(plan["kept"]), "frontier": plan["name"] in frontier, "chosen": False,
        }
        for plan in plans
        if math.isfinite(plan["risk"]) and math.isfinite(plan["loss"])
    ]  # fmt: skip
    for row in rows:
        if (row["risk"], row["loss"]) == (sign * chosen[0] + 0.0, chosen[1]):
            row["chosen"] = True
            break
    return sorted(rows, key=lambda row: (sign * row["risk"], row["loss"]))


def _redact_steps(steps: Sequence[Mapping[str, Any]], redactor: Redactor) -> list[Mapping[str, Any]]:
    redacted: list[Mapping[str, Any]] = redactor.redact_policy({"plan": {"steps": list(steps)}})["plan"].get("steps", [])
    return redacted


def _step_text(step: Mapping[str, Any]) -> str:
    """What a step does, in words; a step of a file that is none by its form is named only."""
    try:
        return format_step(Step.model_validate(dict(step)))
    except ValidationError:
        return str(step.get("method", "a step"))


def risk_map(rows: Sequence[Mapping[str, Any]], risk: str, loss: str, better: str) -> alt.Chart:
    """The map: loss to the right, risk upwards whatever the direction of its measure; drag to pan, shift and wheel to zoom."""
    alt = charts.load_altair()
    plan_points = [
        {
            "plan": row["plan"] + (" (chosen)" if row["chosen"] else ""), "risk": row["risk"], "loss": row["loss"],
            "limits": _LIMITS[row["kept"]], "frontier": row["frontier"], "chosen": row["chosen"],
            "steps": "; ".join(row.get("steps", ())) or "not on the frontier",
        }
        for row in rows
    ]  # fmt: skip
    direction = "less is riskier" if better == "high" else "more is riskier"
    y = alt.Y(
        "risk:Q", title=f"{risk} ({direction})", scale=_scale(alt, [row["risk"] for row in plan_points], reverse=better == "high")
    )
    x = alt.X("loss:Q", title=f"{loss} (more is lost)", scale=_scale(alt, [row["loss"] for row in plan_points]))
    base = alt.Chart(alt.Data(values=plan_points), width=620, height=320)
    domain = list(_LIMITS.values())
    colours = alt.Scale(domain=domain, range=[charts.AFTER, charts.BEFORE])
    numbers = [alt.Tooltip(f"{field}:Q", title=name, format=".4~g") for field, name in (("risk", risk), ("loss", loss))]
    points = base.mark_point(size=70, filled=True, opacity=0.9).encode(
        x=x,
        y=y,
        color=alt.Color("limits:N", title="limits", scale=colours, legend=alt.Legend(orient="top")),
        shape=alt.Shape("limits:N", title="limits", scale=alt.Scale(domain=domain, range=["circle", "cross"])),
        tooltip=["plan:N", *numbers, "limits:N", "steps:N"],
    )
    line = base.transform_filter("datum.frontier").mark_line(color="currentColor", opacity=0.35, interpolate="step-after")
    ring = base.transform_filter("datum.chosen").mark_point(size=320, color="currentColor", strokeWidth=2)
    zoom = alt.selection_interval(name="zoom", bind="scales", zoom="wheel![event.shiftKey]")
    return alt.layer(line.encode(x=x, y=y, order="loss:Q"), points.add_params(zoom), ring.encode(x=x, y=y))


def _scale(alt: Any, numbers: Sequence[float], *, reverse: bool = False) -> Any:
    """Logarithmic where the numbers span orders of magnitude."""
    wide = bool(numbers) and min(numbers) > 0 and max(numbers) > _LOG_SCALE_RATIO * min(numbers)
    return alt.Scale(type="log", reverse=reverse) if wide else alt.Scale(zero=False, reverse=reverse)
