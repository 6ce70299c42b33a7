"""Templates turned into answers. Everything from data is escaped; nothing is marked safe."""

from __future__ import annotations

import datetime
from functools import cache
from typing import Any
from urllib.parse import quote

import yaml
from fastapi import Request, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse

from discreet import __version__
from discreet.web.auth.sessions import Session
from discreet.web.projects.projects import Project

STEPS = (
    ("data", "Data"),
    ("attributes", "Attributes"),
    ("risk", "Risk"),
    ("methods", "Methods"),
    ("generate", "Generate"),
    ("assess", "Assess"),
    ("release", "Release"),
)
"""The walk through a project, in order: each is a page at ``/projects/ID/<name>``."""


@cache
def environment() -> Environment:
    """The templates, which fail where a value is not given rather than show nothing."""
    made = Environment(loader=PackageLoader("discreet.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    made.filters |= {
        "time": _time,
        "count": _count,
        "number": _number,
        "bytes": _bytes,
        "path": lambda text: quote(str(text), safe=""),
        "kind": _kind,
        "figure": lambda value: f"{value:.12g}",
        "yaml": lambda value: yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=80).removesuffix("...\n").strip(),
    }
    made.globals |= {"version": __version__, "walk": STEPS}
    return made


def page(
    request: Request,
    template: str,
    session: Session | None = None,
    project: Project | None = None,
    step: str | None = None,
    status: int = 200,
    **values: Any,
) -> Response:
    """A page; ``step`` is the part of the walk that it belongs to."""
    shared = {"session": session, "project": project, "step": step, "path": request.url.path}
    text = environment().get_template(template).render(**shared, **values)
    return HTMLResponse(text, status_code=status)


def go(address: str) -> Response:
    """Send the browser on after a form (so that reloading does not send it again); only within this server."""
    inside = address.startswith("/") and not address.startswith(("//", "/\\"))
    return RedirectResponse(address if inside else "/", status_code=303)


def error_page(request: Request, status: int, message: str, detail: dict[str, Any]) -> Response:
    """What went wrong, as a page; one who is not logged in is sent to do so and comes back."""
    if status == 401 and request.url.path != "/login":
        asked = request.url.path if request.method == "GET" else "/"
        return RedirectResponse(f"/login?next={quote(asked, safe='/')}", status_code=303)
    return page(request, "error.html", status=status, code=status, message=message, detail=detail)


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


def _count(number: float | None) -> str:
    return "–" if number is None else f"{number:,.0f}"


def _number(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or (abs(value) < 1e15 and value == int(value)):
        return f"{int(value):,}"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:,.4g}"


def _bytes(number: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if number < 1000 or unit == "GB":
            return f"{number:,.0f} {unit}" if unit == "bytes" else f"{number:,.1f} {unit}"
        number /= 1000
    raise AssertionError


def _kind(type_name: str) -> str:
    """A column's type in a statistician's words."""
    known = {"String": "text", "Boolean": "yes or no", "Date": "date", "Time": "time of day", "Null": "nothing but missing"}
    for start, word in (("Datetime", "date and time"), ("Duration", "duration"), ("Categorical", "text"), ("Enum", "text")):
        if type_name.startswith(start):
            return word
    if type_name.startswith(("Int", "UInt")):
        return "whole number"
    return known.get(type_name, "number" if type_name.startswith(("Float", "Decimal")) else type_name)
