"""Request and response bodies of named drafts."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from discreet.web.api.models import RequestModel, ResponseModel, Revision, Status
from discreet.web.api.workspace_models import Probability, WorkspaceVerdict

DraftName = Annotated[str, Field(min_length=1, max_length=120, pattern=r"^[^\x00-\x1f\x7f]+$")]
Version = Annotated[int, Field(ge=1, le=2**31 - 1, description="The version that you saw; another one is a conflict (409).")]
Known = Annotated[
    dict[str, Probability],
    Field(max_length=2000, description="Probabilities of being known, by attribute, in place of the policy's."),
]


class DraftIn(RequestModel):
    """The current plan, limits and guesses under a new name."""

    name: DraftName
    known: Known = Field(default_factory=dict)


class DraftNameIn(RequestModel):
    """Another name for a draft."""

    name: DraftName
    version: Version


class DraftContentIn(RequestModel):
    """The current plan, limits and guesses in place of those of a draft."""

    version: Version
    known: Known = Field(default_factory=dict)


class DraftOpenIn(RequestModel):
    """Make a draft the current plan."""

    base: Revision = Field(description="The revision that you saw; what somebody else changed since then is a conflict (409).")


class DraftContent(ResponseModel):
    """What a draft holds."""

    sections: dict[str, Any] = Field(description="The sections plan, limits, presets, risk and loss of the policy, where set.")
    known: dict[str, Any] = Field(description="Probabilities of being known, by attribute; a range is a list of two.")


class DraftOut(ResponseModel):
    """A named draft."""

    id: int
    name: str
    version: int
    created: float
    updated: float
    user: str = Field(description="Who changed it last.")
    content: DraftContent


class DraftsOut(ResponseModel):
    """A page of the drafts, last changed first."""

    drafts: list[DraftOut]
    total: int
    page: int
    pages: int


Better = Literal["a", "b", "same", ""]
"""Which side is the better one; empty where it cannot be said."""


class ComparedSide(BaseModel):
    """One side of a comparison; ``draft`` is None for the present plan."""

    name: str
    draft: int | None
    verdict: WorkspaceVerdict


class ComparedStep(BaseModel):
    """A step of one plan or a pair of steps of both."""

    a: dict[str, Any] | None
    b: dict[str, Any] | None
    same: bool
    differences: list[dict[str, Any]] = Field(description="The parameters that differ: name, a and b.")


class ComparedGuess(BaseModel):
    """An attribute whose probability of being known differs."""

    name: str
    a: float | None
    b: float | None


class ComparedLimitSide(BaseModel):
    """A limit on one side; ``required`` is None where that side does not have it."""

    required: float | None
    sentence: str
    measured: float | None
    status: Status | None


class ComparedLimit(BaseModel):
    """A limit of either side."""

    limit: str
    meaning: str
    comparison: str
    a: ComparedLimitSide
    b: ComparedLimitSide
    better: Better


class ComparedNumber(BaseModel):
    """A field that was measured on both sides."""

    kind: Literal["risk", "loss"]
    name: str
    words: str
    explanation: str
    a: float
    b: float
    better: Better


class ComparedCount(BaseModel):
    """Records above the policy's threshold after masking; low and high are the interval for the whole table."""

    measure: str
    threshold: float
    words: str
    above: int
    low: int
    high: int


class ComparedChart(BaseModel):
    """Released values of an attribute: counts by side (a, b) in the same bars."""

    labels: list[str]
    counts: dict[str, list[int]]


class ComparedAttribute(BaseModel):
    """The released distribution of an attribute on both sides; lists hold A first."""

    name: str
    charts: list[ComparedChart]
    removed: list[bool]
    changed: list[float] = Field(description="The share of values that differ from the original.")
    differs: bool


class ComparisonOut(BaseModel):
    """Two drafts side by side; lists of two hold A first."""

    sides: list[ComparedSide]
    whole: bool = Field(description="Whether both are runs on the whole table; else both are previews.")
    records: int
    of: int
    steps: list[ComparedStep]
    guesses: list[ComparedGuess]
    limits: list[ComparedLimit]
    numbers: list[ComparedNumber]
    counts: list[ComparedCount]
    attributes: list[ComparedAttribute]
    attributes_whole: bool
    map: dict[str, Any] | None = Field(description="Both sides, and releases where both are whole, by one risk and one loss.")
