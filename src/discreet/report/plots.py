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
from discreet.report.page import number
from discreet.report.redaction import Discretion
from discreet.report.search_map import risk_map, tried
from discreet.selection.results import Selection

if TYPE_CHECKING:
    import altair as alt

_NAMES = {"before": "before", "after": "after", "informed": "after (attacker knows the original values)"}


def plot(result: Any) -> alt.Chart:
    """The chart of a result.

    >>> import discreet
    >>> from discreet.testing import hospital
    >>> type(discreet.risk(hospital(50), "k_anonymity")["k_anonymity"].plot()).__name__
    'Chart'
    """
    if isinstance(result, Score):
        return _score(result)
    if isinstance(result, Assessment):
        return _assessment(result)
    if isinstance(result, Selection):
        return _selection(result)
    raise DataError(f"there is no chart of a {type(result).__name__}")


def as_html(result: Any) -> str:
    """A result as a notebook shows it: its numbers, and its chart where it has one and the library is there."""
    try:
        drawn = charts.svg(plot(result), f"plot{id(result)}", type(result).__name__, "See the table beside it for the numbers.")
    except DiscreetError:
        drawn = ""
    return f"<div>{_table(result)}{drawn}</div>"


def _score(score: Score) -> alt.Chart:
    """Records by risk, or attributes by loss, or the plain numbers of the summary."""
    made = histogram(score, score)
    if made is not None and made["rows"]:
        rows = [
            {"label": row["label"], "series": "after", "records": row["before"], "shown": f"{row['before']:,}"}
            for row in made["rows"]
        ]
        return charts.bars(rows, f"{made['field']} of a record ({score.measure})", log=True, legend=False)
    frame = score.per_attribute
    if frame is not None and {"attribute", "loss"} <= set(frame.columns):
        rows = [{"label": row["attribute"], "value": row["loss"] or 0.0} for row in frame.iter_rows(named=True)]
        return charts.shares(rows, f"loss ({score.measure})")
    numbers = {name: value for name, value in score.to_dict().items() if isinstance(value, int | float)}
    if not numbers:
        raise DataError(f"{score.measure} found no number to draw")
    return charts.shares([{"label": name, "value": float(value)} for name, value in numbers.items()], score.measure)


def _assessment(found: Assessment) -> alt.Chart:
    """Records by risk before and after, a chart a measure that tells single records."""
    made = []
    for name, after in found.after.items():
        one = histogram(found.before[name], after, found.informed.get(name))
        if one is None:
            continue
        rows = [
            {"label": row["label"], "series": _NAMES[series], "records": row[series], "shown": f"{row[series]:,}"}
            for row in one["rows"]
            for series in _NAMES
            if series in row
        ]
        made.append(charts.bars(rows, f"{one['field']} of a record ({name})", log=True, name=name))
    if not made:
        raise DataError("none of the measures tells a risk for each record, so there is nothing to draw")
    return made[0] if len(made) == 1 else charts.altair().vconcat(*made)


def _selection(found: Selection) -> alt.Chart:
    """The risk-utility map of the plans tried on the whole table."""
    told = tried(found, Discretion(found.release.original, internal=True))
    return risk_map(told["rows"], told["risk"], told["loss"], told["better"])


def _table(result: Any) -> str:
    rows: list[tuple[str, ...]]
    if isinstance(result, Score):
        heads: tuple[str, ...] = (result.measure, "")
        rows = [(name, number(value)) for name, value in result.to_dict().items() if not isinstance(value, Mapping)]
    elif isinstance(result, Assessment):
        heads = ("measure", "field", "before", "after")
        rows = [
            (name, field, number(result.before[name].to_dict().get(field)), number(value))
            for name, score in result.after.items()
            for field, value in score.to_dict().items()
            if not isinstance(value, Mapping)
        ]
    else:
        heads = ("plan", "risk", "loss")
        rows = [(one.name, number(one.risk), number(one.loss)) for one in result.frontier]
    head = "".join(f"<th>{html.escape(word)}</th>" for word in heads)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
