"""Charts of scores, assessments and selections, for Python and notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from discreet.errors import DataError, DiscreetError
from discreet.model.display import table_as_html
from discreet.model.results import Assessment
from discreet.model.score import Score
from discreet.model.sensitivity import Sensitivity
from discreet.report import charts
from discreet.report.histograms import describe_field, histogram
from discreet.report.page import format_number
from discreet.report.population.class_sizes import class_size_chart, class_size_rows
from discreet.report.redaction import Redactor
from discreet.report.search_map import describe_search, risk_map
from discreet.report.sensitivity_charts import plot_sensitivity
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
        return charts.display_offline(_plot_score(result))
    if isinstance(result, Assessment):
        return charts.display_offline(_plot_assessment(result))
    if isinstance(result, Selection):
        return charts.display_offline(_plot_selection(result))
    if isinstance(result, Sensitivity):
        return charts.display_offline(plot_sensitivity(result))
    raise DataError(f"there is no chart of a {type(result).__name__}")


def as_html(result: Any) -> str:
    """A result for a notebook: a table, and a chart where the result has one and Altair is installed."""
    try:
        svg = charts.to_svg(plot(result), f"plot{id(result)}", type(result).__name__, "The table contains the numbers.")
    except DiscreetError:
        svg = ""
    return f"<div>{_describe(result)}{svg}</div>"


def _plot_score(score: Score) -> alt.Chart:
    """Records by risk, or attributes by loss, or the numbers of the summary."""
    counts = histogram(score, score)
    if counts is not None and counts["rows"]:
        rows = [
            {"label": row["label"], "series": "after", "records": row["before"], "shown": f"{row['before']:,}"}
            for row in counts["rows"]
        ]
        bars = charts.bar_chart(rows, describe_field(score.measure, counts["field"]), log=True, legend=False)
        classes = class_size_rows(score)
        return charts.load_altair().vconcat(bars, class_size_chart(classes)) if len(classes) > 1 else bars
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
        parts.append(charts.bar_chart(rows, describe_field(name, counts["field"]), log=True, name=name))
    if not parts:
        raise DataError("none of the measures gives a risk per record, so there is nothing to draw")
    return parts[0] if len(parts) == 1 else charts.load_altair().vconcat(*parts)


def _plot_selection(selection: Selection) -> alt.Chart:
    """The risk-utility map of the plans tried on the whole table."""
    search = describe_search(selection, Redactor(selection.release.original, internal=True))
    return risk_map(search["rows"], search["risk"], search["loss"], search["better"])


def _describe(result: Any) -> str:
    """The result as small tables; the verdict comes first."""
    if isinstance(result, Score):
        rows = [(name, format_number(value)) for name, value in result.to_dict().items() if not isinstance(value, Mapping)]
        return table_as_html((result.measure, ""), rows) + _paragraphs(result.notes)
    if isinstance(result, Sensitivity):
        reaches = [(reach.limit, reach.subject, format_number(reach.given), reach.sentence) for reach in result.reaches]
        return _paragraphs(result.sentences) + table_as_html(("limit", "guess", "given", "how far"), reaches)
    if isinstance(result, Selection):
        verdict = _paragraphs((*result.assessment.sentences, *result.sentences))
        plans = [(plan.name, format_number(plan.risk), format_number(plan.loss)) for plan in result.frontier]
        return verdict + table_as_html(("plan", *result.axes), plans)
    limits = [
        (verdict.limit, format_number(verdict.wanted), format_number(verdict.found), verdict.status)
        for verdict in result.verdicts
    ]
    risks = [
        (
            name,
            field,
            format_number(result.before[name].to_dict().get(field)),
            format_number(value),
            _informed(result, name, field),
        )
        for name, score in result.after.items()
        for field, value in score.to_dict().items()
        if not isinstance(value, Mapping)
    ]
    losses = [
        (name, field, format_number(value))
        for name, score in result.losses.items()
        for field, value in score.to_dict().items()
        if not isinstance(value, Mapping)
    ]
    first, *others = result.sentences
    return (
        f"<p><strong>{html.escape(first)}</strong></p>{_paragraphs((*others, *result.warnings))}"
        + (table_as_html(("limit", "required", "measured", "status"), limits) if limits else "")
        + table_as_html(("risk", "field", *_SERIES.values()), risks)
        + (table_as_html(("loss", "field", "value"), losses) if losses else "")
    )


def _informed(assessment: Assessment, name: str, field: str) -> str:
    """A number of the intruder who knows the original values; empty where it is not measured."""
    return format_number(assessment.informed[name].to_dict().get(field)) if name in assessment.informed else ""


def _paragraphs(sentences: Iterable[str]) -> str:
    return "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
