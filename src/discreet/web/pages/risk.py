"""Risk of the initial microdata: the five adversaries, the highest-risk records, and the risk by attribute and set."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from fastapi import APIRouter, Request, Response

from discreet.assessment.adversaries import ADVERSARIES
from discreet.report import charts
from discreet.report.histograms import describe_contributions
from discreet.report.maps import standalone_svg
from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore
from discreet.web.errors import InvalidRequest, NotFound
from discreet.web.jobs import queue
from discreet.web.pages.charts import SVG_HEADERS
from discreet.web.pages.forms import catalogue
from discreet.web.pages.forms.fields import format_value
from discreet.web.pages.rendering import redirect, render_page
from discreet.web.projects import access_log, policies, projects

router = APIRouter(prefix="/projects/{number}/risk")
ATTACKER_KNOWLEDGE = {
    "known_sets": "knows each attribute of a person with the probability given for it",
    "k_anonymity": "knows all quasi-identifiers of the target person",
    "target_linkage": "has a register of persons to link with",
    "repeated_records": "targets a person who has several records",
    "decision": "has a dictionary of the whole population; disclosures are weighted by sensitivity",
}


@router.get("")
def show(request: Request, core: ServerCore, session: CurrentSession, number: int) -> Response:
    """Show the latest measurement, and the form that starts another."""
    return _page(request, core, session, number)


@router.post("")
def measure(request: Request, core: ServerCore, session: CurrentSession, form: CheckedForm, number: int) -> Response:
    """Queue a measurement of the policy's measures and the five adversaries, or of the selected measures."""
    chosen = [str(name) for name in form.getlist("measures")]
    try:
        if "some" in form and not chosen:
            raise InvalidRequest("select at least one measure")
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number)
            queue.submit(connection, session.user, project, "risk", {"measures": chosen} if "some" in form else {})
    except (InvalidRequest, NotFound) as error:
        return _page(request, core, session, number, status=error.status, wrong=str(error))
    return redirect(f"/projects/{number}/risk")


@router.get("/{job}/{index}.svg")
def chart(core: ServerCore, session: CurrentSession, number: int, job: str, index: int) -> Response:
    """Draw the histogram of record risks of one measure of a job."""
    with core.store.read() as connection:
        risk_job = queue.get(connection, projects.get(connection, session.user, number), job)
    measures = (risk_job.result or {}).get("measures") or []
    histogram = _trim_empty_bins(measures[index]["histogram"]) if 0 <= index < len(measures) else None
    if not histogram or not histogram["rows"]:
        raise NotFound("this measure has no histogram")
    svg = _draw_histogram(json.dumps(histogram), str(measures[index]["measure"]))
    return Response(svg, media_type="image/svg+xml", headers=SVG_HEADERS)


@router.get("/{job}/{index}/attributes.svg")
def chart_attributes(core: ServerCore, session: CurrentSession, number: int, job: str, index: int) -> Response:
    """Draw what each attribute contributes to one measure of a job."""
    with core.store.read() as connection:
        risk_job = queue.get(connection, projects.get(connection, session.user, number), job)
    measures = (risk_job.result or {}).get("measures") or []
    entry = measures[index].get("contributions") if 0 <= index < len(measures) else None
    if not entry:
        raise NotFound("this measure has no contributions by attribute")
    return Response(_draw_contributions(json.dumps(entry)), media_type="image/svg+xml", headers=SVG_HEADERS)


@lru_cache(maxsize=64)
def _draw_contributions(entry_json: str) -> str:
    entry = json.loads(entry_json)
    bars = [{"label": row["label"], "value": row["before"]} for row in entry["rows"]]
    chart = charts.share_chart(bars, entry["meaning"], width=420)
    return standalone_svg(chart, f"{entry['measure']} by attribute", describe_contributions(entry))


@lru_cache(maxsize=64)
def _draw_histogram(histogram_json: str, measure: str) -> str:
    histogram = json.loads(histogram_json)
    rows = [{"label": row["label"], "series": "after", "records": row["records"]} for row in histogram["rows"]]
    bars = charts.bar_chart(rows, f"{histogram['field'].replace('_', ' ')}  per record", log=True, legend=False)
    return standalone_svg(bars, f"Records by {histogram['field']}, {measure}", _describe_histogram(histogram))


def _trim_empty_bins(histogram: dict[str, Any] | None) -> dict[str, Any] | None:
    """Remove the empty bins at both ends of a histogram."""
    filled = [index for index, row in enumerate(histogram["rows"]) if row["records"]] if histogram else []
    return {**histogram, "rows": histogram["rows"][filled[0] : filled[-1] + 1]} if histogram and filled else None


def _describe_histogram(histogram: dict[str, Any]) -> str:
    field = histogram["field"].replace("_", " ")
    return "; ".join(f"{row['records']:,} records with {field} {row['label']}" for row in histogram["rows"]) + "."


def _format_parameters(measures: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """The parameters of each measure as text."""
    return {
        measure: {name: format_value(value) for name, value in parameters.items()} for measure, parameters in measures.items()
    }


def _page(
    request: Request, core: ServerCore, session: CurrentSession, number: int, status: int = 200, wrong: str = ""
) -> Response:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        policy = policies.current_policy(connection, project)
        latest = queue.latest_job(connection, project, "risk")
        done = latest if latest is not None and latest.state == "done" else queue.latest_job(connection, project, "risk", "done")
    result = done.result if done is not None else None
    if result is not None:
        access_log.record_original(core.store, session.user, project, project.dataset_id, page="risk")
        for measure in result["measures"]:
            measure["histogram"] = _trim_empty_bins(measure["histogram"])
            entry = measure.get("contributions")
            measure["contributions_alt"] = describe_contributions(entry) if entry else ""
            measure["alt"] = _describe_histogram(measure["histogram"]) if measure["histogram"] else ""
    preselected = dict.fromkeys([*policy.risk, *ADVERSARIES])
    return render_page(
        request,
        "risk.html",
        session,
        project,
        "risk",
        status=status,
        wrong=wrong,
        result=result,
        done=done,
        active=[latest] if latest is not None and latest.active else [],
        failed=latest if latest is not None and latest.state in ("failed", "interrupted", "cancelled") else None,
        available_measures=catalogue.entries("risk"),
        preselected=preselected,
        parameters=_format_parameters(policy.risk),
        attacker_knowledge=ATTACKER_KNOWLEDGE,
        keys=[name for name, attribute in policy.attributes.items() if attribute.role == "key"],
        title=catalogue.title,
        stale=done is not None
        and (
            done.parameters.get("revision", project.revision) != project.revision
            or done.parameters.get("dataset", project.dataset_id) != project.dataset_id
        ),
    )
