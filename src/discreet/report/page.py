"""The evidence as one page: it leads nowhere, its one script is named by its hash, and every text is escaped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from discreet import registry
from discreet.errors import DiscreetError
from discreet.report import charts, live
from discreet.report.live import Gallery
from discreet.report.public import position
from discreet.report.redaction import WITHHELD
from discreet.report.search_map import risk_map
from discreet.report.small_counts import height_of

_CHARTS = 40
_SERIES = {"before": "before", "after": "after", "informed": "after (attacker knows the original values)"}


def render(evidence: Mapping[str, Any]) -> str:
    """The page as text."""
    try:
        from jinja2 import Environment
        from markupsafe import Markup
    except ImportError:
        raise DiscreetError("the report needs Jinja2, which is not installed: pip install 'discreet[report]'") from None
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(number=number, moment=moment, parameter=parameter)
    page = environment.from_string(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    gallery, code = Gallery(), live.script()
    parts = {
        "histograms": [_histogram(one, at, gallery) for at, one in enumerate(evidence["histograms"])],
        "adversaries": [
            {**one, "informed": any(field["informed"] is not None for field in one["fields"])} for one in evidence["adversaries"]
        ],
        "tried": _tried(evidence["tried"], gallery),
        "losses": [_loss(one, at, gallery) for at, one in enumerate(evidence["losses"])],
        "distributions": [_distribution(one, at, gallery) for at, one in enumerate(evidence["distributions"])],
    }
    return page.render(
        e=evidence,
        **parts,
        specs=Markup(gallery.specs()),  # noqa: S704 - only drawings, numbers and the script of our own go in as they are
        script=Markup(code),  # noqa: S704
        csp=live.policy(code),
        directions={v["limit"]: registry.direction(v["limit"])[3] for v in evidence["verdict"]["limits"]},
        any_informed=any("informed" in row for one in evidence["histograms"] for row in one["rows"]),
        withheld=WITHHELD in evidence["policy"],
    )


def as_json(evidence: Mapping[str, Any]) -> str:
    """The evidence for machines; a number that JSON cannot hold becomes null."""
    return json.dumps(_finite(evidence), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _histogram(one: Mapping[str, Any], at: int, gallery: Gallery) -> dict[str, Any]:
    informed = any("informed" in row for row in one["rows"])
    rows = _bars(one["rows"], ("before", "after", "informed"))
    x = "size of the equivalence class" if one["field"] == "class_size" else f"{one['field']} of a record ({one['measure']})"
    what = "size of their equivalence class" if one["field"] == "class_size" else one["field"]
    caption = f"{one['measure']}: records by {what}, before and after."
    words = "; ".join(f"{row['label']}: {number(row['before'])} before, {number(row['after'])} after" for row in one["rows"])
    drawn = gallery.hang(charts.bars(rows, x, log=True), f"risk{at}", caption, words) if rows else None
    return {**one, "svg": drawn, "x": x, "caption": caption, "informed": informed}


def _bars(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    """One bar per label and series; a count that is not shown has none."""
    return [
        {"label": row["label"], "series": _SERIES[name], "records": height, "shown": number(row[name])}
        for row in rows
        for name in names
        if (height := height_of(row.get(name))) is not None
    ]


def _tried(one: Mapping[str, Any] | None, gallery: Gallery) -> dict[str, Any] | None:
    if one is None or not one["rows"]:
        return None
    edge = [row for row in one["rows"] if row["frontier"] or row["chosen"]]
    caption = f"{len(one['rows']):,} plans by {one['risk']} and {one['loss']}; the ring is the chosen one, the line the frontier."
    told = "; ".join(
        f"{row['plan']}{' (chosen)' if row['chosen'] else ''}: risk {number(row['risk'])}, loss {number(row['loss'])}, limits "
        f"{'met' if row['kept'] else 'not met'}"
        for row in edge
    )
    placed = [{**row, "risk": position(row["risk"]), "loss": position(row["loss"])} for row in one["rows"]]
    drawn = gallery.hang(risk_map(placed, one["risk"], one["loss"], one["better"]), "map", caption, told)
    return {**one, "svg": drawn, "caption": caption, "edge": edge}


def _loss(one: Mapping[str, Any], at: int, gallery: Gallery) -> dict[str, Any]:
    rows = [
        {"label": row["attribute"], "value": float(row["loss"])}
        for row in one["attributes"]
        if isinstance(row.get("loss"), int | float) and "attribute" in row
    ]
    if not rows:
        return {**one, "svg": None, "caption": ""}
    rows.sort(key=lambda row: -row["value"])
    caption = f"{one['measure']}: loss by attribute, 0 (kept) to 1 (nothing left)."
    told = "; ".join(f"{row['label']}: {row['value']:.4g}" for row in rows)
    drawn = gallery.hang(charts.shares(rows[:_CHARTS], "loss"), f"loss{at}", caption, told)
    return {**one, "svg": drawn, "caption": caption}


def _distribution(one: Mapping[str, Any], at: int, gallery: Gallery) -> dict[str, Any]:
    rows = _bars(one["rows"], ("before", "after"))
    if not rows or at >= _CHARTS:
        return {**one, "svg": None}
    told = "; ".join(f"{row['label']}: {number(row['before'])} before, {number(row['after'])} after" for row in one["rows"])
    drawn = gallery.hang(charts.sideways(rows), f"dist{at}", f"{one['attribute']}: records by value before and after", told)
    return {**one, "svg": drawn}


def number(value: Any) -> str:
    """A number as a person reads it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer() and abs(value) < 1e15):
        return f"{int(value):,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e5 else f"{value:,.0f}"
    return str(value)


def moment(text: str) -> str:
    """A time of the form 2026-11-15T23:05:50+00:00 without its decoration."""
    return f"{text[:10]} at {text[11:16]} UTC"


def parameter(value: Any) -> str:
    """A parameter as a policy writes it."""
    if value is None or value in ([], {}, ""):
        return "not set"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict | bool) else number(value)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not float("-inf") < value < float("inf") else value
