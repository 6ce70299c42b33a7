"""The disclosure rule of least risk: suppress so that what is left tells least of those whom it concerns most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from discreet.engine.disclosure.dictionaries import (
    DictionaryFile,
    as_list,
    check_prior,
    load_dictionaries,
    prior_of,
    side_attributes,
)
from discreet.engine.disclosure.sensitivity import Form
from discreet.engine.disclosure.weights import check_weights, sensitivity_of
from discreet.errors import DataError, ParameterError
from discreet.masking.min_risk_disclosure.least_risk import Found, least_risk
from discreet.masking.min_risk_disclosure.losses import Disclosure, suppressed
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.microdata import Microdata


class MinRiskDisclosure(MaskingMethod):
    r"""Discloses k entries a record, in total or an attribute, so that the risk of re-identification is least.

    Algorithm MinRisk: with independent attributes and the multiplicative sensitivity the loss of a record is
    $\frac{1}{N} \prod_j \gamma_j$ over what it discloses, $\gamma_j = e^{w_j} N / \alpha_j$, so that its k smallest
    $\gamma_j$ are the best k. Everything else is suppressed.

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"sex": ["f", "f", "m"], "age": [44, 55, 55]}, key=["sex", "age"])
    >>> MinRiskDisclosure(k=1).mask(data, ["sex", "age"], KeyedDraw(7)).frame.rows()
    [('f', None), ('f', None), (None, 55)]
    """

    name: ClassVar[str] = "min_risk_disclosure"
    citation: ClassVar[str] = (
        "Lebanon, G., Scannapieco, M., Fouad, M. R. & Bertino, E. (2006). Beyond k-anonymity: a decision theoretic framework for "
        "assessing privacy risk. Privacy in Statistical Databases 2006, LNCS 4302, 217-232."
    )
    scope: ClassVar[Scope] = Scope.TABLE
    preserves: ClassVar[str] = "Every value that is disclosed is true; how many are disclosed is the owner's choice."
    inherits: ClassVar[Mapping[str, tuple[str, ...]]] = {
        name: (f"decision.{name}",) for name in ("weights", "dictionary", "prior", "sensitivity", "record_weights", "order")
    }

    k: Annotated[int, Field(ge=0)] = Field(examples=[2], description="how many entries are disclosed")
    per: Literal["record", "table", "attribute"] = Field(
        default="record", description="k entries of each record, of the whole table, or of each attribute"
    )
    weights: dict[str, float] = Field(
        default_factory=dict, description="weight of an attribute; .inf where it may never be tied to anybody"
    )
    dictionary: tuple[DictionaryFile, ...] = Field(
        default=(), description="file or list of files that the intruder may hold; the microdata itself where absent"
    )
    prior: dict[str, float] = Field(
        default_factory=dict, description="probability of each dictionary; the least worst risk is sought where absent"
    )
    sensitivity: Form = Field(
        default="phi5", description="phi1 to phi5: how weights make a record's worth; phi5 has the exact rule"
    )
    record_weights: str | None = Field(default=None, description="file with a weight a record, or an attribute and record")
    order: Annotated[int, Field(ge=1)] | None = Field(default=None, description="the largest set of attributes that interact")
    independence: bool = Field(
        default=True, description="count people by independent attributes; false: as the dictionary is, by enumeration or search"
    )
    effort: Annotated[int, Field(ge=0)] = Field(default=200, description="evaluations of the table that a search may spend")

    @field_validator("dictionary", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return as_list(value)

    @model_validator(mode="after")
    def _fits_together(self) -> MinRiskDisclosure:
        check_weights(self.sensitivity, self.weights, self.order)
        check_prior(self.dictionary, self.prior)
        return self

    def choose(self, data: Microdata) -> list[str]:
        return side_attributes(data)

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        if not columns:
            raise DataError("min_risk_disclosure needs columns: name the attributes that may be disclosed")
        most = {"record": len(columns), "table": len(columns) * len(data), "attribute": len(data)}[self.per]
        if self.k > most:
            what = {"record": "attributes to disclose", "table": "entries", "attribute": "records"}[self.per]
            raise ParameterError(f"k is {self.k:,} per {self.per}, but there are only {most:,} {what}")
        self._problem(data, columns)

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        # ties go to the first records, so the rule is sought in their order, however the rows lie
        order = np.argsort(data.records, kind="stable")
        ordered = data if (np.diff(data.records) >= 0).all() else data.take(order)
        prior = prior_of(self.dictionary, self.prior)
        found = least_risk(self._problem(ordered, columns), self.k, self.per, prior, self.effort)
        rule = found.rule[np.argsort(order, kind="stable")]
        made = data.with_columns(suppressed(data, columns, rule))
        made.cache["least_risk"] = found
        return made

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        """What was reached, and how far from the best it can be."""
        found: Found | None = after.cache.get("least_risk")
        if found is None or not len(before):
            return []
        shown = int(sum(after.frame[name].is_not_null().sum() for name in columns))
        said = [f"{shown:,} entries of {len(columns) * len(before):,} are disclosed (by {found.how})."]
        basis = "by independent attributes" if self.independence else "as the dictionary is"
        if not np.isfinite(found.risk):
            return [*said, "Some infinite weight had to be disclosed with people to tie it to: the risk is infinite; lower k."]
        said.append(f"The risk, counted {basis}, is {found.risk:.6g} a record.")
        if found.exact:
            said.append("No rule with as many entries has less.")
        else:
            gap = f", {found.risk / found.bound - 1:.2%} below" if found.bound > 0 else ""
            said.append(f"No rule with as many entries has less than {found.bound:.6g}{gap}.")
        return said

    def _problem(self, data: Microdata, columns: Sequence[str]) -> Disclosure:
        dictionaries = load_dictionaries(self.dictionary, data)
        function = sensitivity_of(data, self.sensitivity, self.weights, self.record_weights, self.order)
        return Disclosure(data, tuple(columns), function, tuple(dictionaries), self.independence)
