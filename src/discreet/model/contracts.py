"""The whole contract of a plug-in: three classes to inherit from, and what they are given.

A plug-in is a frozen Pydantic model. Its fields are its parameters (policy file, command line, web form and
documentation are made from them); its class attributes say what it is; one method does the work.
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

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Direction = Literal["low", "high"]


class Scope(StrEnum):
    """What a masking method looks at to change a value."""

    CELL = "cell"
    COLUMN = "column"
    GROUP = "group"
    TABLE = "table"


class Draw(Protocol):
    """Random numbers that depend on the seed, the step and the record alone, never on a position in a batch."""

    def uniform(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.float64]:
        """A number in [0, 1) a record."""
        ...

    def normal(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.float64]:
        """A standard normal number a record."""
        ...

    def order(self, records: NDArray[np.int64], stream: str = "") -> NDArray[np.int64]:
        """Positions of the records in a random order: the same order of records however they lie."""
        ...


class Plugin(BaseModel, ABC):
    """What all plug-ins share."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    """The name in policies; that of the entry point."""
    citation: ClassVar[str] = ""
    """Where the formula stands in the literature."""
    documentation: ClassVar[str] = ""
    """The address of the plug-in's page; a built-in has docs/methods/NAME.md instead."""
    spark: ClassVar[EngineWork | None] = None
    """The plug-in's work on Apache Spark; None: it runs on the local engine only."""

    @property
    def parameters(self) -> dict[str, Any]:
        return self.model_dump(by_alias=True)

    @classmethod
    def example(cls) -> Self:
        """An instance to try: the first of a field's ``examples`` where it has some, and its default where it has none."""
        return cls(**{name: field.examples[0] for name, field in cls.model_fields.items() if field.examples})

    @classmethod
    def example_data(cls) -> Microdata | None:
        """A small table that the plug-in can work on, where the conformance kit's own table does not do."""
        return None


class RiskMeasure(Plugin):
    """One adversary: measures what an intruder would find."""

    better: ClassVar[Mapping[str, Direction]] = {}
    """For each summary field that a limit may name, whether less or more of it is safer."""
    neutral: ClassVar[Collection[str]] = ()
    """The numeric summary fields that describe the table and have no better direction, so that no limit may name them."""
    meaning: ClassVar[Mapping[str, str]] = {}
    """For each summary field what it says, with its unit, in a few words."""
    record_meaning: ClassVar[Mapping[str, str]] = {}
    """For each column of ``per_record`` what it says, with its unit; a name may end in ``*`` for columns named by the data."""

    descriptive: ClassVar[Collection[str]] = ()
    """Summary fields that describe the computation or the evidence, not disclosure: a limit on them alone judges nothing."""

    original_use: ClassVar[Literal["none", "optional", "required"]] = "none"
    """Whether ``original`` changes the answer (an intruder who holds true values), or is needed for one at all."""

    @abstractmethod
    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        """Measure ``data``; with ``original`` the intruder holds its true values and searches ``data``."""

    def for_limits(self, limits: Mapping[str, float], *, seconds: float) -> RiskMeasure:
        """The same measure for one who judges limits (summary field: number) on it.

        A measure whose numbers have bounds may spend about so many seconds to bring each bound to one side of its limit.
        """
        return self

    def uses_original(self, data: Microdata) -> bool:
        """Whether knowing the original values can change the answer for this table, with these parameters."""
        return self.original_use != "none"

    def needs_original(self, data: Microdata) -> bool:
        """Whether this table can be measured beside its original only."""
        return self.original_use == "required"

    def reads(self, data: Microdata) -> Sequence[str] | None:
        """The columns whose codes are all that measuring needs, where that is so: a large table is then never held whole.

        ``data`` is the table without its rows. ``None`` means that the measure works on the table itself.
        """
        return None

    def examines(self, data: Microdata) -> Sequence[str]:
        """The columns that this adversary takes as known to the intruder, or as something he may learn; for ``coverage``.

        Default: what ``reads`` says; else the columns that the parameters name; else all keys and confidential attributes.
        """
        if (columns := self.reads(data)) is not None:
            return columns
        fields = ("keys", "attributes", "confidential", "sensitive")
        named = [name for field in fields for name in getattr(self, field, ())]
        return named or data.named(Role.KEY, Role.CONFIDENTIAL)

    def working_bytes(self, sample: Microdata, records: int, *, by_record: bool = False) -> float:
        """About how many bytes measuring so many records holds at most, besides their codes; ``sample`` are some of them.

        ``by_record``: the numbers of each record are asked for too.
        """
        return 100.0 * records

    def explain(self, data: Microdata, record: int, *, original: Microdata | None = None) -> list[str]:
        """Sentences on why one record (a row of ``data``, from 0) is at risk."""
        return []


class MaskingMethod(Plugin):
    """One way of changing a table so that it says less."""

    scope: ClassVar[Scope]
    preserves: ClassVar[str] = ""
    """What stays as it was, in a sentence."""

    inherits: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Parameters (and ``columns``) that a step takes from the policy's risk section unless it names its own.

    Each is given with its sources ``MEASURE.FIELD``; of several the first that the policy uses counts. See
    :func:`discreet.registry.resolve_step`.
    """

    @abstractmethod
    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        """A masked copy of ``data``; ``columns`` are the step's, or the method's own choice where the step names none."""

    def choose(self, data: Microdata) -> list[str]:
        """The columns to work on where the step names none."""
        return []

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        """Raise ParameterError or DataError before anything is changed where the data do not fit."""

    def promise(self, final: Microdata, columns: Sequence[str]) -> list[str]:
        """Sentences on what this step made that does not hold any more in the final table."""
        return []

    def broken(self, before: Microdata, after: Microdata, final: Microdata, columns: Sequence[str]) -> list[str]:
        """As ``promise``, for a method that must see the tables its step was given and made (sums, limits from shares)."""
        return self.promise(final, columns)

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        """Sentences for the step's log on how the work was done: what was approximated, or could not be done."""
        return []


class LossMeasure(Plugin):
    """One way of telling what masking cost."""

    better: ClassVar[Mapping[str, Direction]] = {"loss": "low"}
    neutral: ClassVar[Collection[str]] = ()
    meaning: ClassVar[Mapping[str, str]] = {}
    record_meaning: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def measure(self, original: Microdata, masked: Microdata) -> Score:
        """Measure what ``masked`` lost of ``original``."""

    def only(self, fields: Collection[str]) -> Self:
        """The same measure for one who reads no other fields of its summary: it may leave work undone that they do not need."""
        return self
