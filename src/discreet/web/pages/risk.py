"""The risk of the initial microdata: five adversaries, the riskiest records and why, by attribute and by set."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from fastapi import APIRouter, Request, Response

from discreet.assessment.adversaries import ADVERSARIES
from discreet.report import charts
from discreet.report.maps import image
from discreet.web.auth.security import Here, LoggedIn, Sent
from discreet.web.errors import Invalid, NotFound
from discreet.web.jobs import queue
from discreet.web.pages.charts import HEADERS
from discreet.web.pages.forms import catalogue
from discreet.web.pages.forms.fields import text
from discreet.web.pages.rendering import go, page
from discreet.web.projects import policies, projects

router = APIRouter(prefix="/projects/{number}/risk")
WHO = {
    "known_sets": "knows each attribute of a person with a probability of its own",
    "k_anonymity": "knows all key attributes of the person looked for",
    "target_linkage": "holds a register of people to link with",
    "repeated_records": "looks for a person who has several records",
    "decision": "holds a dictionary of everybody, and weighs what is learnt",
}


@router.get("")
def look(request: Request, core: Here, session: LoggedIn, number: int) -> Response:
    """What was measured last, and a form to measure again."""
    return _page(request, core, session, number)


@router.post("")
def measure(request: Request, core: Here, session: LoggedIn, form: Sent, number: int) -> Response:
    """Measure: the policy's measures and the five adversaries, or only what is ticked."""
    chosen = [str(name) for name in form.getlist("measures")]
    try:
        if "some" in form and not chosen:
            raise Invalid("tick the measures that are wanted")
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number)
            queue.submit(connection, session.user, project, "risk", {"measures": chosen} if "some" in form else {})
    except (Invalid, NotFound) as error:
        return _page(request, core, session, number, status=error.status, wrong=str(error))
    return go(f"/projects/{number}/risk")


@router.get("/{job}/{place}.svg")
def chart(core: Here, session: LoggedIn, number: int, job: str, place: int) -> Response:
    """The records by risk, as one measure of a job found them."""
    with core.store.read() as connection:
        found = queue.get(connection, projects.get(connection, session.user, number), job)
    measures = (found.result or {}).get("measures") or []
    drawn = _trimmed(measures[place]["histogram"]) if 0 <= place < len(measures) else None
    if not drawn or not drawn["rows"]:
        raise NotFound("there is nothing to draw")
    drawing = _drawn(json.dumps(drawn), str(measures[place]["measure"]))
    return Response(drawing, media_type="image/svg+xml", headers=HEADERS)


@lru_cache(maxsize=64)
def _drawn(histogram: str, measure: str) -> str:
    held = json.loads(histogram)
    rows = [{"label": row["label"], "series": "after", "records": row["records"]} for row in held["rows"]]
    made = charts.bars(rows, f"{held['field'].replace('_', ' ')} of a record", log=True, legend=False)
    return image(made, f"Records by {held['field']}, {measure}", _in_words(held))


def _trimmed(histogram: dict[str, Any] | None) -> dict[str, Any] | None:
    """Without the classes below the first record and beyond the last."""
    filled = [at for at, row in enumerate(histogram["rows"]) if row["records"]] if histogram else []
    return {**histogram, "rows": histogram["rows"][filled[0] : filled[-1] + 1]} if histogram and filled else None


def _in_words(histogram: dict[str, Any]) -> str:
    field = histogram["field"].replace("_", " ")
    return "; ".join(f"{row['records']:,} records with {field} {row['label']}" for row in histogram["rows"]) + "."


def _in_text(said: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """The parameters of measures as a person reads them."""
    return {measure: {name: text(value) for name, value in parameters.items()} for measure, parameters in said.items()}


def _page(request: Request, core: Here, session: LoggedIn, number: int, status: int = 200, wrong: str = "") -> Response:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        policy = policies.current(connection, project)
        last = queue.latest(connection, project, "risk")
        done = last if last is not None and last.state == "done" else queue.latest(connection, project, "risk", "done")
    result = done.result if done is not None else None
    if result is not None:
        for one in result["measures"]:
            one["histogram"] = _trimmed(one["histogram"])
            one["alt"] = _in_words(one["histogram"]) if one["histogram"] else ""
    usual = dict.fromkeys([*policy.risk, *ADVERSARIES])
    return page(
        request, "risk.html", session, project, "risk", status=status, wrong=wrong, result=result, done=done,
        active=[last] if last is not None and last.active else [],
        failed=last if last is not None and last.state in ("failed", "interrupted", "cancelled") else None,
        offered=catalogue.entries("risk"), usual=usual, said=_in_text(policy.risk), who=WHO,
        keys=[name for name, one in policy.attributes.items() if one.role == "key"], title=catalogue.title,
        stale=done is not None and (
            done.parameters.get("revision", project.revision) != project.revision
            or done.parameters.get("dataset", project.dataset_id) != project.dataset_id
        ),
    )  # fmt: skip
