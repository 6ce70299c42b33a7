"""The evidence as one HTML page: it has no links, allows its one script by its hash, and escapes every text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from discreet import registry
from discreet.assessment.limit_sentences import limit_sentence
from discreet.model.extras import require_libraries
from discreet.report import charts
from discreet.report.criteria import rows_by_criterion
from discreet.report.histograms import describe_contributions, describe_field
from discreet.report.interactive import ChartCollection, content_security_policy, page_script
from discreet.report.population.class_sizes import class_size_chart
from discreet.report.printable import show_text
from discreet.report.public_report.evidence import map_coordinate
from discreet.report.redaction import WITHHELD
from discreet.report.search_map import risk_map
from discreet.report.sensitivity_charts import tornado_chart
from discreet.report.small_counts import chart_height

if TYPE_CHECKING:
    from jinja2 import Template

_MOST_CHARTS = 40
_SERIES = {"before": "before", "after": "after", "informed": "after (attacker knows the original values)"}


def render(evidence: Mapping[str, Any]) -> str:
    """The HTML page of a report."""
    require_libraries("the report", "jinja2", "altair", "vl_convert")
    from markupsafe import Markup

    collection, script = ChartCollection(), page_script()
    criteria = rows_by_criterion(evidence["adversaries"])
    parts = {
        "histograms": [_histogram(entry, index, collection) for index, entry in enumerate(evidence["histograms"])],
        "adversaries": [
            {**entry, "informed": any(field["informed"] is not None for field in entry["fields"])}
            for entry in evidence["adversaries"]
        ],
        "contributions": [
            _contributions(entry, index, collection) for index, entry in enumerate(evidence.get("contributions", ()))
        ],
        "how_far": [_how_far(entry, index, collection) for index, entry in enumerate(evidence.get("how_far", ()))],
        "tried": _search(evidence["tried"], collection),
        "classes": [_class_sizes(entry, index, collection) for index, entry in enumerate(evidence["population"]["classes"])],
        "losses": [_loss(entry, index, collection) for index, entry in enumerate(evidence["losses"])],
        "distributions": [_distribution(entry, index, collection) for index, entry in enumerate(evidence["distributions"])],
    }
    return page_template().render(
        e=evidence,
        **parts,
        criteria=criteria,
        criteria_informed=any(row["informed"] is not None for criterion in criteria for row in criterion["rows"]),
        specs=Markup(collection.specs()),  # noqa: S704 - only our own charts, numbers and script are not escaped
        script=Markup(script),  # noqa: S704
        csp=content_security_policy(script),
        directions={limit["limit"]: registry.resolve_limit(limit["limit"])[3] for limit in evidence["verdict"]["limits"]},
        sentences={limit["limit"]: limit_sentence(limit["limit"], limit["wanted"]) for limit in evidence["verdict"]["limits"]},
        any_informed=any("informed" in row for entry in evidence["histograms"] for row in entry["rows"]),
        withheld=WITHHELD in evidence["policy"],
    )


@cache
def page_template() -> Template:
    """The template of the page, compiled once per process: compiling takes longer than rendering."""
    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=show_text)
    environment.filters.update(number=format_number, moment=format_time, parameter=format_parameter)
    return environment.from_string(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))


def as_json(evidence: Mapping[str, Any]) -> str:
    """The evidence as JSON; a number that JSON cannot represent becomes null."""
    content = {**evidence, "criteria": rows_by_criterion(evidence["adversaries"])}
    return to_json(content)


def to_json(content: Mapping[str, Any]) -> str:
    """Plain values as JSON; a number that JSON cannot represent becomes null."""
    return json.dumps(_replace_non_finite(content), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _histogram(entry: Mapping[str, Any], index: int, collection: ChartCollection) -> dict[str, Any]:
    measure, field, rows = entry["measure"], entry["field"], entry["rows"]
    x_title = describe_field(measure, field)
    caption = f"{measure}: number of records by {x_title}, before and after."
    bars = _bars(rows, ("before", "after", "informed"))
    chart = charts.bar_chart(bars, x_title, log=True) if bars else None
    svg = None if chart is None else collection.add(chart, f"risk{index}", caption, _describe_counts(rows))
    return {**entry, "svg": svg, "x": x_title, "caption": caption, "informed": any("informed" in row for row in rows)}


def _class_sizes(entry: Mapping[str, Any], index: int, collection: ChartCollection) -> dict[str, Any]:
    """The chart of population class sizes by sample class sizes."""
    caption = (
        f"{entry['measure']}: population class size by class size in the release. A bar spans 80 % of the records, the mark is "
        "the harmonic mean (the inverse of their mean risk)."
    )
    description = "; ".join(
        f"{row['label']}: {format_number(row['low'])} to {format_number(row['high'])}, mean {format_number(row['mean'])}"
        for row in entry["rows"]
    )
    return {
        **entry,
        "svg": collection.add(class_size_chart(entry["rows"]), f"classes{index}", caption, description),
        "caption": caption,
    }


def _describe_counts(rows: Sequence[Mapping[str, Any]]) -> str:
    """The text alternative of a chart of counts before and after."""
    return "; ".join(
        f"{row['label']}: {format_number(row['before'])} before, {format_number(row['after'])} after" for row in rows
    )


def _bars(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    """One bar per label and series; a count that is not shown has none."""
    return [
        {"label": row["label"], "series": _SERIES[name], "records": height, "shown": format_number(row[name])}
        for row in rows
        for name in names
        if (height := chart_height(row.get(name))) is not None
    ]


def _contributions(entry: Mapping[str, Any], index: int, collection: ChartCollection) -> dict[str, Any]:
    caption = f"{entry['measure']}: {entry['meaning']}, before and after."
    bars = [
        {"label": row["label"], "series": series, "records": row[series], "shown": format_number(row[series])}
        for row in entry["rows"]
        for series in ("before", "after")
    ]
    chart = charts.horizontal_bar_chart(bars, width=480, legend=True)
    svg = collection.add(chart, f"contributions{index}", caption, describe_contributions(entry))
    return {**entry, "svg": svg, "caption": caption}


def _how_far(entry: Mapping[str, Any], index: int, collection: ChartCollection) -> dict[str, Any]:
    """The sentences on how far the verdicts of a measure hold, and the tornado of its guesses."""
    if not entry["rows"]:
        return {**entry, "svg": None, "caption": ""}
    caption = f"{entry['measure']}: change of the mean risk where one guess is ten percent less, or more."
    description = "; ".join(f"{row['label']}: {row['less']:+.1%} to {row['more']:+.1%}" for row in entry["rows"])
    svg = collection.add(tornado_chart(entry["rows"]), f"tornado{index}", caption, description)
    return {**entry, "svg": svg, "caption": caption}


def _search(search: Mapping[str, Any] | None, collection: ChartCollection) -> dict[str, Any] | None:
    """The plans that a search tried, with their risk-utility map."""
    if search is None or not search["rows"]:
        return None
    frontier = [row for row in search["rows"] if row["frontier"] or row["chosen"]]
    caption = f"{len(search['rows']):,} plans by {search['risk']} and {search['loss']}; "
    caption += "the ring marks the chosen plan, the line the frontier."
    description = "; ".join(
        f"{row['plan']}{' (chosen)' if row['chosen'] else ''}: risk {format_number(row['risk'])}, "
        f"loss {format_number(row['loss'])}, limits {'met' if row['kept'] else 'not met'}"
        for row in frontier
    )
    points = [{**row, "risk": map_coordinate(row["risk"]), "loss": map_coordinate(row["loss"])} for row in search["rows"]]
    chart = risk_map(points, search["risk"], search["loss"], search["better"])
    return {**search, "svg": collection.add(chart, "map", caption, description), "caption": caption, "edge": frontier}


def _loss(entry: Mapping[str, Any], index: int, collection: ChartCollection) -> dict[str, Any]:
    bars = [
        {"label": row["attribute"], "value": float(row["loss"])}
        for row in entry["attributes"]
        if isinstance(row.get("loss"), int | float) and "attribute" in row
    ]
    if not any(bar["value"] for bar in bars):
        return {**entry, "svg": None, "caption": f"{entry['measure']}: 0 for every attribute." if bars else ""}
    bars.sort(key=lambda bar: -bar["value"])
    caption = f"{entry['measure']}: information loss by attribute, from 0 (unchanged) to 1 (no information left)."
    description = "; ".join(f"{bar['label']}: {bar['value']:.4g}" for bar in bars)
    svg = collection.add(charts.share_chart(bars[:_MOST_CHARTS], "loss"), f"loss{index}", caption, description)
    return {**entry, "svg": svg, "caption": caption}


def _distribution(entry: Mapping[str, Any], index: int, collection: ChartCollection) -> dict[str, Any]:
    bars = _bars(entry["rows"], ("before", "after"))
    if not bars or index >= _MOST_CHARTS:
        return {**entry, "svg": None}
    title = f"{entry['attribute']}: records by value, before and after"
    svg = collection.add(charts.horizontal_bar_chart(bars), f"dist{index}", title, _describe_counts(entry["rows"]))
    return {**entry, "svg": svg}


def format_number(value: Any) -> str:
    """A number as text: thousands separators, floats with four significant digits."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):  # the ends of a range
        return " to ".join(map(format_number, value))
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer() and abs(value) < 1e15):
        return f"{int(value):,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e5 else f"{value:,.0f}"
    return str(value)


def format_time(text: str) -> str:
    """An ISO 8601 time in UTC as text, for example 2026-11-15 at 23:05 UTC."""
    return f"{text[:10]} at {text[11:16]} UTC"


def format_parameter(value: Any) -> str:
    """The value of a parameter as text."""
    if value is None or value in ([], {}, ""):
        return "not set"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict | bool) else format_number(value)


def _replace_non_finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _replace_non_finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_non_finite(inner) for inner in value]
    return None if isinstance(value, float) and not float("-inf") < value < float("inf") else value
