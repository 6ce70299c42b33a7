"""One attribute: its values with counts, weights, order and hierarchy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request, Response

from discreet.errors import DiscreetError
from discreet.model.attribute import Attribute, Level, Role, printed
from discreet.web.auth.security import Here, LoggedIn, Sent
from discreet.web.errors import Conflict, Forbidden, Invalid, NotFound
from discreet.web.pages.forms.conflicts import base_of, conflict_page, over_of
from discreet.web.pages.forms.drafts import DEEPEST, Draft
from discreet.web.pages.rendering import environment, go, page
from discreet.web.projects import attributes, datasets, hierarchies, policies, projects

router = APIRouter(prefix="/projects/{number}")
DATES = ("week", "month", "quarter", "year", "decade")


@router.get("/attributes/{name:path}")
def look(request: Request, core: Here, session: LoggedIn, number: int, name: str) -> Response:
    """The attribute as it stands; a name of dots alone, which no path can hold, comes as a parameter."""
    name = name or request.query_params.get("name", "")
    if not name:
        return go(f"/projects/{number}/attributes")
    return _page(request, core, session, number, name, done=request.query_params.get("done", ""))


@router.get("/attribute")
def back(number: int) -> Response:
    """Where the form's address leads when it is only opened."""
    return go(f"/projects/{number}/attributes")


@router.post("/attribute")
def save(request: Request, core: Here, session: LoggedIn, form: Sent, number: int) -> Response:
    """Save the attribute, or show what would come of the form.

    ``action`` is save, preview, level, order, unordered, or up.N and down.N, which move the category in line N.
    """
    name, action = str(form.get("name", "")), str(form.get("action", "save"))
    draft = Draft.sent(form)
    try:
        content = attributes.plain(draft.content(), name)
        if action != "save":
            return _page(request, core, session, number, name, draft=draft, action=action, base=base_of(form))
        with core.store.write() as connection:
            project = projects.get(connection, session.user, number, "editor")
            dataset = datasets.get(connection, project)
            attributes.row(dataset, policies.document(connection, project), name)
            found = hierarchies.values(datasets.path(core.settings, dataset), name)
            hierarchies.build(found, Attribute.model_validate(content))  # what cannot be built is told now, not by a job
            _complete(found, content)
            policies.edit(
                connection, session.user, project, over_of(form), {f"attributes.{name}": content}, f"{name[:80]} edited"
            )
    except Conflict as error:
        return conflict_page(request, session, project, "attributes", error, form)
    except (Forbidden, NotFound):
        raise
    except DiscreetError as error:
        return _page(
            request, core, session, number, name, status=422, draft=draft, wrong=str(error), base=base_of(form), action=action
        )
    parts: Any = environment().get_template("parts.html").module
    address = str(parts.address(project, name))
    return go(f"{address}{'&' if '?' in address else '?'}done=saved")


def _complete(found: hierarchies.Values, content: dict[str, Any]) -> None:
    """An order holds every value that the data hold, but those that mean missing; with a hierarchy the others come behind it."""
    named = {*(content.get("order") or ()), *(content.get("missing") or ())}
    if not content.get("order") or content.get("hierarchy") or found.column is None:
        return
    out = [str(value) for value in found.column.values.to_list() if not named.intersection(printed(value))]
    if out:
        raise Invalid(f"the order leaves out what the data hold: {', '.join(out[:5])}; give every value a place")


def _page(
    request: Request, core: Here, session: LoggedIn, number: int, name: str, status: int = 200, draft: Draft | None = None,
    action: str = "", **said: Any,
) -> Response:  # fmt: skip
    with core.store.read() as connection:
        project = projects.get(connection, session.user, number)
        dataset = datasets.get(connection, project)
        document = policies.document(connection, project)
    try:
        row = attributes.row(dataset, document, name)
    except Invalid as error:
        raise NotFound(str(error)) from None
    found = hierarchies.values(datasets.path(core.settings, dataset), name)
    shown = draft or Draft.of(row.attribute)
    if action == "order":
        shown = shown.ordered(found)
    elif action == "unordered":
        shown = replace(shown, order="")
    wrong = said.pop("wrong", "")
    hierarchy = None
    try:
        attribute = Attribute.model_validate(attributes.plain(shown.content(), name))
        hierarchy = hierarchies.build(found, attribute)
    except DiscreetError as error:
        wrong = wrong or str(error)
    rows = hierarchies.as_rows(found, hierarchy) if found.distinct <= hierarchies.MOST_LEAVES else []
    if hierarchy is None and shown.rows is not None:
        counts = dict(found.counts)
        rows = [(leaf, counts.get(leaf, 0), list(labels)) for leaf, labels in shown.rows]
    depth = max((len(labels) for _, _, labels in rows), default=0)
    depth = min(max(depth + (action == "level"), 1), DEEPEST)
    values: dict[str, Any] = {
        "dataset": dataset, "row": row, "found": found, "draft": shown, "wrong": wrong, "done": "", "base": project.revision,
        "levels": hierarchies.levels(found, hierarchy) if hierarchy is not None else [], "top": found.counts[:10],
        "weights": shown.offered(found), "places": shown.places(found),
        "rows": rows, "depth": depth, "grid": found.distinct <= hierarchies.GRID,
        "text": hierarchies.as_text(rows), "too_many": found.distinct > hierarchies.MOST_LEAVES, "dates": DATES,
        "roles": list(Role), "scales": list(Level), "previewed": action not in ("", "save"), **said,
    }  # fmt: skip
    return page(request, "attribute.html", session, project, "attributes", status=status, **values)
