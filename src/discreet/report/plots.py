"""Charts of scores, assessments and selections, for Python and notebooks."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from discreet.errors import DataError, DiscreetError
from discreet.model.results import Assessment
from discreet.model.score import Score
from discreet.report import charts
from discreet.report.histograms import histogram
from discreet.report.page import format_number
from discreet.report.redaction import Redactor
from discreet.report.search_map import describe_search, risk_map
from discreet.selection.results import Selection

if TYPE_CHECKING:
    import altair as alt

_SERIES = {"before": "before", "after": "after", "informed": "after (attacker knows the original values)"}


def plot(result: Any) -> alt.Chart:
    """The chart of a result.

    >>> import discreet
    >>> from discreet.testing import hospital
    >>> type(discreet.risk(hospital(50), "k_anonymity")["k_anonymity"].plot()).__name__
    'Chart'
    """
    if isinstance(result, Score):
        return _plot_score(result)
    if isinstance(result, Assessment):
        return _plot_assessment(result)
    if isinstance(result, Selection):
        return _plot_selection(result)
    raise DataError(f"there is no chart of a {type(result).__name__}")


def as_html(result: Any) -> str:
    """A result for a notebook: a table, and a chart where the result has one and Altair is installed."""
    try:
        svg = charts.to_svg(plot(result), f"plot{id(result)}", type(result).__name__, "The table contains the numbers.")
    except DiscreetError:
        svg = ""
    return f"<div>{_table(result)}{svg}</div>"


def _plot_score(score: Score) -> alt.Chart:
    """Records by risk, or attributes by loss, or the numbers of the summary."""
    counts = histogram(score, score)
    if counts is not None and counts["rows"]:
        rows = [
            {"label": row["label"], "series": "after", "records": row["before"], "shown": f"{row['before']:,}"}
            for row in counts["rows"]
        ]
        return charts.bar_chart(rows, f"{counts['field']} of a record ({score.measure})", log=True, legend=False)
    attributes = score.per_attribute
    if attributes is not None and {"attribute", "loss"} <= set(attributes.columns):
        rows = [{"label": row["attribute"], "value": row["loss"] or 0.0} for row in attributes.iter_rows(named=True)]
        return charts.share_chart(rows, f"loss ({score.measure})")
    numbers = {name: value for name, value in score.to_dict().items() if isinstance(value, int | float)}
    if not numbers:
        raise DataError(f"{score.measure} has no number to draw")
    return charts.share_chart([{"label": name, "value": float(value)} for name, value in numbers.items()], score.measure)


def _plot_assessment(assessment: Assessment) -> alt.Chart:
    """Records by risk before and after: one chart per measure that gives a number per record."""
    parts = []
    for name, after in assessment.after.items():
        counts = histogram(assessment.before[name], after, assessment.informed.get(name))
        if counts is None:
            continue
        rows = [
            {"label": row["label"], "series": _SERIES[series], "records": row[series], "shown": f"{row[series]:,}"}
            for row in counts["rows"]
            for series in _SERIES
            if series in row
        ]
        parts.append(charts.bar_chart(rows, f"{counts['field']} of a record ({name})", log=True, name=name))
    if not parts:
        raise DataError("none of the measures gives a risk per record, so there is nothing to draw")
    return parts[0] if len(parts) == 1 else charts.load_altair().vconcat(*parts)


def _plot_selection(selection: Selection) -> alt.Chart:
    """The risk-utility map of the plans tried on the whole table."""
    search = describe_search(selection, Redactor(selection.release.original, internal=True))
    return risk_map(search["rows"], search["risk"], search["loss"], search["better"])


def _table(result: Any) -> str:
    rows: list[tuple[str, ...]]
    if isinstance(result, Score):
        headings: tuple[str, ...] = (result.measure, "")
        rows = [(name, format_number(value)) for name, value in result.to_dict().items() if not isinstance(value, Mapping)]
    elif isinstance(result, Assessment):
        headings = ("measure", "field", "before", "after")
        rows = [
            (name, field, format_number(result.before[name].to_dict().get(field)), format_number(value))
            for name, score in result.after.items()
            for field, value in score.to_dict().items()
            if not isinstance(value, Mapping)
        ]
    else:
        headings = ("plan", "risk", "loss")
        rows = [(plan.name, format_number(plan.risk), format_number(plan.loss)) for plan in result.frontier]
    head = "".join(f"<th>{html.escape(heading)}</th>" for heading in headings)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
