"""Generalization to k-anonymity, l-diversity and t-closeness."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from discreet.engine.cells.handover import describe_labels
from discreet.engine.cells.hierarchies import hierarchy_of
from discreet.engine.classes.closeness import Distance, choose_ground_distance
from discreet.engine.classes.diversity import overall_distribution
from discreet.engine.classes.groups import group_columns
from discreet.engine.encoding.columns import Column, encode
from discreet.engine.spark.gaps import QUANTILES
from discreet.errors import DataError, ParameterError, nearest
from discreet.masking.generalization.privacy_model import Diversity, PrivacyModel, SensitiveAttribute
from discreet.masking.step_words import list_words, say_percent, say_value
from discreet.model.attribute import Role
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork, Gap
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.masking.generalization.full_domain import FullDomainResult

_GAP = "gap of the full-domain search"
PARTITION = Gap(
    "algorithm: partition",
    "its cuts are made on one machine, one after the other",
    lambda plugin: plugin.algorithm == "partition",
)
TIME_LIMIT = Gap(
    "seconds", "its log does not say how far the result can be from the optimum", lambda plugin: plugin.seconds is not None
)
_FEWEST_HOLDERS = 2
"""Records that must hold an end of a range for it to be published as it is, where no k says more."""
MAX_COMBINATIONS = 5_000_000
TOO_MANY_COMBINATIONS = Gap("more than 5 million combinations of values", "they are searched on one machine")


class Generalization(MaskingMethod):
    """Recodes the keys (quasi-identifiers) until every equivalence class satisfies the required privacy models.

    ``full_domain`` recodes each key to one level of its hierarchy and suppresses the records of classes that still violate a
    model, at most ``suppression_limit`` of them: of all combinations of levels the one of least loss, proven.
    ``partition`` cuts the table recursively (Mondrian), so that values are as fine as the records around them allow.

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"age": [34, 37, 47, 49]}, key=["age"])
    >>> Generalization(k=2, algorithm="partition").mask(data, ["age"], KeyedDraw(7)).frame["age"].to_list()
    ['[34, 37]', '[34, 37]', '[46, 49]', '[46, 49]']
    """

    name: ClassVar[str] = "generalization"
    citation: ClassVar[str] = (
        "Samarati, P. (2001). Protecting respondents' identities in microdata release. IEEE TKDE 13(6); LeFevre, K. et al. "
        "(2006). Mondrian multidimensional k-anonymity. ICDE; Kohlmayer, F. et al. (2012). Flash. PASSAT."
    )
    spark: ClassVar[EngineWork | None] = EngineWork(
        "discreet.masking.generalization.spark:generalization", (PARTITION, QUANTILES, TIME_LIMIT, TOO_MANY_COMBINATIONS)
    )
    scope: ClassVar[Scope] = Scope.TABLE
    default_columns: ClassVar[str] = "the keys"
    preserves: ClassVar[str] = "Truthfulness: every released label contains the true value; all attributes but the keys."
    inherits: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "columns": ("k_anonymity.keys", "l_diversity.keys", "t_closeness.keys"),
        "sensitive": ("l_diversity.sensitive", "t_closeness.sensitive"),
        "c": ("l_diversity.c",),
        "distance": ("t_closeness.distance",),
    }

    k: Annotated[int, Field(ge=1)] | None = Field(default=None, description="minimum size of an equivalence class", examples=[5])
    l: Annotated[float, Field(ge=1, allow_inf_nan=False)] | None = Field(  # noqa: E741 - its name in the literature
        default=None, description="minimum diversity of each sensitive attribute in a class"
    )
    diversity: Diversity = Field(
        default="distinct", description="definition of l-diversity: distinct values, exp(entropy), or recursive (c, l)"
    )
    c: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(default=3.0, description="c of recursive (c, l)-diversity")
    t: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="maximum distance of a class from the whole table in each sensitive attribute"
    )
    distance: dict[str, Distance] = Field(
        default_factory=dict, description="ground distance for t: equal, ordered or hierarchical; default: by level"
    )
    sensitive: tuple[str, ...] = Field(
        default=(), description="attributes that l and t protect; default: those with the role confidential"
    )
    algorithm: Literal["full_domain", "partition"] = Field(
        default="full_domain", description="full-domain recoding, or recursive cuts (Mondrian)"
    )
    suppression_limit: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.0, description="maximum share of records whose keys may be suppressed (full_domain)"
    )
    suppressed: Literal["blank", "remove"] = Field(
        default="blank", description="suppressed records stay with null keys, or are removed"
    )
    loss: Literal["loss_metric", "ncp"] = Field(default="loss_metric", description="information loss that full_domain minimises")
    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description="time limit of the search of full_domain, which then returns the best recoding so far and says how far it "
        "can be from the optimum; default: none",
    )
    strict: bool = Field(default=True, description="partition: records with equal values of a cut attribute stay together")
    ends: Literal["rounded", "exact"] = Field(
        default="rounded",
        description="partition: ends of published ranges, rounded outward where fewer than k records hold the value, or exact",
    )

    @model_validator(mode="after")
    def _requires_a_model(self) -> Self:
        if self.k is None and self.l is None and self.t is None:
            raise ValueError("generalization needs at least one of k, l and t")
        return self

    @classmethod
    def example(cls) -> Self:
        return cls(k=2, suppression_limit=1.0)

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:
        required = []
        if (k := parameters.get("k")) is not None:
            required.append(f"at least {k} records share every combination of them")
        if (least := parameters.get("l")) is not None:
            required.append(
                f"every class has at least {say_value(least)} {parameters.get('diversity', 'distinct')} sensitive values"
            )
        if (distance := parameters.get("t")) is not None:
            required.append(f"no class is farther than {say_value(distance)} from the table in a sensitive attribute")
        how = "by recursive cuts (Mondrian)" if parameters.get("algorithm") == "partition" else "to one level for each column"
        suppressed = parameters.get("suppression_limit")
        rest = f", suppressing at most {say_percent(suppressed)} of the records" if suppressed else ""
        until = list_words(required) if required else "every class is large enough by the policy"
        return f"generalize {columns} {how} until {until}{rest}"

    def choose(self, data: Microdata) -> list[str]:
        return data.named(Role.KEY)

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        if not columns:
            raise DataError("generalization needs keys: name columns, or give attributes the role key")
        sensitive = self.protected(data)
        if both := set(columns) & set(sensitive):
            raise DataError(f"'{sorted(both)[0]}' cannot be a key and sensitive at once")
        for name in self.distance:
            if name not in sensitive:
                raise ParameterError(
                    f"generalization.distance names '{name}', which is not sensitive; {nearest(name, sensitive)}"
                )

    def protected(self, data: Microdata) -> list[str]:
        """The sensitive attributes that l and t protect; none if only k is required."""
        if self.l is None and self.t is None:
            return []
        attributes = list(self.sensitive) or data.named(Role.CONFIDENTIAL)
        if not attributes:
            raise DataError("l and t protect sensitive attributes: name them, or give attributes the role confidential")
        return attributes

    def _model(self, data: Microdata, columns: Sequence[Column], record_counts: NDArray[np.int64] | None = None) -> PrivacyModel:
        """The models to satisfy, with the distributions and ground distances of the sensitive columns."""
        protected = []
        for column in columns:
            whole, ground = (
                overall_distribution(column.codes, len(column.values), record_counts),
                choose_ground_distance(data, column, self.distance.get(column.name)),
            )
            protected.append(SensitiveAttribute(column.name, len(column.values), whole, ground))
        return PrivacyModel(self.k or 1, self.l, self.diversity, self.c, self.t, protected)

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        self.check(data, columns)
        if not len(data):
            return data
        if self.algorithm == "full_domain":
            optimum = self.search_full_domain(data, columns)
            labels = optimum.columns
            cells = {
                name: describe_labels(data, name, series, hierarchy=hierarchy_of(data, name)) for name, series in labels.items()
            }
            masked = self._suppress(data.with_columns(labels, cells), columns, optimum.suppressed)
            if not optimum.is_optimal:
                masked.cache[_GAP] = optimum.describe_gap()
            return masked
        sensitive = encode(data, self.protected(data))
        model = self._model(data, sensitive)
        limit = math.floor(self.suppression_limit * len(data) + 1e-9)
        if self._broken(model, len(data), sensitive):
            if limit < len(data):
                raise DataError(
                    f"all {len(data):,} records together violate the model, so every partition does; "
                    "require less, or set suppression_limit: 1"
                )
            return self._suppress(data, columns, np.ones(len(data), dtype=np.bool_))
        from discreet.masking.generalization.mondrian import mondrian

        enough = max(model.k, _FEWEST_HOLDERS) if self.ends == "rounded" else 0
        return data.with_columns(*mondrian(data, columns, model, sensitive, relaxed=not self.strict, enough=enough))

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        return [after.cache[_GAP]] if _GAP in after.cache else []

    def search_full_domain(
        self, data: Microdata, columns: Sequence[str], record_counts: NDArray[np.int64] | None = None
    ) -> FullDomainResult:
        """The labels of least loss, and the rows to suppress; ``record_counts`` are the records per row, default: 1."""
        from discreet.masking.generalization.full_domain import full_domain

        sensitive = encode(data, self.protected(data))
        records = len(data) if record_counts is None else int(record_counts.sum())
        limit = math.floor(self.suppression_limit * records + 1e-9)
        model = self._model(data, sensitive, record_counts)
        return full_domain(
            data, columns, model, sensitive, limit=limit, loss=self.loss, record_counts=record_counts, seconds=self.seconds
        )

    def _broken(self, model: PrivacyModel, size: int, sensitive: Sequence[Column]) -> bool:
        """Whether even the class of all records violates the model."""
        broken, _ = model.broken(np.zeros(size, dtype=np.int64), 1, np.ones(size, dtype=np.int64), [c.codes for c in sensitive])
        return bool(broken[0])

    def _suppress(self, data: Microdata, columns: Sequence[str], suppressed: NDArray[np.bool_]) -> Microdata:
        if not suppressed.any():
            return data
        if self.suppressed == "remove":
            return data.take(np.flatnonzero(~suppressed))
        flags = pl.Series(suppressed)
        return data.with_columns({name: data.frame[name].set(flags, None) for name in columns})

    def promise(self, final: Microdata, columns: Sequence[str]) -> list[str]:
        """Violations of the model in the final table; records with every key suppressed are reported separately."""
        present = [name for name in columns if name in final.columns]
        names = self.sensitive or final.named(Role.CONFIDENTIAL)
        if not present or not len(final) or not set(self.protected(final) if names else ()) <= set(final.columns):
            return []
        keys, sensitive = encode(final, present), encode(final, self.protected(final))
        ids, classes = group_columns(keys, len(final))
        model = self._model(final, sensitive)
        broken, _ = model.broken(ids, classes, np.ones(len(final), dtype=np.int64), [c.codes for c in sensitive])
        blank = np.logical_and.reduce([column.is_null for column in keys])
        sentences = []
        if (broken & ~blank).any():
            sentences.append(f"{int((broken & ~blank).sum()):,} records lie in classes that no longer satisfy the model")
        if (broken & blank).any():
            sentences.append(
                f"the {int(blank.sum()):,} suppressed records form a class that violates the model: an intruder who knows that "
                "the target was suppressed finds it among them; use suppressed: remove"
            )
        return sentences
