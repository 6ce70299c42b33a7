"""Request and response bodies of the REST interface. Times are seconds since 1970 (UTC)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from discreet.web.projects.release_states import State

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

Role = Literal["owner", "editor", "approver", "release_reader"]
Note = Annotated[str, Field(max_length=4000, pattern=r"^[^\x00]*$")]

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
    role: Role
    created: float
    updated: float
    revision: int
    dataset_id: int | None


class ProjectRow(BaseModel):
    """A project with the verdict and the state of its latest release."""

    project: ProjectOut
    release: int | None
    ok: bool | None
    status: Status | None
    released: float | None
    state: State | None


class Member(BaseModel):
    """A member of a project."""

    name: str
    role: Role


class RoleIn(RequestModel):
    """The role to assign."""

    role: Role


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
    """Sections of a policy; null removes one.

    They are attributes.NAME, known_together, scenarios, risk, loss, limits, judge, plan, select, read and missing.
    """

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
    purged: float | None = Field(description="When its content was deleted.")


class Rows(ResponseModel):
    """Rows of a table."""

    columns: list[str]
    rows: list[list[Any]]
    total: int
    offset: int


class JobIn(RequestModel):
    """A job to submit."""

    kind: Literal["import", "preview", "analyze", "risk", "generate", "select", "report"]
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


class ReadingChoice(BaseModel):
    """The value of a reading option, as given or as recognised, and why."""

    option: str
    value: str
    reason: str
    given: bool
    alternatives: list[str]


class PreviewColumnOut(BaseModel):
    """A column as it would be read."""

    name: str
    type: str
    nulls: int
    examples: list[str]
    date: ReadingChoice | None


class PreviewOut(BaseModel):
    """How a table would be read with the options ``read``; ``problem`` says why it cannot be."""

    name: str
    format: str
    read: dict[str, Any]
    options: list[str] = Field(description="The reading options that apply to this format.")
    choices: list[ReadingChoice]
    notes: list[str]
    problem: str
    columns: list[PreviewColumnOut]
    column_count: int
    rows: list[list[Any]]
    records: int | None = Field(description="The number of records, where the whole table was read.")
    lines: list[str] = Field(description="The first lines of a text file as they are.")
    dropped: list[str] = Field(description="Columns that the policy's options name and the table does not have.")
    markers: list[str] = Field(description="Texts that occur and often stand for a missing value.")


class Transition(BaseModel):
    """A state that a release was given."""

    state: State
    by: str
    at: float
    note: str


class ApprovalOut(BaseModel):
    """Who approved a release, when, on what evidence and why; the report prints it."""

    by: str
    at: float
    reason: str
    maker: str = Field(description="Who generated the release.")
    submitted_by: str
    self_approval: bool = Field(description="Whether the approver is one of the makers.")
    self_approval_allowed: bool = Field(description="Whether the server was set up to allow that.")
    verdict: Literal["met", "not met", "incomplete", "no limits"]
    evidence: str
    limits: dict[str, float] = Field(description="The owner's limits at the time.")
    revision: int
    records: int
    sha256: str = Field(description="SHA-256 of the released file.")


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
    """A masked table with its state; policy and assessment are empty for release readers."""

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
    state: State
    history: list[Transition]
    approval: ApprovalOut | None
    superseded_by: int | None
    purged: float | None = Field(description="When the link to the originals, and of a draft the content, was deleted.")


class SubmitIn(RequestModel):
    """A draft for approval."""

    note: Note = Field(default="", description="What the approver should know.")


class ApproveIn(RequestModel):
    """An approval; the approver is the account that sends the request."""

    reason: Note = Field(default="", description="Required unless the owner's limits are set and met.")


class ReturnIn(RequestModel):
    """A release that is not approved."""

    comment: Note = Field(description="What is missing.")


class WithdrawIn(RequestModel):
    """A release that nobody should use any more."""

    reason: Note


class ReleaseSettingsModel(ResponseModel):
    """What the owner decides about releases."""

    model_config = ConfigDict(from_attributes=True, extra="forbid")

    limits: Annotated[dict[str, float], Field(max_length=200)] = Field(
        default_factory=dict, description="Limits for approval, MEASURE.FIELD: number; every release is judged on them."
    )
    retention_days: Annotated[int, Field(ge=1, le=36_500)] | None = Field(
        default=None, description="Days after which originals and drafts are purged; default: never."
    )
    grants: Annotated[list[Annotated[str, Field(min_length=1, max_length=63)]], Field(max_length=50)] = Field(
        default_factory=list, description="Accounts of the database that may read the published table."
    )


class PurgeOut(ResponseModel):
    """What a purge deleted."""

    originals: int
    drafts: int
    links: int


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
