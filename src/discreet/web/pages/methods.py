"""The plan: which methods in which order, the limits a release must keep, and what is measured."""

from __future__ import annotations

import math
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import Connection
from starlette.datastructures import FormData

from discreet import registry
from discreet.errors import DiscreetError
from discreet.model.policy import Plan, Policy
from discreet.selection.reasons import step_text
from discreet.web.auth.accounts import User
from discreet.web.auth.security import Here, LoggedIn, Sent
from discreet.web.auth.sessions import Session
from discreet.web.errors import Conflict, Invalid
from discreet.web.pages.forms import catalogue, conflicts, editing, fields, plan_check
from discreet.web.pages.forms.labels import step_rows
from discreet.web.pages.rendering import go, page
from discreet.web.projects import policies, projects
from discreet.web.projects.projects import Project

router = APIRouter(prefix="/projects/{number}/methods")


@router.get("")
def show(request: Request, core: Here, session: LoggedIn, number: int) -> Response:
    """The plan with what is to be known of each step, the limits and the measures."""
    return _page(request, core, session, number)


@router.post("")
def change(request: Request, core: Here, session: LoggedIn, form: Sent, number: int) -> Response:
    """One click: move, disable, enable or delete a step, set the plan's key and output, or add and remove limits and measures."""
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number, "editor")
    try:
        with core.store.write() as connection:
            anchor = _done(connection, session.user, project, form)
    except Conflict as error:
        return conflicts.conflict_page(request, session, project, "methods", error, form)
    except DiscreetError as error:
        return _page(request, core, session, number, message=str(error), status=422)
    back = "/wizard" if form.get("back") == "wizard" else ""
    return go(f"/projects/{number}/methods{back}#{anchor}")


def _page(request: Request, core: Here, session: Session, number: int, message: str = "", status: int = 200) -> Response:
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        policy = policies.current(connection, project)
        looked = plan_check.look(connection, core.settings, project, policy)
    found = plan_check.findings(looked, policy.plan)
    plan = policy.plan
    return page(
        request, "methods.html", session, project, "methods", status=status, message=message, policy=policy, looked=looked,
        steps=[one | {"findings": found.get(one["number"], [])} for one in step_rows(plan)],
        settings=fields.fields(Plan, plan.model_dump(exclude_defaults=True), leave=("steps", "seed")),
        methods=catalogue.entries("masking"), limits=limit_rows(policy), offered=catalogue.limitable(),
        measures=_measures(policy), risks=catalogue.entries("risk"), losses=catalogue.entries("loss"),
        may=project.role != "reader",
    )  # fmt: skip


def limit_rows(policy: Policy) -> list[dict[str, Any]]:
    """The limits with their meaning."""
    return [{"limit": limit, "wanted": wanted, **catalogue.meaning(limit)} for limit, wanted in policy.limits.items()]


def _measures(policy: Policy) -> list[dict[str, Any]]:
    made = []
    for kind, section in (("risk", policy.risk), ("loss", policy.loss)):
        for name, parameters in section.items():
            said = ", ".join(f"{key.replace('_', ' ')} {fields.text(value)}" for key, value in parameters.items())
            one = catalogue.entry(kind, name)  # type: ignore[arg-type]
            made.append({"kind": kind, "name": name, "title": one["title"], "summary": one["summary"], "said": said})
    return made


def _done(connection: Connection, user: User, project: Project, form: FormData) -> str:
    """Do what a button says; where on the page to go on."""
    base, policy = editing.start(connection, project, form)
    do = str(form.get("do", ""))
    if do in ("up", "down", "move", "disable", "enable", "delete"):
        return _step_changed(connection, user, project, base, policy.plan, do, form)
    if do == "settings":
        said = fields.read(Plan, form, leave=("steps", "seed"))
        content = {**said, "steps": [one.model_dump(mode="json", exclude_defaults=True) for one in policy.plan.steps]}
        made = Policy.from_dict({"plan": content}, origin="the settings").plan
        editing.save_plan(connection, user, project, base, made, "the plan's settings changed")
        return "settings"
    if do in ("limit", "no-limit"):
        return _limit(connection, user, project, base, policy, do, form)
    if do == "judge":
        return _judge(connection, user, project, base, form)
    if do in ("measure", "no-measure"):
        return _measure(connection, user, project, base, policy, do, form)
    raise Invalid(f"'{do[:40]}' is nothing that this page can do")


def _step_changed(
    connection: Connection, user: User, project: Project, base: int, plan: Plan, do: str, form: FormData
) -> str:  # fmt: skip
    at = editing.whole(form, "step")
    goal = editing.whole(form, "to") if do == "move" else at - 1 if do == "up" else at + 1
    if do in ("up", "down", "move"):
        made, what, anchor = plan.move(at, goal), f"step {at} became step {goal}", f"step-{goal}"
    elif do == "delete":
        made, what, anchor = plan.delete(at), f"step {at} deleted: {step_text(plan.steps[at - 1])}", "plan"
    else:
        made = plan.disable(at) if do == "disable" else plan.enable(at)
        what, anchor = f"step {at} {do}d", f"step-{at}"
    editing.save_plan(connection, user, project, base, made, what)
    return anchor


def _limit(connection: Connection, user: User, project: Project, base: int, policy: Policy, do: str, form: FormData) -> str:
    limit, limits = str(form.get("limit", "")), dict(policy.limits)
    if do == "no-limit":
        limits.pop(limit, None)
        what = f"the limit {limit} taken away"
    else:
        if limit.count(".") != 1:
            raise Invalid("choose what to limit")
        word = catalogue.meaning(limit)["word"]
        registry.direction(limit, origin="the limit")
        try:
            wanted = float(str(form.get("wanted", "")).strip())
        except ValueError:
            wanted = math.nan
        if not math.isfinite(wanted):
            raise Invalid(f"the limit of {limit} is a number; got '{str(form.get('wanted', ''))[:40]}'")
        limits[limit] = wanted
        what = f"limit: {limit} {word} {wanted:g}"
    editing.save(connection, user, project, base, "limits", limits, what)
    return "limits"


def _judge(connection: Connection, user: User, project: Project, base: int, form: FormData) -> str:
    """Which intruders the limits on risk are judged on; both is the default and is not written."""
    said = str(form.get("judge", ""))
    if said not in ("both", "release"):
        raise Invalid(f"limits are judged on 'both' intruders or on the 'release' alone; got '{said[:40]}'")
    what = "limits are judged on both intruders" if said == "both" else "limits are judged on the release alone"
    editing.save(connection, user, project, base, "judge", None if said == "both" else said, what)
    return "limits"


def _measure(connection: Connection, user: User, project: Project, base: int, policy: Policy, do: str, form: FormData) -> str:
    kind, _, name = str(form.get("measure", "")).partition(".")
    if kind not in ("risk", "loss"):
        raise Invalid("choose a measure")
    chosen = dict(policy.risk if kind == "risk" else policy.loss)
    if do == "measure":
        catalogue.entry(kind, name)  # type: ignore[arg-type]
        chosen.setdefault(name, {})
    else:
        chosen.pop(name, None)
    what = f"{name} {'measured' if do == 'measure' else 'not measured any more'}"
    editing.save(connection, user, project, base, kind, chosen, what)
    return "measures"
