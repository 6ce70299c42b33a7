"""The decision-theoretic privacy risk: what the disclosed records are worth to an intruder with dictionaries."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, field_validator, model_validator

from discreet.engine.cells.hierarchies import hierarchy_of
from discreet.engine.disclosure.dictionaries import (
    Dictionary,
    DictionaryFile,
    Relation,
    as_list,
    check_prior,
    load_dictionaries,
    own_dictionary,
    precedes,
    prior_of,
    side_attributes,
)
from discreet.engine.disclosure.sensitivity import Form, loss
from discreet.engine.disclosure.weights import check_weights, sensitivity_of
from discreet.engine.spark.gaps import COARSE, PATTERNS
from discreet.errors import DataError
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.engine_work import EngineWork, Gap
from discreet.model.hierarchy import Hierarchy
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.decision.consistency import Similarity, consistent
from discreet.risks.decision.summary import LossStatistics, choose_prior, summarize

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIMILARITY = Gap(
    "similarity",
    "only exact consistency is counted without comparing pairs",
    lambda plugin: plugin.similarity is not None,
)
RECORD_WEIGHTS = Gap(
    "record_weights",
    "a file of weights per record is read on one machine",
    lambda plugin: plugin.record_weights is not None,
)


class Decision(RiskMeasure):
    r"""The expected loss of a disclosed record: its sensitivity over the number of people who could be behind it.

    $R(\delta, \theta) = \frac{1}{n} \sum_i \Phi(y_i) / |\rho(y_i, \theta)|$, where $\rho(y_i, \theta)$ are the people of
    the dictionary $\theta$ who are consistent with the disclosed record $y_i$; 0 where nobody is.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 44, 55], "state": ["MI", "MI", None]}, key=["age", "state"])
    >>> Decision(sensitivity="phi1").measure(data).summary["risk"]
    1.0
    """

    name: ClassVar[str] = "decision"
    citation: ClassVar[str] = (
        "Lebanon, G., Scannapieco, M., Fouad, M. R. & Bertino, E. (2006). Beyond k-anonymity: a decision theoretic framework for "
        "assessing privacy risk. Privacy in Statistical Databases 2006, LNCS 4302, 217-232."
    )
    spark: ClassVar[EngineWork | None] = EngineWork(
        "discreet.risks.decision.spark:decision", (SIMILARITY, RECORD_WEIGHTS, COARSE, PATTERNS)
    )
    better: ClassVar[Mapping[str, Direction]] = {"risk": "low", "bayes": "low", "worst": "low", "unmatched": "high"}
    meaning: ClassVar[Mapping[str, str]] = {
        "risk": "mean loss a record: the Bayes risk with a prior, else that of the worst dictionary",
        "bayes": "mean of the dictionaries' risks under the prior",
        "worst": "the largest of the dictionaries' risks",
        "unmatched": "records with which nobody in any dictionary is consistent",
        "dictionaries": "the risk under each dictionary",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "loss": "expected loss: under the prior, else under the worst dictionary",
        "rho": "persons of the worst dictionary who are consistent with the record",
        "phi": "sensitivity of what the record discloses",
        "rho_*": "persons of each dictionary who are consistent with the record",
    }
    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"

    sensitivity: Form = Field(
        default="phi1", description="phi1 to phi5: how the weights of disclosed attributes make a record's worth"
    )
    weights: dict[str, float] = Field(
        default_factory=dict,
        description="weight of an attribute, or of attributes disclosed together as a*b; .inf: never to be tied to anybody",
    )
    record_weights: str | None = Field(
        default=None,
        description="file with a weight a record (column weight), or an attribute and record (columns as attributes)",
    )
    order: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="the largest set of attributes that interact (phi4: 2 where absent, phi5: 1)"
    )
    dictionary: tuple[DictionaryFile, ...] = Field(
        default=(), description="file or list of files that the intruder may hold; the microdata itself where absent"
    )
    prior: dict[str, float] = Field(
        default_factory=dict, description="probability of each dictionary; the worst case where absent"
    )
    missing: Literal["wildcard", "category"] = Field(
        default="wildcard", description="a null agrees with anything on either side, or is one more value"
    )
    similarity: Similarity | None = Field(
        default=None, description="values agree that are similar: {threshold: 0.8, of: attribute}"
    )

    @field_validator("dictionary", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return as_list(value)

    @field_validator("similarity", mode="before")
    @classmethod
    def _a_number_is_a_threshold(cls, value: Any) -> Any:
        return {"threshold": value} if isinstance(value, int | float) and not isinstance(value, bool) else value

    @model_validator(mode="after")
    def _fits_together(self) -> Decision:
        check_weights(self.sensitivity, self.weights, self.order)
        check_prior(self.dictionary, self.prior)
        return self

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        dictionaries = load_dictionaries(self.dictionary, data, original)
        function = sensitivity_of(data, self.sensitivity, self.weights, self.record_weights, self.order)
        phi = function.phi([data.frame[name].is_not_null().to_numpy() for name in function.names], len(data))
        rhos = [self._rho(data, one) for one in dictionaries]
        losses = [loss(phi, rho) for rho in rhos]
        prior = choose_prior(prior_of(self.dictionary, self.prior), len(dictionaries))
        statistics = LossStatistics(
            records=len(data),
            totals={one.name: float(values.sum()) for one, values in zip(dictionaries, losses, strict=True)},
            unmatched=int(np.logical_and.reduce([rho == 0 for rho in rhos]).sum()),
            prior=prior,
        )
        at, risks = statistics.worst, list(statistics.risks.values())
        columns = {"loss": losses[at] if prior is None else _mean(losses, prior), "rho": rhos[at], "phi": phi}
        if len(dictionaries) > 1:
            columns |= {f"rho_{one.name}": rho for one, rho in zip(dictionaries, rhos, strict=True)}
        notes = self._notes(data, original or data, dictionaries, rhos, risks)
        return Score(self.name, summarize(statistics), pl.DataFrame(columns), notes=tuple(notes))

    def explain(self, data: Microdata, record: int, *, original: Microdata | None = None) -> list[str]:
        """Who is consistent with the record, what its disclosed attributes weigh, and what that makes."""
        found = self.measure(data, original=original).per_record
        assert found is not None
        row = found.row(record, named=True)
        shown = [name for name in side_attributes(data) if data.frame[name][record] is not None]
        people = "nobody" if row["rho"] == 0 else f"{row['rho']:,} people" if row["rho"] > 1 else "one person"
        return [
            f"It discloses {', '.join(shown) or 'nothing'}, which is worth {row['phi']:g} ({self.sensitivity}).",
            f"{people[0].upper()}{people[1:]} in the worst dictionary could be behind it: its expected loss is {row['loss']:g}.",
        ]

    def _rho(self, data: Microdata, dictionary: Dictionary) -> NDArray[np.int64]:
        return consistent(
            data.frame,
            dictionary.frame,
            dictionary.attributes,
            missing=self.missing,
            similarity=self.similarity,
            coarse=dictionary.frame is not data.frame,
            hierarchies=_hierarchies(data, dictionary),
            cells=data.cells,
            true=dictionary.is_self and dictionary.frame is not data.frame,
        )

    def _notes(
        self,
        data: Microdata,
        owned: Microdata,
        dictionaries: Sequence[Dictionary],
        rhos: Sequence[NDArray[np.int64]],
        risks: Sequence[float],
    ) -> list[str]:
        """What the numbers rest on, and Theorem 1's bound where its conditions hold."""
        notes = [
            f"'{one.name}' has {len(one):,} rows and was compared on {', '.join(one.attributes)}."
            for one in dictionaries
            if not one.is_self
        ]
        if self.weights and self.sensitivity == "phi2":
            notes.append("phi2 weighs records, so the weights of attributes have no part in it.")
        if self.record_weights and self.sensitivity == "phi1":
            notes.append("phi1 weighs attributes, so record_weights have no part in it.")
        ordered = self.missing == "wildcard" and self.similarity is None  # else a blank hides nothing, and no order holds
        if dictionaries[0].is_self:
            notes.append(_own(dictionaries[0].attributes, bounds=ordered and bool((rhos[0] > 0).all())))
        elif ordered:
            itself = own_dictionary(data, owned)
            notes += [_bound_by_itself(self._precedes_itself(data, itself, one), one.name) for one in dictionaries]
            for theta, rho, risk in zip(dictionaries, rhos, risks, strict=True):
                complete = bool((rho > 0).all())
                above = [
                    eta
                    for eta in dictionaries
                    if eta is not theta and complete and precedes(theta, eta, eta.attributes).holds
                    and _unread_labels(data, theta, eta) is None
                ]  # fmt: skip
                notes += [_bound(theta.name, eta.name, risk) for eta in above]
        return notes

    def _precedes_itself(self, data: Microdata, itself: Dictionary, eta: Dictionary) -> Relation:
        """Whether the microdata, compared as its own dictionary on its own attributes, bounds the risk under another one.

        The other dictionary must say nothing of these people beyond the attributes that the microdata itself is compared on (a
        record may agree with a person on the keys and be told apart by what else the dictionary says), and every record must
        agree with somebody in the microdata (a record that agrees with nobody counts 0 there, whatever the other finds).
        """
        said = [name for name in eta.attributes if eta.frame[name].null_count() < len(eta)]
        if more := next((name for name in said if name not in itself.attributes), None):
            return Relation(False, f"'{eta.name}' also says '{more}', on which the microdata itself is not compared")
        if (unread := _unread_labels(data, itself, eta)) is not None:
            return Relation(False, f"'{eta.name}' has values of '{unread}' that its hierarchy does not cover")
        relation = precedes(itself, eta, eta.attributes)
        if relation.holds and itself.frame is not data.frame and (lost := int((self._rho(data, itself) == 0).sum())):
            return Relation(False, f"{lost:,} records agree with nobody in the microdata itself")
        return relation


def _own(attributes: Sequence[str], *, bounds: bool) -> str:
    compared = f"The microdata was its own dictionary, compared on {', '.join(attributes)}"
    if not bounds:
        return f"{compared}."
    return (
        f"{compared}: an intruder whose dictionary has a row for each of these records, perhaps among others, that says no more "
        "of it than these attributes has at most this risk (Theorem 1)."
    )


def _unread_labels(data: Microdata, theta: Dictionary, eta: Dictionary) -> str | None:
    """An attribute whose hierarchy explains the labels of the release for one dictionary but not for the other."""
    explained = set(_hierarchies(data, eta))
    return next((name for name in _hierarchies(data, theta) if name in eta.attributes and name not in explained), None)


def _bound(theta: str, eta: str, risk: float) -> str:
    return (
        f"Everybody in '{theta}' is in '{eta}', which says no more of them, and every record was found in the first: the risk "
        f"under '{eta}' cannot exceed that under '{theta}', {risk:g}, for these records or any part of what they say (Theorem 1)."
    )


def _bound_by_itself(relation: Relation, name: str) -> str:
    if relation.holds:
        return (
            f"Everybody in the microdata is in '{name}', which says no more of them: measured without a dictionary the risk is "
            f"an upper bound of that under '{name}' (Theorem 1)."
        )
    return f"The microdata itself gives no upper bound of the risk under '{name}' (Theorem 1): {relation.reason}."


def _mean(values: Sequence[NDArray[np.float64]], prior: Sequence[float]) -> NDArray[np.float64]:
    """The mean under the prior, where 0 times infinity is 0."""
    total = np.zeros(len(values[0]))
    for one, probability in zip(values, prior, strict=True):
        if probability > 0:
            total = total + probability * one
    return total


def _hierarchies(data: Microdata, dictionary: Dictionary) -> dict[str, Hierarchy]:
    """The hierarchies by whose labels a release may speak of the dictionary's values, where they cover them."""
    found = {}
    for name in dictionary.attributes:
        spec = data.attribute(name).hierarchy
        if spec is None or name in data.cells or dictionary.frame is data.frame:
            continue
        fine = Microdata(dictionary.frame.select(name), data.policy.with_(attributes={name: data.attribute(name)}))
        with contextlib.suppress(DataError):
            found[name] = hierarchy_of(fine, name)
    return found
