"""The REST API reference as a page, built from its own OpenAPI document; nothing is loaded from another server."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from discreet.web.auth.security import optional_session
from discreet.web.auth.sessions import Session
from discreet.web.pages.rendering import render_page

router = APIRouter(include_in_schema=False)


@router.get("/api/docs")
def api_docs(request: Request, session: Annotated[Session | None, Depends(optional_session)]) -> Response:
    """Show every request with its parameters, request body and response."""
    document = request.app.openapi()
    return render_page(request, "api.html", session, groups=_group_requests(document), schemas=_format_schemas(document))


def _group_requests(document: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            body = next(iter(operation.get("requestBody", {}).get("content", {}).items()), None)
            successes = {code: response for code, response in operation["responses"].items() if code.startswith("2")}
            status, response = next(iter(successes.items()))
            entry = {
                "method": method.upper(),
                "path": path,
                "summary": operation.get("description") or operation.get("summary", ""),
                "parameters": [_describe_parameter(parameter) for parameter in operation.get("parameters", [])],
                "body": None if body is None else {"type": body[0], "schema": _name_schema(body[1].get("schema", {}))},
                "status": status,
                "response": next(
                    (_name_schema(media.get("schema", {})) for media in response.get("content", {}).values()), "nothing"
                ),
            }
            groups.setdefault(operation.get("tags", ["other"])[0], []).append(entry)
    return groups


def _describe_parameter(parameter: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": parameter["name"],
        "in": parameter["in"],
        "required": parameter.get("required", False),
        "type": _name_schema(parameter.get("schema", {})),
        "description": parameter.get("description", ""),
    }


def _format_schemas(document: dict[str, Any]) -> dict[str, str]:
    schemas = document.get("components", {}).get("schemas", {})
    return {name: json.dumps(schema, indent=2, ensure_ascii=False) for name, schema in sorted(schemas.items())}


def _name_schema(schema: dict[str, Any]) -> str:
    """A short name for a JSON schema."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in schema:
        return " or ".join(_name_schema(variant) for variant in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_name_schema(schema.get('items', {}))}"
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    return str(schema.get("format") or schema.get("type") or "any value")
