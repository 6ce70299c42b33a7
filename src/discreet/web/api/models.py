"""Request and response bodies of the REST interface. Times are seconds since 1970 (UTC)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Revision = Annotated[int, Field(ge=0, le=2**31 - 1)]
Line = Annotated[str, Field(min_length=1, max_length=400, pattern=r"^[^\x00-\x1f\x7f]+$")]
"""A text without line breaks."""


class RequestModel(BaseModel):
    """Base class of request bodies; unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ResponseModel(BaseModel):
    """Base class of responses, filled from the attributes of dataclasses."""

    model_config = ConfigDict(from_attributes=True)


class Failure(BaseModel):
    """Why a request failed."""

    status: int
    message: str = Field(description="A sentence for the user.")
    detail: dict[str, Any] = Field(default_factory=dict)


class Me(ResponseModel):
    """The user of the request and the scopes it has."""

    name: str
    admin: bool
    scopes: list[str]


class UserOut(ResponseModel):
    """A user who can log in."""

    name: str
    admin: bool
    disabled: bool
    created: float


class UserIn(RequestModel):
    """A new user."""

    name: Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^/\\<>\x00-\x1f\x7f]+$")]
    admin: bool = False


class Invitation(BaseModel):
    """A user with the one-time link that sets the password; the link is not shown again."""

    user: UserOut
    link: str


Status = Literal["met", "not met", "incomplete"]
"""The verdict on a release; ``incomplete``: the evidence does not cover every limit."""

Scope = Literal["read", "write", "release", "admin"]


class TokenIn(RequestModel):
    """A new token."""

    name: Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f]+$")]
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=4)]
    days: Annotated[float, Field(gt=0, le=366, description="Days until it expires.")] = 90


class TokenOut(ResponseModel):
    """A token without its secret."""

    id: int
    name: str
    scopes: list[str]
    created: float
    expires: float
    used: float | None


class TokenMade(TokenOut):
    """A new token with its secret, which is not shown again."""

    secret: str


class ProjectIn(RequestModel):
    """A new project."""

    name: Annotated[str, Field(min_length=1, max_length=120, pattern=r"^[^\x00-\x1f\x7f]+$")]
    table_name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,49}$")] | None = Field(
        default=None, description="The name of the masked table; default: derived from the project's name."
    )


class ProjectOut(ResponseModel):
    """A project, with the role of the requesting user."""

    id: int
    name: str
    table_name: str
    owner: str
    role: str
    created: float
    updated: float
    revision: int
    dataset_id: int | None


class ProjectRow(BaseModel):
    """A project with the verdict of its latest release."""

    project: ProjectOut
    release: int | None
    ok: bool | None
    status: Status | None
    released: float | None
    signed_by: str | None


class Member(BaseModel):
    """A member of a project."""

    name: str
    role: Literal["owner", "editor", "reader"]


class RoleIn(RequestModel):
    """The role to assign."""

    role: Literal["owner", "editor", "reader"]


class PolicyOut(BaseModel):
    """A policy at a revision."""

    revision: int
    policy: dict[str, Any]
    yaml: str = Field(description="The policy as a policy file.")


class PolicyIn(RequestModel):
    """A whole policy, based on a revision."""

    base: Revision = Field(
        description="The revision the edit is based on; later changes by others are reported as a conflict, not overwritten."
    )
    policy: dict[str, Any] | None = None
    yaml: Annotated[str, Field(max_length=4_000_000)] | None = Field(
        default=None, description="A policy file, instead of policy."
    )
    what: Line | None = None


class SectionsIn(RequestModel):
    """Sections of a policy: attributes.NAME, risk, loss, limits, judge, plan, select, read, missing; null removes a section."""

    base: Revision
    sections: Annotated[dict[str, Any], Field(min_length=1, max_length=5000)]
    what: Line | None = None


class Change(BaseModel):
    """A revision of a policy."""

    revision: int
    at: float
    what: str
    name: str | None


class Uploaded(BaseModel):
    """A completely received file; an import job refers to it by ``upload``."""

    upload: str
    bytes: int


class DatasetOut(ResponseModel):
    """A dataset of initial microdata."""

    id: int
    name: str
    records: int
    bytes: float
    sha256: str
    columns: list[dict[str, Any]]
    profile: dict[str, Any] | None
    created: float
    user: str | None


class Rows(ResponseModel):
    """Rows of a table."""

    columns: list[str]
    rows: list[list[Any]]
    total: int
    offset: int


class JobIn(RequestModel):
    """A job to submit."""

    kind: Literal["import", "analyze", "risk", "generate", "select", "report"]
    parameters: dict[str, Any] = Field(default_factory=dict)


class JobOut(ResponseModel):
    """A job and its current state."""

    id: str
    kind: str
    parameters: dict[str, Any]
    state: Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
    what: str
    done: float
    total: float
    partial: Any = None
    result: dict[str, Any] | None = None
    created: float
    started: float | None
    finished: float | None
    user: str


class ActiveJobOut(ResponseModel):
    """A queued or running job, without anything of its data."""

    id: str
    project_id: int
    user: str
    kind: str
    state: Literal["queued", "running"]
    cancelling: bool
    created: float
    started: float | None


class QuotaIn(RequestModel):
    """What a user may use; null is the server's default."""

    bytes: Annotated[float, Field(ge=0, le=1e17, description="On disk, of all projects that the user owns.")] | None = None
    jobs: Annotated[int, Field(ge=0, le=10_000, description="Queued and running at the same time.")] | None = None
    hours: Annotated[float, Field(ge=0, le=1e6, description="Running time of jobs within a day.")] | None = None


class QuotaOut(ResponseModel):
    """What a user may use."""

    bytes: float
    jobs: int
    hours: float


class Grant(RequestModel):
    """A table of a connected database that a user may import; ``*`` is all of them."""

    user: Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^/\\<>\x00-\x1f\x7f]+$")]
    source: Annotated[str, Field(min_length=1, max_length=80)]
    table: Annotated[str, Field(min_length=1, max_length=300, pattern=r"^[^\x00-\x1f\x7f]+$")] = "*"


class ReleaseOut(ResponseModel):
    """A masked table with the policy that produced it and its assessment."""

    number: int
    dataset_id: int
    revision: int
    policy: dict[str, Any]
    sha256: str
    records: int
    table_name: str
    assessment: dict[str, Any]
    ok: bool | None
    status: Status
    created: float
    user: str
    signed_by: str | None
    signed_at: float | None
    signed_note: str | None
    superseded_by: int | None


class SignIn(RequestModel):
    """The signature on a release."""

    name: Line = Field(description="The person who is responsible for the release.")
    note: Annotated[str, Field(max_length=4000, pattern=r"^[^\x00]*$")] = ""


class Entry(BaseModel):
    """An entry of the audit log."""

    id: int
    at: float
    who: str
    action: str
    project_id: int | None
    detail: dict[str, Any]
    hash: str


class Audit(BaseModel):
    """The newest entries, and whether the hash chain is intact."""

    whole: bool
    fault: str | None
    head: str = Field(description="The end of the log, NUMBER:HASH, as reports print it.")
    entries: list[Entry]
