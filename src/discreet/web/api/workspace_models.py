"""Request and response bodies of the workspace."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from discreet.web.api.models import RequestModel, Status

Probability = Annotated[float, Field(ge=0, le=1)]
Cell = str | int | float | bool | None


class WorkspaceIn(RequestModel):
    """What to try."""

    known: Annotated[dict[str, Probability], Field(max_length=2000)] = Field(
        default_factory=dict, description="Probabilities of being known, by attribute, in place of the policy's."
    )


class LimitOut(BaseModel):
    """One limit and what was measured."""

    limit: str
    wanted: float
    found: float | None
    status: Status
    meaning: str = ""
    sentence: str = ""


class WorkspaceVerdict(BaseModel):
    """The verdict on the draft, with every limit and every gap in the evidence."""

    whole: bool = Field(description="Whether it is about the whole table; else about the sample.")
    release: int | None = Field(description="The release that was judged, if the draft was run on the whole table.")
    status: Status
    sentence: str
    limits: list[LimitOut]
    gaps: list[str]


class PositionOut(BaseModel):
    """Records above one threshold; low and high are the interval for the whole table, equal where the number is exact."""

    at: int
    threshold: float
    place: float = Field(description="Where it stands in the chart of the bands, from 0 to 1.")
    words: str
    before: int
    before_low: int
    before_high: int
    after: int
    after_low: int
    after_high: int


class BandOut(BaseModel):
    """Records by risk."""

    label: str
    before: int
    after: int


class AttributeBarsOut(BaseModel):
    """The distribution of one attribute; ``own_labels`` and ``own_after`` are those of released labels of their own."""

    name: str
    labels: list[str]
    before: list[int]
    after: list[int] | None
    own_labels: list[str] | None
    own_after: list[int] | None
    changed: int
    released: int
    removed: bool


class ShareOut(BaseModel):
    """What an attribute or a set of attributes contributes to the risk."""

    label: str
    before: float
    after: float


class WorkspaceOut(BaseModel):
    """A draft tried on a sample."""

    measure: str = Field(description="The measure that ranks the records: known_sets or k_anonymity (one over the class size).")
    threshold: float = Field(description="The policy's threshold.")
    records: int = Field(description="Records that the counts are about.")
    of: int = Field(description="Records of the whole table.")
    is_sample: bool
    seconds: float = Field(description="How long the preview took.")
    verdict: WorkspaceVerdict
    positions: list[PositionOut]
    bands: list[BandOut]
    attributes: list[AttributeBarsOut]
    whole_attributes: bool = Field(description="Whether the distributions are those of a run on the whole table.")
    whole_shares: bool = Field(description="The same of by_attribute and by_set.")
    by_attribute: list[ShareOut]
    by_set: list[ShareOut]


class RiskyRecord(BaseModel):
    """One record of the list."""

    record: int = Field(description="Its number in the initial microdata, from 1.")
    before: float | None
    after: float | None = Field(description="None where it is not released.")
    cells: list[Cell]


class RecordsOut(BaseModel):
    """A page of risky records."""

    columns: list[str]
    rows: list[RiskyRecord]
    total: int
    page: int
    pages: int
    threshold: float
    is_sample: bool


class FindingSetOut(BaseModel):
    """A set of attributes by which an intruder finds the record."""

    known: list[str]
    probability: float | None
    share: float
    records: int = Field(description="Records of the initial microdata with the same values, this one included.")
    after: int | None = Field(description="The same in the masked sample.")
    learnt: list[str]


class HelpOut(BaseModel):
    """A step that would hide the record better."""

    method: str
    columns: list[str]
    records: int | None
    sentence: str


class RecordCardOut(BaseModel):
    """One record in detail."""

    record: int
    risk_before: float | None
    risk_after: float | None
    in_sample: bool
    released: bool
    cells: list[dict[str, Any]]
    sets: list[FindingSetOut]
    sentences: list[str]
    help: list[HelpOut]


class MapPointOut(BaseModel):
    """A draft or release on the risk-utility map."""

    release: int
    risk: float
    loss: float
    status: Status
    state: str
    dominated: bool


class MapOut(BaseModel):
    """The risk-utility map."""

    risk_name: str
    loss_name: str
    points: list[MapPointOut]
