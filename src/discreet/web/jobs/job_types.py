"""The kinds of jobs and their parameters, checked before a job enters the queue."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from discreet import registry
from discreet.errors import nearest
from discreet.model.sections.reading import Reading
from discreet.model.validation_errors import explain_validation_error
from discreet.selection.objective import ObjectiveWeights
from discreet.selection.options import PERTURBATIVE, Formula, Preference
from discreet.web.errors import InvalidRequest
from discreet.web.projects.projects import Project

REPEATABLE = ("import", "preview", "analyze", "risk", "generate", "select", "report", "publish", "export")
"""Kinds that produce the same result when repeated, so that a job interrupted with the server can run again."""

Number = Annotated[int, Field(ge=1)]
Line = Annotated[str, Field(min_length=1, max_length=1000)]


class _Parameters(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Import(_Parameters):
    """Import a file, or a table of a connected database, as the project's initial microdata."""

    upload: Annotated[str, Field(pattern=r"^[0-9a-f]{32}(\.[a-z0-9]{1,10}){1,2}$")] | None = Field(
        default=None, description="the name of an uploaded file, as returned by the upload"
    )
    name: Annotated[str, Field(max_length=400)] = Field(default="", description="display name; default: the table's name")
    source: Annotated[str, Field(max_length=80)] | None = Field(default=None, description="a connected database")
    table: Annotated[str, Field(min_length=1, max_length=300)] | None = Field(default=None, description="a table of the source")
    read: Reading | None = Field(
        default=None, description="reading options, which become the section read of the policy; default: those of the policy"
    )


class Preview(Import):
    """Read the beginning of a file or table to show how it would be imported; nothing is imported."""


class Analyze(_Parameters):
    """Run the Analyzer on a dataset."""

    dataset: Number | None = Field(default=None, description="default: the project's current dataset")
    apply: bool = Field(default=False, description="also make the proposal the policy")


class Risk(_Parameters):
    """Measure the risks of the initial microdata under the policy."""

    measures: list[str] | None = Field(
        default=None, description="names of measures; default: the policy's and those of the five adversaries"
    )
    known: dict[Line, Annotated[float, Field(ge=0, le=1)]] | None = Field(
        default=None, description="probabilities of being known, by attribute, in place of the policy's"
    )
    dataset: Number | None = None
    revision: Annotated[int, Field(ge=0)] | None = None


class Generate(_Parameters):
    """Create a draft of a release: mask, assess and report. The same table and policy give the same release again."""

    dataset: Number | None = None
    revision: Annotated[int, Field(ge=0)] | None = None


class Select(_Parameters):
    """Search for a plan that meets the limits (the wizard)."""

    limits: dict[str, float] | None = Field(default=None, description="MEASURE.FIELD: number; default: the policy's limits")
    seconds: Annotated[float, Field(gt=0, le=86_400)] | None = None
    trials: Annotated[int, Field(ge=1, le=100_000)] | None = None
    seed: Annotated[int, Field(ge=0)] | None = None
    sample: Number | None = None
    risk: str | None = None
    loss: str | None = None
    cost: dict[str, float] | None = None
    objective: ObjectiveWeights | None = Field(default=None, description="weights of information, falsehood and associations")
    truthful: bool | None = Field(default=None, description="whether categories stay true or become coarser; default: true")
    allow: list[Literal[PERTURBATIVE]] | None = Field(  # type: ignore[valid-type]
        default=None, description="perturbative methods that may change categories all the same"
    )
    protect: list[Line] | None = Field(default=None, description="columns that no step may change")
    keep: dict[Line, Annotated[float, Field(ge=0, le=1)]] | None = Field(
        default=None, description="least share of a column's values that must not be suppressed, by column"
    )
    analyses: list[Formula] | None = Field(default=None, description="regressions whose effects should survive")
    prefer: Preference | None = Field(default=None, description="which of the three plans to take")
    dataset: Number | None = None
    revision: Annotated[int, Field(ge=0)] | None = None


class Report(_Parameters):
    """Write the report on a release as PDF or JSON, the short one, or the internal report for the data controller."""

    release: Number
    format: Annotated[str, Field(pattern="^(html|json|pdf)$")] = "html"
    short: bool = Field(default=False, description="the short report, two pages")
    internal: bool = Field(default=False, description="the internal report: exact risks, rows and values of single records")
    reveal: bool = Field(default=False, description="the former name of internal")


class Publish(_Parameters):
    """Publish an approved release as the project's table."""

    release: Number


class Export(_Parameters):
    """Write the masked table of a release in another file format, for a download."""

    release: Number
    format: Annotated[str, Field(pattern=r"^[a-z0-9.]{1,20}$")]


PARAMETER_MODELS: dict[str, type[_Parameters]] = {
    "import": Import, "preview": Preview, "analyze": Analyze, "risk": Risk, "generate": Generate, "select": Select,
    "report": Report, "publish": Publish, "export": Export,
}  # fmt: skip


def check_parameters(project: Project, kind: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters as stored with the job; raises if they are invalid."""
    if kind not in PARAMETER_MODELS:
        raise InvalidRequest(f"'{kind[:40]}' is not a kind of job; {nearest(kind[:40], PARAMETER_MODELS)}")
    try:
        checked = PARAMETER_MODELS[kind].model_validate(parameters)
    except ValidationError as error:
        raise InvalidRequest(f"the job {kind}: {explain_validation_error(error, PARAMETER_MODELS[kind])}") from None
    content = checked.model_dump(exclude_none=True)
    if isinstance(checked, Import) and (checked.upload is None) == (checked.source is None):
        raise InvalidRequest(f"{kind} needs either an upload, or a connected source and its table")
    if isinstance(checked, Import) and checked.source is not None and checked.table is None:
        raise InvalidRequest(f"name the table of '{checked.source}' to import")
    if isinstance(checked, Import) and checked.read is not None:
        content["read"] = checked.read.model_dump(mode="json", exclude_defaults=True)
    if isinstance(checked, Risk) and checked.measures is not None:
        for name in checked.measures:
            registry.load("risk", name)
    if "revision" in PARAMETER_MODELS[kind].model_fields:
        content.setdefault("revision", project.revision)
    return content
