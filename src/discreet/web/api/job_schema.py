"""What the OpenAPI document says about jobs: the parameters of each kind to submit, and the result of each kind that is done.

The parameters are checked by the queue (:mod:`discreet.web.jobs.job_types`), whichever page or program submits a job; here the
same models become a ``oneOf`` by ``kind``, so that a generated client offers one type per kind.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import models_json_schema

from discreet.web.api.models import JobIn
from discreet.web.jobs.job_types import PARAMETER_MODELS

_REFERENCE = "#/components/schemas/{model}"


class _Result(BaseModel):
    """A result may have more fields than the documented ones."""

    model_config = ConfigDict(extra="allow")


class ImportResult(_Result):
    """The imported table."""

    dataset: int
    records: int
    columns: int


class PreviewResult(_Result):
    """Whether the beginning of the table could be read."""

    columns: int
    readable: bool


class AnalyzeResult(_Result):
    """The Analyzer's profile, with the proposed policy in ``profile.policy``."""

    dataset: int
    profile: dict[str, Any]


class RiskResult(_Result):
    """The measured risks; measures that could not be taken are in ``not_measured`` with the reason."""

    records: int
    measures: list[dict[str, Any]]
    not_measured: list[dict[str, str]]
    adversaries: list[dict[str, Any]] = Field(default_factory=list)
    most_in_danger: list[dict[str, Any]] = Field(default_factory=list)


class GenerateResult(_Result):
    """The number of the release, and its verdict."""

    release: int
    records: int
    original_records: int
    ok: bool | None
    status: Literal["met", "not met", "incomplete"]
    verdict: str


class SelectResult(_Result):
    """The chosen plan; ``policy`` is the policy with it, which PATCH of the policy takes as its sections."""

    met: bool
    policy: dict[str, Any]
    plan: dict[str, Any]
    limits_wanted: dict[str, float]
    tried: int
    why: list[str]


class PublishResult(_Result):
    """The table that other programs read."""

    release: int
    table_name: str


class FileResult(_Result):
    """A file that was written: a report, or a release in another format."""

    release: int
    format: str
    bytes: int


RESULT_MODELS: dict[str, type[_Result]] = {
    "import": ImportResult, "preview": PreviewResult, "analyze": AnalyzeResult, "risk": RiskResult, "generate": GenerateResult,
    "select": SelectResult, "report": FileResult, "publish": PublishResult, "export": FileResult,
}  # fmt: skip


def describe_jobs(document: dict[str, Any]) -> None:
    """Replace the open objects for parameters and results in the document by one schema per kind."""
    schemas = document["components"]["schemas"]
    if "oneOf" in schemas["JobIn"]:
        return  # FastAPI keeps the document, so it may come a second time
    kinds = get_args(JobIn.model_fields["kind"].annotation)
    models = {kind: PARAMETER_MODELS[kind] for kind in kinds}
    renamed = {model.__name__: f"{model.__name__}Parameters" for model in models.values()}
    _, described = models_json_schema(
        [(model, "validation") for model in [*models.values(), *RESULT_MODELS.values()]], ref_template=_REFERENCE
    )
    for name, schema in described["$defs"].items():
        schemas.setdefault(renamed.get(name, name), schema)
    mapping = {}
    for kind, model in models.items():
        name = f"{model.__name__}Job"
        parameters = {"$ref": _REFERENCE.format(model=renamed[model.__name__])}
        schemas[name] = {
            "type": "object", "title": name, "description": model.__doc__, "additionalProperties": False,
            "properties": {"kind": {"type": "string", "const": kind}, "parameters": parameters},
            "required": ["kind", "parameters"] if _has_required(model) else ["kind"],
        }  # fmt: skip
        mapping[kind] = _REFERENCE.format(model=name)
    schemas["JobIn"] = {
        "title": "JobIn", "description": JobIn.__doc__, "oneOf": [{"$ref": reference} for reference in mapping.values()],
        "discriminator": {"propertyName": "kind", "mapping": mapping},
    }  # fmt: skip
    results = sorted({model.__name__ for model in RESULT_MODELS.values()})
    schemas["JobOut"]["properties"]["result"] = {
        "description": "Null until the job is done; which one it is depends on the kind.",
        "anyOf": [*({"$ref": _REFERENCE.format(model=name)} for name in results), {"type": "null"}],
    }


def _has_required(model: type[BaseModel]) -> bool:
    return any(field.is_required() for field in model.model_fields.values())
