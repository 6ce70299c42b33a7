"""The data environment: who receives a release and under what controls, in the words of its owner.

Nothing here is measured. Guidance on anonymisation (the Five Safes; the anonymisation decision-making framework, ADF; ISO/IEC
27559, clause 6) judges the data together with their environment, so a report shows what the owner stated, and what not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Statement = Annotated[str, Field(min_length=1, max_length=2_000)]


class DataEnvironment(BaseModel):
    """What the data controller states about the release; each field is a sentence or two."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    purpose: Statement | None = Field(default=None, description="purpose of the release (safe projects)")
    recipients: Statement | None = Field(default=None, description="people who receive it (safe people)")
    agreement: Statement | None = Field(default=None, description="agreement or licence that binds them")
    setting: Statement | None = Field(default=None, description="place and technical controls of use (safe settings)")
    outputs: Statement | None = Field(default=None, description="checks of what leaves the setting (safe outputs)")
    other_data: Statement | None = Field(default=None, description="other data about the same people that recipients can get")
    residual_risk: Statement | None = Field(default=None, description="remaining risk, and why it is acceptable")
    approval: Statement | None = Field(default=None, description="person who approves the release, and when it is reviewed")

    def statements(self) -> Iterator[tuple[str, str, str | None]]:
        """Name, meaning and text of each field, in their order."""
        for name, info in type(self).model_fields.items():
            yield name.replace("_", " "), info.description or "", getattr(self, name)
