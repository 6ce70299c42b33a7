"""Removing direct identifiers, the first step of every release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from discreet.errors import DataError
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
    default_columns: ClassVar[str] = "the identifiers"
    preserves: ClassVar[str] = "Every value of every other attribute."

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:  # noqa: ARG003 - of any parameters
        return f"remove {columns}"

    def choose(self, data: Microdata) -> list[str]:
        return data.named(Role.IDENTIFIER)

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        for name in columns:
            if name in data.policy.attributes and name not in data.released_without:
                raise DataError(
                    f"{self.name} takes out identifiers, persons and households; '{name}' has the role "
                    f"{data.attribute(name).role}: give it the role identifier, or make all its values one by global_recoding"
                )

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        return data.drop(list(columns))
