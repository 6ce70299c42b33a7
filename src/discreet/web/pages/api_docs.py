"""The REST interface as a page, made from its own OpenAPI document; nothing comes from outside."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from discreet.web.auth.security import maybe_session_of
from discreet.web.auth.sessions import Session
from discreet.web.pages.rendering import page

router = APIRouter()


@router.get("/api/docs")
def api_docs(request: Request, session: Annotated[Session | None, Depends(maybe_session_of)]) -> Response:
    """Every request with its parameters, what is sent and what comes back."""
    document = request.app.openapi()
    return page(request, "api.html", session, groups=_groups(document), schemas=_schemas(document))


def _groups(document: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, methods in document["paths"].items():
        for method, said in methods.items():
            body = next(iter(said.get("requestBody", {}).get("content", {}).items()), None)
            good = {code: one for code, one in said["responses"].items() if code.startswith("2")}
            status, answer = next(iter(good.items()))
            entry = {
                "method": method.upper(),
                "path": path,
                "summary": said.get("description") or said.get("summary", ""),
                "parameters": [_parameter(one) for one in said.get("parameters", [])],
                "body": None if body is None else {"type": body[0], "schema": _name(body[1].get("schema", {}))},
                "status": status,
                "answer": next((_name(one.get("schema", {})) for one in answer.get("content", {}).values()), "nothing"),
            }
            groups.setdefault(said.get("tags", ["other"])[0], []).append(entry)
    return groups


def _parameter(said: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": said["name"], "in": said["in"], "required": said.get("required", False), "type": _name(said.get("schema", {})),
        "description": said.get("description", ""),
    }  # fmt: skip


def _schemas(document: dict[str, Any]) -> dict[str, str]:
    found = document.get("components", {}).get("schemas", {})
    return {name: json.dumps(one, indent=2, ensure_ascii=False) for name, one in sorted(found.items())}


def _name(schema: dict[str, Any]) -> str:
    """A schema in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in schema:
        return " or ".join(_name(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_name(schema.get('items', {}))}"
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    return str(schema.get("format") or schema.get("type") or "anything")
