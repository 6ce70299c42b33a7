"""The contract of plug-ins: three base classes, and what their methods receive.

A plug-in is a frozen Pydantic model. Its fields are its parameters (the policy file, the command line, the web form and the
documentation are generated from them); its class attributes describe it; one method does the work.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict

from discreet.model.attribute import Role
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.model.sensitivity import Sensitivity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Direction = Literal["low", "high"]


class Scope(StrEnum):
    """What a masking method reads to change a value: the cell, its column, a group of records, or the table."""

    CELL = "cell"
    COLUMN = "column"
    GROUP = "group"
    TABLE = "table"


class Draw(Protocol):
    """Random numbers that depend on the key, the step and the record only, never on the position in a batch."""

    def uniform(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.float64]:
        """One number in [0, 1) per record."""
        ...

    def normal(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.float64]:
        """One standard normal number per record."""
        ...

    def order(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.int64]:
        """Positions of the records in a random order, which does not depend on the order of the rows."""
        ...


class Plugin(BaseModel, ABC):
    """The base of all plug-ins."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    """The name in policies, equal to that of the entry point."""
    citation: ClassVar[str] = ""
    """The reference of the formula in the literature."""
    documentation: ClassVar[str] = ""
    """The URL of the plug-in's documentation; a built-in plug-in has docs/methods/NAME.md instead."""
    spark: ClassVar[EngineWork | None] = None
    """The plug-in's work on Apache Spark; None: it runs on the local engine only."""

    @property
    def parameters(self) -> dict[str, Any]:
        return self.model_dump(by_alias=True)

    @classmethod
    def example(cls) -> Self:
        """An example instance: each field has the first of its ``examples``, or its default where it has none."""
        return cls(**{name: field.examples[0] for name, field in cls.model_fields.items() if field.examples})

    @classmethod
    def example_data(cls) -> Microdata | None:
        """A small table for the plug-in, where the table of the conformance kit does not fit."""
        return None


class RiskMeasure(Plugin):
    """One intruder model: measures the risk that this intruder discloses something."""

    better: ClassVar[Mapping[str, Direction]] = {}
    """For each summary field that a limit may name, whether low or high is safer."""
    neutral: ClassVar[Collection[str]] = ()
    """The numeric summary fields that describe the table and have no better direction, so that no limit may name them."""
    meaning: ClassVar[Mapping[str, str]] = {}
    """A short definition of each summary field, with its unit."""
    limit_sentences: ClassVar[Mapping[str, str]] = {}
    """What a limit on a field says, as a sentence with one blank: {number}, {percent} % (a share) or one in {one_in}; without
    one, people see a sentence made of the field's meaning."""
    record_meaning: ClassVar[Mapping[str, str]] = {}
    """A short definition of each column of ``per_record``, with its unit; ``name*`` covers columns named by the data."""

    occasional: ClassVar[Collection[str]] = ()
    """Summary fields that only some parameters or policies give; a limit on one that is not there cannot be judged."""

    contribution: ClassVar[tuple[str, str] | None] = None
    """The column of ``per_attribute`` that says what an attribute contributes to the risk, and its meaning; drawn as a chart."""

    at_risk: ClassVar[tuple[str, str] | None] = None
    """The summary field that counts what is at risk by the measure's own threshold, and words for it with the blank {number} (and
    {records}) or {percent}: where no limit is set on the measure, people are told how many there are."""

    descriptive: ClassVar[Collection[str]] = ()
    """Summary fields that describe the computation or the evidence, not disclosure: a limit on them alone judges nothing."""

    worst: ClassVar[Mapping[str, float]] = {}
    """For summary fields with a bounded range, the worst possible number: a limit at or beyond it is met by every table."""

    original_use: ClassVar[Literal["none", "optional", "required"]] = "none"
    """Whether ``original`` changes the result (an intruder who knows the original values), or is required for any result."""

    judges_written: ClassVar[bool] = False
    """Whether an assessment measures the table as it is written, without identifiers that are left out of what is written."""

    @abstractmethod
    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        """Measure ``data``; with ``original`` the intruder knows the original values and searches ``data``."""

    def for_limits(self, limits: Mapping[str, float], *, seconds: float) -> RiskMeasure:
        """The same measure, configured to judge these limits (summary field: number).

        A measure that returns bounds may spend about this many seconds to move each bound to one side of its limit.
        """
        return self

    def sampled(self) -> RiskMeasure:
        """The same measure on a sample of the attacks that it would make, for a search that measures many plans; or itself."""
        return self

    def in_full(self) -> RiskMeasure:
        """The same measure without any sampling of its own, for the verdict on the plan that a search chose; or itself."""
        return self

    def uses_original(self, data: Microdata) -> bool:
        """Whether knowledge of the original values can change the result for this table, with these parameters."""
        return self.original_use != "none"

    def needs_original(self, data: Microdata) -> bool:
        """Whether this table can only be measured together with its original."""
        return self.original_use == "required"

    def reads(self, data: Microdata) -> Sequence[str] | None:
        """The columns whose codes suffice for the measure, so that a large table need not be in memory as a whole.

        ``data`` is the table without its rows. ``None`` means that the measure needs the table itself.
        """
        return None

    def examines(self, data: Microdata) -> Sequence[str]:
        """The columns that this intruder is assumed to know or may learn; for ``coverage``.

        Default: the columns of ``reads``; else the columns that the parameters name; else all keys and confidential attributes.
        """
        if (columns := self.reads(data)) is not None:
            return columns
        fields = ("keys", "attributes", "confidential", "sensitive")
        named = [name for field in fields for name in getattr(self, field, ())]
        return named or data.named(Role.KEY, Role.CONFIDENTIAL)

    def working_bytes(self, sample: Microdata, records: int, *, by_record: bool = False) -> float:
        """The approximate peak memory in bytes for measuring this many records, besides their codes; ``sample`` are some of them.

        ``by_record``: the values per record are computed too.
        """
        return 100.0 * records

    def examine_guesses(
        self, data: Microdata, limits: Mapping[str, float], *, original: Microdata | None = None, alone: bool = True,
        seconds: float = 60.0, one_by_one: bool = True,
    ) -> Sensitivity | None:  # fmt: skip
        """How far the verdicts on these limits (summary field: number) hold where the data controller's guesses are wrong.

        With ``original`` an intruder who knows the original values is examined, and beside it the release alone unless ``alone``
        is False. ``seconds`` is about how long it may take. Without ``one_by_one`` guesses are moved together only, which is
        quicker. None: no number of this measure rests on a guess.
        """
        return None

    def explain(self, data: Microdata, record: int, *, original: Microdata | None = None) -> list[str]:
        """Sentences that explain why a record (a row of ``data``, counted from 0) is at risk."""
        return []


class MaskingMethod(Plugin):
    """One method of statistical disclosure control that changes a table."""

    scope: ClassVar[Scope]
    preserves: ClassVar[str] = ""
    """What the method preserves, in a sentence."""

    inherits: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Parameters (and ``columns``) that a step inherits from the policy's risk section unless it names its own.

    Each has its sources ``MEASURE.FIELD``; the first one that the policy uses counts. See
    :func:`discreet.registry.resolve_step`.
    """

    default_columns: ClassVar[str] = "the columns that the method chooses"
    """What ``choose`` takes, in words, for a step that names no columns."""

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str | None:  # noqa: ARG003 - for subclasses
        """What a step does, as a sentence without its first capital and its full stop; None: its name and its parameters.

        ``columns`` are those of the step in words. ``parameters`` are what the step names: the sentence leaves out the defaults
        of the method and what it takes from the policy. :mod:`discreet.masking.step_words` has words for them.
        """
        return None

    @classmethod
    def inherited_by(cls, parameters: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:  # noqa: ARG003 - for subclasses
        """As ``inherits``, for a step with these parameters: a method that serves several measures asks which one."""
        return cls.inherits

    @abstractmethod
    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        """A masked copy of ``data``; ``columns`` are those of the step, or of ``choose`` where the step names none."""

    def choose(self, data: Microdata) -> list[str]:
        """The default columns, for a step that names none."""
        return []

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        """Raise ParameterError or DataError, before anything is changed, where the data do not fit the method."""

    def promise(self, final: Microdata, columns: Sequence[str]) -> list[str]:
        """Sentences on properties that this step guarantees and later steps broke in the final table."""
        return []

    def broken(self, before: Microdata, after: Microdata, final: Microdata, columns: Sequence[str]) -> list[str]:
        """As ``promise``, for a method that needs the tables before and after its step (sums, limits from shares)."""
        return self.promise(final, columns)

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        """Sentences for the step's log: what was approximated, or could not be done."""
        return []


class LossMeasure(Plugin):
    """One measure of the information loss due to masking."""

    better: ClassVar[Mapping[str, Direction]] = {"loss": "low"}
    neutral: ClassVar[Collection[str]] = ()
    meaning: ClassVar[Mapping[str, str]] = {}
    limit_sentences: ClassVar[Mapping[str, str]] = {}
    record_meaning: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def measure(self, original: Microdata, masked: Microdata) -> Score:
        """Measure the information loss of ``masked`` against ``original``."""

    def only(self, fields: Collection[str]) -> Self:
        """The same measure, restricted to these summary fields: it may skip work that they do not need."""
        return self
