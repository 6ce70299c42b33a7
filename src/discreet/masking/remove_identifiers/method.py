"""Removing direct identifiers, the first step of every release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from discreet.model.attribute import Role
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata


class RemoveIdentifiers(MaskingMethod):
    """Drops the columns with the role identifier, or the columns that the step names.

    >>> from discreet.testing import table
    >>> data = table({"ssn": ["1", "2"], "age": [44, 55]}, identifier=["ssn"], key=["age"])
    >>> RemoveIdentifiers().mask(data, ["ssn"], draw=None).columns
    ['age']
    """

    name: ClassVar[str] = "remove_identifiers"
    citation: ClassVar[str] = "Truta, T. M., Fotouhi, F. & Barth-Jones, D. Automatic generation of masked microdata, section 3."
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.masking.remove_identifiers.spark:remove_identifiers")
    scope: ClassVar[Scope] = Scope.TABLE
    preserves: ClassVar[str] = "Every value of every other attribute."

    def choose(self, data: Microdata) -> list[str]:
        return data.named(Role.IDENTIFIER)

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        return data.drop(list(columns))
