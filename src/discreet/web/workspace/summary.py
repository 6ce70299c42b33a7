"""The views as plain values, the same for the page and for the REST interface."""

from __future__ import annotations

from typing import Any

from discreet.web.errors import InvalidRequest
from discreet.web.pages.forms import catalogue
from discreet.web.workspace.desk import Desk, Views
from discreet.web.workspace.multiples import Multiple
from discreet.web.workspace.preview import NOT_COVERED, Preview
from discreet.web.workspace.records import PAGE_RECORDS, RecordPage, list_records, listed_columns
from discreet.web.workspace.risks import RecordRisks
from discreet.web.workspace.view import View


def describe_verdict(desk: Desk, preview: Preview) -> dict[str, Any]:
    """The verdict: of the whole table where it was run, else of the sample; with every limit and gap."""
    if desk.whole is not None:
        stored = desk.whole.assessment.get("verdict", {})
        limits, gaps, status = stored.get("limits", []), stored.get("gaps", []), desk.whole.status
        sentence = str(stored.get("sentence", ""))
    else:
        content = preview.assessment.to_dict()
        limits, gaps, status = content["limits"], [NOT_COVERED, *content["gaps"]], content["status"]
        sentence = next((text for text in preview.assessment.sentences if text.startswith(("Met", "Not met", "Incomplete"))), "")
        if status == "met":  # nothing was said of coverage, so a preview is never the last word
            sentence = "Every limit is met on the sample."
    rows = [limit | catalogue.describe_limit(limit["limit"]) for limit in limits]
    return {
        "whole": desk.whole is not None, "release": desk.whole.number if desk.whole is not None else None, "status": status,
        "sentence": catalogue.without_commands(sentence), "limits": rows, "gaps": gaps,
    }  # fmt: skip


def describe_threshold(risks: RecordRisks, threshold: float) -> str:
    """A threshold in words."""
    if risks.measure == "k_anonymity":
        return f"easier to find than 1 in {1 / threshold:,.0f}"
    return f"risk above {threshold:.3g}"


def count_at(risks: RecordRisks, at: int) -> dict[str, Any]:
    """What is above one position of the slider."""
    threshold = risks.thresholds[at]
    before, after = risks.counts[at]
    return {
        "at": at, "threshold": threshold, "words": describe_threshold(risks, threshold),
        "place": round(risks.places[at], 5),
        "before": before.measured, "before_low": before.low, "before_high": before.high,
        "after": after.measured, "after_low": after.low, "after_high": after.high,
    }  # fmt: skip


def describe_positions(risks: RecordRisks) -> list[dict[str, Any]]:
    """Every position of the slider with its counts, so that dragging needs no request."""
    return [count_at(risks, at) for at in range(len(risks.thresholds))]


def describe_multiple(one: Multiple) -> dict[str, Any]:
    """The distribution of one attribute."""
    return {
        "name": one.name, "labels": list(one.bars.labels), "before": one.before, "after": one.after,
        "own_labels": None if one.own_bars is None else list(one.own_bars.labels), "own_after": one.own_after,
        "changed": one.changed, "released": one.released, "removed": one.removed,
    }  # fmt: skip


def describe_brush(views: Views, view: View) -> str:
    """The label of the brushed bar of an attribute; empty where none is brushed."""
    labels = next((one.bars.labels for one in views.multiples if one.name == view.on), ())
    return labels[view.bar] if view.bar is not None and view.bar < len(labels) else ""


def list_page(
    desk: Desk, preview: Preview, views: Views, risks: RecordRisks, view: View, threshold: float, size: int = PAGE_RECORDS
) -> RecordPage:
    """A page of the risky records that a view shows."""
    bars = None
    if view.on and not view.brushes_risk:
        matching = [one.bars for one in views.multiples if one.name == view.on]
        if not matching:
            raise InvalidRequest(f"there is no distribution of '{view.on[:80]}'")
        bars = matching[0]
    columns = listed_columns(desk.policy, preview.original, "" if view.brushes_risk else view.on)
    return list_records(risks, view, threshold, columns, desk.existing_file, bars, size)
