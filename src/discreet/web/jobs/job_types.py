"""The kinds of jobs: what each may be told, checked before it waits in the queue."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from discreet import registry
from discreet.errors import nearest
from discreet.model.policy import explain
from discreet.web.errors import Invalid
from discreet.web.projects.projects import Project

REPEATABLE = ("import", "analyze", "risk", "generate", "select", "report", "publish")
"""Kinds that give the same when they run again, so that a job that was cut with the server can."""

Number = Annotated[int, Field(ge=1)]


class _Parameters(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Import(_Parameters):
    """A file or a table of a connected database becomes the project's initial microdata."""

    upload: Annotated[str, Field(pattern=r"^[0-9a-f]{32}(\.[a-z0-9]{1,10}){1,2}$")] | None = Field(
        default=None, description="the name of a file that was uploaded, as the upload told it"
    )
    name: Annotated[str, Field(max_length=400)] = Field(default="", description="what to call it; the table's name where absent")
    source: Annotated[str, Field(max_length=80)] | None = Field(
        default=None, description="a database that the administrator connected"
    )
    table: Annotated[str, Field(min_length=1, max_length=300)] | None = Field(default=None, description="the table there")


class Analyze(_Parameters):
    """The Analyzer's proposal for a dataset."""

    dataset: Number | None = Field(default=None, description="the project's current one where absent")
    apply: bool = Field(default=False, description="also take the proposal over into the policy")


class Risk(_Parameters):
    """The risks of the initial microdata under the policy."""

    measures: list[str] | None = Field(default=None, description="names; the policy's and the five adversaries' where absent")
    dataset: Number | None = None
    revision: Annotated[int, Field(ge=0)] | None = None


class Generate(_Parameters):
    """A release: masked, assessed, told in a report, and stored as a table."""

    dataset: Number | None = None
    revision: Annotated[int, Field(ge=0)] | None = None


class Select(_Parameters):
    """The wizard's search for a plan."""

    limits: dict[str, float] | None = Field(default=None, description="MEASURE.FIELD: number; the policy's where absent")
    seconds: Annotated[float, Field(gt=0, le=86_400)] | None = None
    trials: Annotated[int, Field(ge=1, le=100_000)] | None = None
    seed: Annotated[int, Field(ge=0)] | None = None
    sample: Number | None = None
    risk: str | None = None
    loss: str | None = None
    cost: dict[str, float] | None = None
    dataset: Number | None = None
    revision: Annotated[int, Field(ge=0)] | None = None


class Report(_Parameters):
    """The report on a release once more: as a PDF or JSON file, or the internal one for the data controller."""

    release: Number
    format: Annotated[str, Field(pattern="^(html|json|pdf)$")] = "html"
    internal: bool = Field(default=False, description="the internal report: exact risks, rows and values of single records")
    reveal: bool = Field(default=False, description="the former name of internal")


class Publish(_Parameters):
    """A release stored once more as a table of its own."""

    release: Number


KINDS: dict[str, type[_Parameters]] = {
    "import": Import, "analyze": Analyze, "risk": Risk, "generate": Generate, "select": Select, "report": Report,
    "publish": Publish,
}  # fmt: skip


def check(project: Project, kind: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters as they are kept with the job; raises one sentence where something is wrong with them."""
    if kind not in KINDS:
        raise Invalid(f"'{kind[:40]}' is no kind of job; {nearest(kind[:40], KINDS)}")
    try:
        made = KINDS[kind].model_validate(parameters)
    except ValidationError as error:
        raise Invalid(f"the job {kind}: {explain(error, KINDS[kind])}") from None
    content = made.model_dump(exclude_none=True)
    if isinstance(made, Import) and (made.upload is None) == (made.source is None):
        raise Invalid("an import names an upload, or a connected source and its table")
    if isinstance(made, Import) and made.source is not None and made.table is None:
        raise Invalid(f"name the table of '{made.source}' to import")
    if isinstance(made, Risk) and made.measures is not None:
        for name in made.measures:
            registry.load("risk", name)
    if "revision" in KINDS[kind].model_fields:
        content.setdefault("revision", project.revision)
    return content
