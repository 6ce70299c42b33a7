"""What goes over the wire. Times are seconds since 1970 (UTC)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Revision = Annotated[int, Field(ge=0, le=2**31 - 1)]
Line = Annotated[str, Field(min_length=1, max_length=400, pattern=r"^[^\x00-\x1f\x7f]+$")]
"""A text of one line."""


class Sent(BaseModel):
    """What a program sends: unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Got(BaseModel):
    """What a program gets, read from the services' own records."""

    model_config = ConfigDict(from_attributes=True)


class Failure(BaseModel):
    """Why a request was not answered as asked."""

    status: int
    message: str = Field(description="A sentence for a person.")
    detail: dict[str, Any] = Field(default_factory=dict)


class Me(Got):
    """Who asks, and what they may do."""

    name: str
    admin: bool
    scopes: list[str]


class UserOut(Got):
    """Somebody who can log in."""

    name: str
    admin: bool
    disabled: bool
    created: float


class UserIn(Sent):
    """A new user."""

    name: Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^/\\<>\x00-\x1f\x7f]+$")]
    admin: bool = False


class Invitation(BaseModel):
    """A user with the link that sets their password, once; it is not shown again."""

    user: UserOut
    link: str


Status = Literal["met", "not met", "incomplete"]
"""The verdict on a release; ``incomplete`` means that the evidence does not cover it."""

Scope = Literal["read", "write", "release", "admin"]


class TokenIn(Sent):
    """A new token."""

    name: Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f]+$")]
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=4)]
    days: Annotated[float, Field(gt=0, le=366, description="How long it is good for.")] = 90


class TokenOut(Got):
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


class ProjectIn(Sent):
    """A new project."""

    name: Annotated[str, Field(min_length=1, max_length=120, pattern=r"^[^\x00-\x1f\x7f]+$")]
    table_name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,49}$")] | None = Field(
        default=None, description="The name of the masked table; made from the project's where absent."
    )


class ProjectOut(Got):
    """A project as the one who asks sees it."""

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
    """A project with the verdict of its last release."""

    project: ProjectOut
    release: int | None
    ok: bool | None
    status: Status | None
    released: float | None
    signed_by: str | None


class Member(BaseModel):
    """Somebody in a project."""

    name: str
    role: Literal["owner", "editor", "reader"]


class RoleIn(Sent):
    """The role to give."""

    role: Literal["owner", "editor", "reader"]


class PolicyOut(BaseModel):
    """A policy at a revision."""

    revision: int
    policy: dict[str, Any]
    yaml: str = Field(description="The same as a policy file.")


class PolicyIn(Sent):
    """A whole policy, started from a revision."""

    base: Revision = Field(description="The revision it started from; what others changed since then is a conflict, not lost.")
    policy: dict[str, Any] | None = None
    yaml: Annotated[str, Field(max_length=4_000_000)] | None = Field(
        default=None, description="Instead of policy: a policy file."
    )
    what: Line | None = None


class SectionsIn(Sent):
    """Some sections of a policy: attributes.NAME, risk, loss, limits, judge, plan, select, read, missing; null takes one away."""

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
    """A file that was received whole; an import job names it."""

    upload: str
    bytes: int


class DatasetOut(Got):
    """A table of initial microdata."""

    id: int
    name: str
    records: int
    bytes: float
    sha256: str
    columns: list[dict[str, Any]]
    profile: dict[str, Any] | None
    created: float
    user: str | None


class Rows(Got):
    """Some rows of a table."""

    columns: list[str]
    rows: list[list[Any]]
    total: int
    offset: int


class JobIn(Sent):
    """Long work."""

    kind: Literal["import", "analyze", "risk", "generate", "select", "report"]
    parameters: dict[str, Any] = Field(default_factory=dict)


class JobOut(Got):
    """Long work as it stands."""

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


class ReleaseOut(Got):
    """A masked table with the policy that made it and what was measured."""

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


class SignIn(Sent):
    """A release signed off."""

    name: Line = Field(description="The person who answers for it.")
    note: Annotated[str, Field(max_length=4000, pattern=r"^[^\x00]*$")] = ""


class Entry(BaseModel):
    """A line of the audit log."""

    id: int
    at: float
    who: str
    action: str
    project_id: int | None
    detail: dict[str, Any]
    hash: str


class Audit(BaseModel):
    """The newest entries, and whether the chain is whole."""

    whole: bool
    fault: str | None
    entries: list[Entry]
