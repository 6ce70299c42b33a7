"""Render templates as HTTP responses. Everything that comes from data is escaped; nothing is marked safe."""

from __future__ import annotations

import datetime
import re
from functools import cache
from typing import Any
from urllib.parse import quote

import yaml
from fastapi import Request, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse

from discreet import __version__
from discreet.assessment.glossary import TERMS
from discreet.assessment.limit_sentences import field_words
from discreet.model.guess import ends_as_text
from discreet.web.addresses import LinkExtension
from discreet.web.auth.sessions import Session
from discreet.web.operation.request_ids import request_id_of
from discreet.web.pages.forms import catalogue
from discreet.web.projects import roles
from discreet.web.projects.projects import Project

WORKFLOW = (
    ("data", "Data"),
    ("attributes", "Attributes"),
    ("risk", "Risk"),
    ("methods", "Methods"),
    ("generate", "Generate"),
    ("assess", "Assess"),
    ("release", "Release"),
)
"""The steps of a project in order; each is a page at ``/projects/ID/<name>``."""


@cache
def environment() -> Environment:
    """The template environment; an undefined value is an error rather than an empty text."""
    templates = Environment(
        loader=PackageLoader("discreet.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        extensions=[LinkExtension],
    )
    templates.filters |= {
        "time": _format_time,
        "count": _format_count,
        "number": _format_number,
        "bytes": _format_bytes,
        "path": lambda text: quote(str(text), safe=""),
        "type_label": _describe_type,
        "role_label": roles.label,
        "plain_number": ends_as_text,
        "sections_in_words": _name_sections,
        "sentence": _begin_sentence,
        "capitalize_first": lambda text: text[:1].upper() + text[1:],
        "yaml": lambda value: yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=80).removesuffix("...\n").strip(),
    }
    templates.globals |= {
        "version": __version__,
        "workflow": WORKFLOW,
        "role_meanings": roles.ROLES,
        "glossary": TERMS,
        "field_words": field_words,
    }
    return templates


def render_page(
    request: Request,
    template: str,
    session: Session | None = None,
    project: Project | None = None,
    step: str | None = None,
    status: int = 200,
    **values: Any,
) -> Response:
    """Render a template; ``step`` is the workflow step that the navigation marks as current."""
    settings = request.app.state.core.settings
    shared = {
        "session": session, "project": project, "step": step, "path": request.url.path, "passwords": settings.passwords,
        "provider_label": settings.oidc.label if settings.oidc is not None else "", "request_id": request_id_of(request.scope),
    }  # fmt: skip
    text = environment().get_template(template).render(**shared, **values)
    return HTMLResponse(text, status_code=status)


def redirect(address: str) -> Response:
    """Redirect after a form, so that reloading does not send it again; only to addresses of this server."""
    is_local = address.startswith("/") and not address.startswith(("//", "/\\"))
    return RedirectResponse(address if is_local else "/", status_code=303)


def error_page(request: Request, status: int, message: str, detail: dict[str, Any]) -> Response:
    """Render an error; a visitor who is not logged in is redirected to the login page and back."""
    if status == 401 and (kept := getattr(request.state, "kept_form", None)) is not None:
        message = "Your session has expired. What you entered is kept; you can send it after the login."
        return render_page(request, "login.html", status=401, next="/", name="", message=message, kept=kept.to_text())
    if status == 401 and request.url.path != "/login":
        requested = request.url.path if request.method == "GET" else "/"
        return RedirectResponse(f"/login?next={quote(requested, safe='/')}", status_code=303)
    return render_page(request, "error.html", status=status, code=status, message=message, detail=detail)


def _format_time(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


def _format_count(number: float | None) -> str:
    return "–" if number is None else f"{number:,.0f}"


def _format_number(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or (abs(value) < 1e15 and value == int(value)):
        return f"{int(value):,}"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:,.4g}"


_FIRST_WORDS = re.compile(
    r"(the|a|an|you|your|which|there|this|these|it|no|nobody|each|only|if|choose|enter|give|records in|step \d+)\b"
)


def _begin_sentence(message: str) -> str:
    """A message with a capital letter in front, unless it begins with what may be a name of a column or a user, kept as it is."""
    message = catalogue.without_commands(message)
    return message[:1].upper() + message[1:] if _FIRST_WORDS.match(message) else message


def _name_sections(text: str) -> str:
    """A list of sections of the policy for people: "attributes.Age, attributes.Sex, plan" as "attributes Age, Sex; plan"."""
    parts = text.split(", ")
    attributes = [part.removeprefix("attributes.") for part in parts if part.startswith("attributes.")]
    others = [part for part in parts if not part.startswith("attributes.")]
    named = [f"{'attribute' if len(attributes) == 1 else 'attributes'} {', '.join(attributes)}"] if attributes else []
    return "; ".join(named + ([", ".join(others)] if others else []))


def _format_bytes(number: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if number < 1000 or unit == "GB":
            return f"{number:,.0f} {unit}" if unit == "bytes" else f"{number:,.1f} {unit}"
        number /= 1000
    raise AssertionError


def _describe_type(type_name: str) -> str:
    """The name that a statistician gives to a column's data type."""
    exact = {"String": "text", "Boolean": "logical", "Date": "date", "Time": "time of day", "Null": "all missing"}
    for prefix, label in (("Datetime", "date and time"), ("Duration", "duration"), ("Categorical", "text"), ("Enum", "text")):
        if type_name.startswith(prefix):
            return label
    if type_name.startswith(("Int", "UInt")):
        return "whole number"
    return exact.get(type_name, "number" if type_name.startswith(("Float", "Decimal")) else type_name)
