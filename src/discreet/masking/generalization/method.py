"""Generalization to k-anonymity, l-diversity and t-closeness: the classical models."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from discreet.engine.cells.handover import describe
from discreet.engine.cells.hierarchies import hierarchy_of
from discreet.engine.classes.closeness import Distance, ground_distance
from discreet.engine.classes.diversity import overall
from discreet.engine.classes.groups import groups_of
from discreet.engine.encoding.columns import Column, encode
from discreet.engine.spark.gaps import QUANTILES
from discreet.errors import DataError, ParameterError, nearest
from discreet.masking.generalization.privacy_model import Diversity, PrivacyModel, Sensitive
from discreet.model.attribute import Role
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork, Gap
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

PARTITION = Gap(
    "algorithm: partition",
    "its cuts are made on one machine, one after the other",
    lambda plugin: plugin.algorithm == "partition",
)
MOST_CLASSES = 5_000_000
MANY_CLASSES = Gap("more than 5 million combinations of values", "they are searched on one machine")


class Generalization(MaskingMethod):
    """Makes the keys coarser until every class of records that agree on them keeps the models asked for.

    ``full_domain`` takes each key to one level of its hierarchy and suppresses the records of classes that still break a
    model, at most ``suppression_limit`` of them: of all combinations of levels the one of least loss, proven.
    ``partition`` cuts the table recursively (Mondrian), so that values are as fine as their neighbourhood allows.

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"age": [34, 36, 47, 49]}, key=["age"])
    >>> Generalization(k=2, algorithm="partition").mask(data, ["age"], KeyedDraw(7)).frame["age"].to_list()
    ['[34, 36]', '[34, 36]', '[47, 49]', '[47, 49]']
    """

    name: ClassVar[str] = "generalization"
    citation: ClassVar[str] = (
        "Samarati, P. (2001). Protecting respondents' identities in microdata release. IEEE TKDE 13(6); LeFevre, K. et al. "
        "(2006). Mondrian multidimensional k-anonymity. ICDE; Kohlmayer, F. et al. (2012). Flash. PASSAT."
    )
    spark: ClassVar[EngineWork | None] = EngineWork(
        "discreet.masking.generalization.spark:generalization", (PARTITION, QUANTILES, MANY_CLASSES)
    )
    scope: ClassVar[Scope] = Scope.TABLE
    preserves: ClassVar[str] = "The truth: every true value lies within what is released for it; all attributes but the keys."
    inherits: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "columns": ("k_anonymity.keys", "l_diversity.keys", "t_closeness.keys"),
        "sensitive": ("l_diversity.sensitive", "t_closeness.sensitive"),
        "c": ("l_diversity.c",),
        "distance": ("t_closeness.distance",),
    }

    k: Annotated[int, Field(ge=1)] | None = Field(default=None, description="fewest records of a class", examples=[5])
    l: Annotated[float, Field(ge=1, allow_inf_nan=False)] | None = Field(  # noqa: E741 - its name in the literature
        default=None, description="least diversity of each sensitive attribute in a class"
    )
    diversity: Diversity = Field(
        default="distinct", description="what l counts: distinct values, exp(entropy), or recursive (c, l)"
    )
    c: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(default=3.0, description="c of recursive (c, l)-diversity")
    t: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="largest distance of a class from the whole table in each sensitive attribute"
    )
    distance: dict[str, Distance] = Field(
        default_factory=dict, description="equal, ordered or hierarchical; by level where absent"
    )
    sensitive: tuple[str, ...] = Field(
        default=(), description="attributes that l and t protect; those with the role confidential where empty"
    )
    algorithm: Literal["full_domain", "partition"] = Field(
        default="full_domain", description="one level a key, or recursive cuts"
    )
    suppression_limit: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.0, description="largest share of records whose keys may be blanked (full_domain)"
    )
    suppressed: Literal["blank", "remove"] = Field(
        default="blank", description="suppressed records stay with null keys, or are taken out"
    )
    loss: Literal["loss_metric", "ncp"] = Field(default="loss_metric", description="what full_domain makes least")
    strict: bool = Field(default=True, description="partition: records with equal values of a cut attribute stay together")

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if self.k is None and self.l is None and self.t is None:
            raise ValueError("generalization needs at least one of k, l and t")
        return self

    @classmethod
    def example(cls) -> Self:
        return cls(k=2, suppression_limit=1.0)

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
        """The sensitive attributes that a model speaks of."""
        if self.l is None and self.t is None:
            return []
        found = list(self.sensitive) or data.named(Role.CONFIDENTIAL)
        if not found:
            raise DataError("l and t protect sensitive attributes: name them, or give attributes the role confidential")
        return found

    def _model(self, data: Microdata, columns: Sequence[Column], times: NDArray[np.int64] | None = None) -> PrivacyModel:
        protected = []
        for c in columns:
            whole, ground = overall(c.codes, len(c.values), times), ground_distance(data, c, self.distance.get(c.name))
            protected.append(Sensitive(c.name, len(c.values), whole, ground))
        return PrivacyModel(self.k or 1, self.l, self.diversity, self.c, self.t, protected)

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        self.check(data, columns)
        if not len(data):
            return data
        if self.algorithm == "full_domain":
            labels, gone = self.full_domain(data, columns)
            cells = {name: describe(data, name, series, hierarchy=hierarchy_of(data, name)) for name, series in labels.items()}
            return self._suppress(data.with_columns(labels, cells), columns, gone)
        sensitive = encode(data, self.protected(data))
        model = self._model(data, sensitive)
        limit = math.floor(self.suppression_limit * len(data) + 1e-9)
        if self._broken(model, len(data), sensitive):
            if limit < len(data):
                raise DataError(
                    f"all {len(data):,} records together do not keep the model, so no partition can; "
                    "ask for less, or set suppression_limit: 1"
                )
            return self._suppress(data, columns, np.ones(len(data), dtype=np.bool_))
        from discreet.masking.generalization.mondrian import mondrian

        return data.with_columns(*mondrian(data, columns, model, sensitive, relaxed=not self.strict))

    def full_domain(
        self, data: Microdata, columns: Sequence[str], times: NDArray[np.int64] | None = None
    ) -> tuple[dict[str, pl.Series], NDArray[np.bool_]]:
        """The labels of least loss, and who is suppressed; ``times`` says how many records each row stands for."""
        from discreet.masking.generalization.full_domain import full_domain

        sensitive = encode(data, self.protected(data))
        records = len(data) if times is None else int(times.sum())
        limit = math.floor(self.suppression_limit * records + 1e-9)
        model = self._model(data, sensitive, times)
        found = full_domain(data, columns, model, sensitive, limit=limit, loss=self.loss, times=times)
        return found.columns, found.suppressed

    def _broken(self, model: PrivacyModel, size: int, sensitive: Sequence[Column]) -> bool:
        """Whether even the class of all records breaks the model."""
        broken, _ = model.broken(np.zeros(size, dtype=np.int64), 1, np.ones(size, dtype=np.int64), [c.codes for c in sensitive])
        return bool(broken[0])

    def _suppress(self, data: Microdata, columns: Sequence[str], gone: NDArray[np.bool_]) -> Microdata:
        if not gone.any():
            return data
        if self.suppressed == "remove":
            return data.take(np.flatnonzero(~gone))
        flags = pl.Series(gone)
        return data.with_columns({name: data.frame[name].set(flags, None) for name in columns})

    def promise(self, final: Microdata, columns: Sequence[str]) -> list[str]:
        """What the final table's classes do not keep; records with every key blank are told apart from the others."""
        kept = [name for name in columns if name in final.columns]
        names = self.sensitive or final.named(Role.CONFIDENTIAL)
        if not kept or not len(final) or not set(self.protected(final) if names else ()) <= set(final.columns):
            return []
        keys, sensitive = encode(final, kept), encode(final, self.protected(final))
        ids, number = groups_of(keys, len(final))
        model = self._model(final, sensitive)
        broken, _ = model.broken(ids, number, np.ones(len(final), dtype=np.int64), [c.codes for c in sensitive])
        blank = np.logical_and.reduce([column.is_null for column in keys])
        told = []
        if (broken & ~blank).any():
            told.append(f"{int((broken & ~blank).sum()):,} records lie in classes that do not keep the model any more")
        if (broken & blank).any():
            told.append(
                f"the {int(blank.sum()):,} suppressed records are together a class that does not keep the model: "
                "who is sure that his target was suppressed finds it among them; suppressed: remove takes them out"
            )
        return told
