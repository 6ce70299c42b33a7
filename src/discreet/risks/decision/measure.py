"""The decision-theoretic privacy risk (Lebanon et al.): the expected loss against an intruder with dictionaries."""

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
from discreet.model.sensitivity import Sensitivity
from discreet.risks.decision.consistency import Similarity, count_consistent
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
    r"""The expected loss of a disclosed record: its sensitivity divided by the number of persons who are consistent with it.

    $R(\delta, \theta) = \frac{1}{n} \sum_i \Phi(y_i) / |\rho(y_i, \theta)|$, where $\rho(y_i, \theta)$ are the persons of
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
        "risk": "mean expected loss per record: Bayes risk with a prior, else under the worst dictionary",
        "bayes": "Bayes risk: mean of the dictionaries' risks under the prior",
        "worst": "the largest risk over the dictionaries (worst case)",
        "unmatched": "records that are consistent with nobody in any dictionary",
        "dictionaries": "risk under each dictionary",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "loss": "expected loss of the record: under the prior, else under the worst dictionary",
        "rho": "persons of the worst dictionary who are consistent with the record",
        "phi": "sensitivity of what the record discloses",
        "rho_*": "persons of each dictionary who are consistent with the record",
    }
    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"

    sensitivity: Form = Field(
        default="phi1", description="sensitivity function phi1 to phi5 of the weights of the disclosed attributes"
    )
    weights: dict[str, float] = Field(
        default_factory=dict,
        description="weight of an attribute, or of attributes disclosed together as a*b; .inf: must never be linked to a person",
    )
    record_weights: str | None = Field(
        default=None,
        description="file of weights per record (column weight), or per record and attribute (columns named as attributes)",
    )
    order: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="size of the largest set of attributes that interact; default: 2 for phi4, 1 for phi5"
    )
    dictionary: tuple[DictionaryFile, ...] = Field(
        default=(), description="file or list of files that the intruder may have; default: the microdata itself"
    )
    prior: dict[str, float] = Field(default_factory=dict, description="probability of each dictionary; default: worst case")
    missing: Literal["wildcard", "category"] = Field(
        default="wildcard", description="a null agrees with anything on either side, or is one more value"
    )
    similarity: Similarity | None = Field(default=None, description="similar values agree: {threshold: 0.8, of: attribute}")

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
        rhos = [self._rho(data, dictionary) for dictionary in dictionaries]
        losses = [loss(phi, rho) for rho in rhos]
        prior = choose_prior(prior_of(self.dictionary, self.prior), len(dictionaries))
        statistics = LossStatistics(
            records=len(data),
            totals={dictionary.name: float(values.sum()) for dictionary, values in zip(dictionaries, losses, strict=True)},
            unmatched=int(np.logical_and.reduce([rho == 0 for rho in rhos]).sum()),
            prior=prior,
        )
        worst, risks = statistics.worst, list(statistics.risks.values())
        columns = {"loss": losses[worst] if prior is None else _mean(losses, prior), "rho": rhos[worst], "phi": phi}
        if len(dictionaries) > 1:
            columns |= {f"rho_{dictionary.name}": rho for dictionary, rho in zip(dictionaries, rhos, strict=True)}
        notes = self._notes(data, original or data, dictionaries, rhos, risks)
        return Score(self.name, summarize(statistics), pl.DataFrame(columns), notes=tuple(notes))

    def examine_guesses(
        self, data: Microdata, limits: Mapping[str, float], *, original: Microdata | None = None, alone: bool = True,
        seconds: float = 60.0, one_by_one: bool = True,
    ) -> Sensitivity | None:  # fmt: skip
        from discreet.risks.decision.sensitivity import DecisionGuesses, examine_decision  # not needed by most runs

        guesses = []
        for known in [*([None] if alone or original is None else []), *([] if original is None else [original])]:
            dictionaries = load_dictionaries(self.dictionary, data, known)
            function = sensitivity_of(data, self.sensitivity, self.weights, self.record_weights, self.order)
            disclosed = [data.frame[name].is_not_null().to_numpy() for name in function.names]
            rhos = {dictionary.name: self._rho(data, dictionary) for dictionary in dictionaries}
            prior = choose_prior(prior_of(self.dictionary, self.prior), len(dictionaries))
            guesses.append(DecisionGuesses(function, disclosed, rhos, prior, len(data)))
        return examine_decision(guesses, limits, self.better, seconds, one_by_one=one_by_one)

    def explain(self, data: Microdata, record: int, *, original: Microdata | None = None) -> list[str]:
        """Sentences on the sensitivity of the record, the number of persons consistent with it, and its expected loss."""
        per_record = self.measure(data, original=original).per_record
        assert per_record is not None
        row = per_record.row(record, named=True)
        disclosed = [name for name in side_attributes(data) if data.frame[name][record] is not None]
        people = "nobody" if row["rho"] == 0 else f"{row['rho']:,} persons" if row["rho"] > 1 else "one person"
        verb = "are" if row["rho"] > 1 else "is"
        return [
            f"It discloses {', '.join(disclosed) or 'nothing'}, with sensitivity {row['phi']:g} ({self.sensitivity}).",
            f"{people[0].upper()}{people[1:]} in the worst dictionary {verb} consistent with it; expected loss: {row['loss']:g}.",
        ]

    def _rho(self, data: Microdata, dictionary: Dictionary) -> NDArray[np.int64]:
        return count_consistent(
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
        """Notes on the dictionaries, and the bound of Lebanon et al., Theorem 1, where its conditions hold."""
        notes = [
            f"'{dictionary.name}' has {len(dictionary):,} rows and was compared on {', '.join(dictionary.attributes)}."
            for dictionary in dictionaries
            if not dictionary.is_self
        ]
        if self.weights and self.sensitivity == "phi2":
            notes.append("phi2 weights records, so the weights of attributes are not used.")
        if self.record_weights and self.sensitivity == "phi1":
            notes.append("phi1 weights attributes, so record_weights are not used.")
        ordered = (
            self.missing == "wildcard" and self.similarity is None
        )  # otherwise a suppressed value does not agree with everything, and Theorem 1 does not hold
        if dictionaries[0].is_self:
            notes.append(_note_on_own_dictionary(dictionaries[0].attributes, bounds=ordered and bool((rhos[0] > 0).all())))
        elif ordered:
            microdata_dictionary = own_dictionary(data, owned)
            notes += [
                _note_on_own_bound(self._precedes_itself(data, microdata_dictionary, dictionary), dictionary.name)
                for dictionary in dictionaries
            ]
            for theta, rho, risk in zip(dictionaries, rhos, risks, strict=True):
                complete = bool((rho > 0).all())
                above = [
                    eta
                    for eta in dictionaries
                    if eta is not theta and complete and precedes(theta, eta, eta.attributes).holds
                    and _unread_labels(data, theta, eta) is None
                ]  # fmt: skip
                notes += [_note_on_bound(theta.name, eta.name, risk) for eta in above]
        return notes

    def _precedes_itself(self, data: Microdata, itself: Dictionary, eta: Dictionary) -> Relation:
        """Whether the microdata, compared as its own dictionary on its own attributes, bounds the risk under another one.

        The other dictionary must not hold attributes of these persons beyond those on which the microdata is compared (a record
        may agree with a person on the keys and be distinguished by a further attribute), and every record must agree with
        somebody in the microdata (a record that agrees with nobody has loss 0 there, whatever it is under the other dictionary).
        """
        stated = [name for name in eta.attributes if eta.frame[name].null_count() < len(eta)]
        if extra := next((name for name in stated if name not in itself.attributes), None):
            return Relation(False, f"'{eta.name}' also holds '{extra}', on which the microdata itself is not compared")
        if (unread := _unread_labels(data, itself, eta)) is not None:
            return Relation(False, f"'{eta.name}' has values of '{unread}' that its hierarchy does not cover")
        relation = precedes(itself, eta, eta.attributes)
        if relation.holds and itself.frame is not data.frame and (unmatched := int((self._rho(data, itself) == 0).sum())):
            return Relation(False, f"{unmatched:,} records agree with nobody in the microdata itself")
        return relation


def _note_on_own_dictionary(attributes: Sequence[str], *, bounds: bool) -> str:
    compared = f"The microdata was its own dictionary, compared on {', '.join(attributes)}"
    if not bounds:
        return f"{compared}."
    return (
        f"{compared}: this is an upper bound of the risk under any dictionary that has a row for each of these records, perhaps "
        "among others, and no other attributes of them (Theorem 1)."
    )


def _unread_labels(data: Microdata, theta: Dictionary, eta: Dictionary) -> str | None:
    """An attribute whose hierarchy explains the labels of the release for one dictionary but not for the other."""
    explained = set(_hierarchies(data, eta))
    return next((name for name in _hierarchies(data, theta) if name in eta.attributes and name not in explained), None)


def _note_on_bound(theta: str, eta: str, risk: float) -> str:
    return (
        f"Everybody in '{theta}' is in '{eta}', which holds no further attributes of them, and every record is consistent with "
        f"somebody in '{theta}': the risk under '{eta}' is at most that under '{theta}', {risk:g}, also where less of these "
        "records is disclosed (Theorem 1)."
    )


def _note_on_own_bound(relation: Relation, name: str) -> str:
    if relation.holds:
        return (
            f"Everybody in the microdata is in '{name}', which holds no further attributes of them: the risk measured without a "
            f"dictionary is an upper bound of that under '{name}' (Theorem 1)."
        )
    return f"The microdata itself gives no upper bound of the risk under '{name}' (Theorem 1): {relation.reason}."


def _mean(values: Sequence[NDArray[np.float64]], prior: Sequence[float]) -> NDArray[np.float64]:
    """The mean under the prior; 0 times infinity is 0."""
    total = np.zeros(len(values[0]))
    for losses, probability in zip(values, prior, strict=True):
        if probability > 0:
            total = total + probability * losses
    return total


def _hierarchies(data: Microdata, dictionary: Dictionary) -> dict[str, Hierarchy]:
    """The hierarchies by whose labels the release is compared with the dictionary, where they cover the dictionary's values."""
    hierarchies = {}
    for name in dictionary.attributes:
        spec = data.attribute(name).hierarchy
        if spec is None or name in data.cells or dictionary.frame is data.frame:
            continue
        fine = Microdata(dictionary.frame.select(name), data.policy.with_(attributes={name: data.attribute(name)}))
        with contextlib.suppress(DataError):
            hierarchies[name] = hierarchy_of(fine, name)
    return hierarchies
