"""The disclosure rule of least risk: a given number of entries is disclosed, and the rest is suppressed."""

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
from discreet.masking.min_risk_disclosure.least_risk import LeastRisk, least_risk
from discreet.masking.min_risk_disclosure.losses import Disclosure, suppress_columns
from discreet.masking.step_words import say_required
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.microdata import Microdata


class MinRiskDisclosure(MaskingMethod):
    r"""Discloses k entries per record, in total or per attribute, so that the risk of re-identification is least.

    Algorithm MinRisk (Lebanon et al. 2006): with independent attributes and the multiplicative sensitivity, the loss of a record
    is $\frac{1}{N} \prod_j \gamma_j$ over its disclosed attributes, $\gamma_j = e^{w_j} N / \alpha_j$, so that those with the k
    smallest $\gamma_j$ are the best. All other entries are suppressed.

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
    default_columns: ClassVar[str] = "the attributes"
    preserves: ClassVar[str] = (
        "Truthfulness: every disclosed value is the original one; the number of disclosed entries is given."
    )
    inherits: ClassVar[Mapping[str, tuple[str, ...]]] = {
        name: (f"decision.{name}",) for name in ("weights", "dictionary", "prior", "sensitivity", "record_weights", "order")
    }

    k: Annotated[int, Field(ge=0)] = Field(examples=[2], description="number of entries to disclose")
    per: Literal["record", "table", "attribute"] = Field(
        default="record", description="k entries per record, in the whole table, or per attribute"
    )
    weights: dict[str, float] = Field(
        default_factory=dict, description="sensitivity weight of an attribute; .inf for one that must never be linked to a person"
    )
    dictionary: tuple[DictionaryFile, ...] = Field(
        default=(), description="file or files that an intruder may hold; default: the microdata itself"
    )
    prior: dict[str, float] = Field(
        default_factory=dict, description="probability of each dictionary; default: minimise the worst risk (minimax)"
    )
    sensitivity: Form = Field(
        default="phi5", description="phi1 to phi5: how weights combine to the sensitivity of a record; phi5 has the exact rule"
    )
    record_weights: str | None = Field(default=None, description="file of weights per record, or per record and attribute")
    order: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="size of the largest set of attributes that interact"
    )
    independence: bool = Field(
        default=True, description="assume independent attributes; false: joint counts of the dictionary, by enumeration or search"
    )
    effort: Annotated[int, Field(ge=0)] = Field(default=200, description="maximum number of evaluations of the table by a search")

    @field_validator("dictionary", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return as_list(value)

    @model_validator(mode="after")
    def _fits_together(self) -> MinRiskDisclosure:
        check_weights(self.sensitivity, self.weights, self.order)
        check_prior(self.dictionary, self.prior)
        return self

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:
        per = {"table": "of the whole table", "attribute": "of each attribute"}.get(str(parameters.get("per")), "of each record")
        entries = f"{say_required(parameters.get('k'))} entries {per} in {columns}"
        return f"disclose only {entries}, those with the least risk, and suppress the others"

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
        # ties go to the records with lower numbers, so that the rule does not depend on the order of the rows
        order = np.argsort(data.records, kind="stable")
        ordered = data if (np.diff(data.records) >= 0).all() else data.take(order)
        prior = prior_of(self.dictionary, self.prior)
        result = least_risk(self._problem(ordered, columns), self.k, self.per, prior, self.effort)
        rule = result.rule[np.argsort(order, kind="stable")]
        masked = data.with_columns(suppress_columns(data, columns, rule))
        masked.cache["least_risk"] = result
        return masked

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        """The risk of the rule, and how far from the least risk it can be."""
        result: LeastRisk | None = after.cache.get("least_risk")
        if result is None or not len(before):
            return []
        disclosed = int(sum(after.frame[name].is_not_null().sum() for name in columns))
        sentences = [f"{disclosed:,} entries of {len(columns) * len(before):,} are disclosed (by {result.how})."]
        basis = "with independent attributes" if self.independence else "with joint counts"
        if not np.isfinite(result.risk):
            return [
                *sentences,
                "An attribute of infinite weight is disclosed for a record that can be linked: the risk is infinite; lower k.",
            ]
        sentences.append(f"The risk, computed {basis}, is {result.risk:.6g} per record.")
        if result.exact:
            sentences.append("No rule with as many entries has a lower risk.")
        else:
            gap = f", {result.risk / result.bound - 1:.2%} below" if result.bound > 0 else ""
            sentences.append(f"No rule with as many entries has a risk below {result.bound:.6g}{gap}.")
        return sentences

    def _problem(self, data: Microdata, columns: Sequence[str]) -> Disclosure:
        dictionaries = load_dictionaries(self.dictionary, data)
        function = sensitivity_of(data, self.sensitivity, self.weights, self.record_weights, self.order)
        return Disclosure(data, tuple(columns), function, tuple(dictionaries), self.independence)
