"""Risk of the initial microdata: the five adversaries, the highest-risk records, and the risk by attribute and set."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection

from discreet.assessment.adversaries import ADVERSARIES
from discreet.assessment.limit_sentences import field_words
from discreet.report import charts
from discreet.report.histograms import describe_contributions
from discreet.report.maps import standalone_svg
from discreet.web.auth.security import CheckedForm, CurrentSession, ServerCore
from discreet.web.errors import InvalidRequest, NotFound
from discreet.web.jobs import queue
from discreet.web.pages.charts import SVG_HEADERS
from discreet.web.pages.forms import catalogue
from discreet.web.pages.forms.fields import format_value
from discreet.web.pages.guesses import measure_sample, sliders_of
from discreet.web.pages.rendering import redirect, render_page
from discreet.web.projects import access_log, policies, projects
from discreet.web.projects.projects import Project

router = APIRouter(prefix="/projects/{number}/risk", include_in_schema=False)
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
    rows = [{"label": row["label"], "series": "before", "records": row["records"]} for row in histogram["rows"]]
    bars = charts.bar_chart(rows, f"{histogram['field'].replace('_', ' ')}  per record", log=True, legend=False)
    return standalone_svg(bars, f"Records by {histogram['field']}, {measure}", _describe_histogram(histogram))


def _trim_empty_bins(histogram: dict[str, Any] | None) -> dict[str, Any] | None:
    """Remove the empty bins at both ends of a histogram."""
    filled = [index for index, row in enumerate(histogram["rows"]) if row["records"]] if histogram else []
    return {**histogram, "rows": histogram["rows"][filled[0] : filled[-1] + 1]} if histogram and filled else None


def _describe_histogram(histogram: dict[str, Any]) -> str:
    field = histogram["field"].replace("_", " ")
    return "; ".join(f"{row['records']:,} records with {field} {row['label']}" for row in histogram["rows"]) + "."


_SAVED = {
    "saved": "The probabilities were saved into the policy. Measure again to update the results above.",
    "unchanged": "The policy has these probabilities already.",
}


def _confirmation(connection: Connection, project: Project, guessed: list[queue.Job]) -> dict[str, Any] | None:
    """The newest measurement of the whole table under other probabilities: these, and the numbers of known_sets."""
    newest = next((job for job in guessed if job.state == "done"), None)
    job = None if newest is None else queue.get(connection, project, newest.id)
    failed = guessed[0] if guessed and guessed[0].state in ("failed", "interrupted", "cancelled") else None
    if job is None or job.result is None:
        return None if failed is None else {"failed": failed.what, "measure": None}
    measure = next((one for one in job.result["measures"] if one["measure"] == "known_sets"), None)
    return {
        "failed": failed.what if failed is not None else "",
        "known": job.result.get("known", {}),
        "records": job.result["records"],
        "finished": job.finished,
        "revision": job.parameters.get("revision"),
        "measure": measure,
        "why": "; ".join(one["why"] for one in job.result["not_measured"]),
    }


def _format_parameters(measures: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """The parameters of each measure as text."""
    return {
        measure: {name: format_value(value) for name, value in parameters.items()} for measure, parameters in measures.items()
    }


def _page(
    request: Request, core: ServerCore, session: CurrentSession, number: int, status: int = 200, wrong: str = ""
) -> Response:
    typed = {name: value for name, value in request.query_params.items() if name.startswith("known.")}
    sample = None
    if typed:  # sent without scripts: the sample is measured for the page
        try:
            sample = measure_sample(core, session, number, typed)
        except InvalidRequest as error:
            status, wrong, typed = error.status, str(error), {}
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        policy = policies.current_policy(connection, project)
        plain, guessed = queue.latest_measurements(connection, project)
        latest = plain[0] if plain else None
        newest_done = next((job for job in plain if job.state == "done"), None)
        done = None if newest_done is None else queue.get(connection, project, newest_done.id)
        confirmation = _confirmation(connection, project, guessed)
        sliders = sliders_of(connection, project, policy, typed) if project.dataset_id is not None else {"sliders": []}
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
        active=[job for job in (latest, guessed[0] if guessed else None) if job is not None and job.active],
        failed=latest if latest is not None and latest.state in ("failed", "interrupted", "cancelled") else None,
        guesses={**sliders, "sample": sample, "notice": _SAVED.get(request.query_params.get("guesses", ""), "")},
        confirmation=confirmation,
        available_measures=catalogue.entries("risk"),
        preselected=preselected,
        parameters=_format_parameters(policy.risk),
        attacker_knowledge=ATTACKER_KNOWLEDGE,
        keys=[name for name, attribute in policy.attributes.items() if attribute.role == "key"],
        title=catalogue.title,
        words_of=field_words,
        stale=done is not None
        and (
            done.parameters.get("revision", project.revision) != project.revision
            or done.parameters.get("dataset", project.dataset_id) != project.dataset_id
        ),
    )
