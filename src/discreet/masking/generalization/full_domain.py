"""Full-domain generalization: every value of an attribute goes to the same level of its hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from discreet.engine.cells.containment import coarse
from discreet.engine.cells.hierarchies import hierarchy_of, leaf_codes, level_codes
from discreet.engine.classes.tables import class_table
from discreet.engine.encoding.columns import Column, encode, encode_series
from discreet.masking.generalization.lattice import Checked, Ladder, Lattice
from discreet.masking.generalization.privacy_model import PrivacyModel
from discreet.model.attribute import Level
from discreet.model.cells import EVERYTHING
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

Loss = Literal["loss_metric", "ncp"]


@dataclass(frozen=True)
class FullDomain:
    """The optimum: the node, its loss, the released labels, and which records are suppressed."""

    found: Checked
    columns: dict[str, pl.Series]
    suppressed: NDArray[np.bool_]
    nodes: int
    counted: int


def full_domain(
    data: Microdata,
    keys: Sequence[str],
    model: PrivacyModel,
    sensitive: Sequence[Column],
    *,
    limit: int,
    loss: Loss,
    times: NDArray[np.int64] | None = None,
) -> FullDomain:
    """The generalization of least loss that keeps the model with at most ``limit`` records suppressed.

    ``times`` says how many records each row stands for, one where absent.
    """
    columns = encode(data, keys)
    ladders, texts = zip(*(_ladder(data, column, loss) for column in columns), strict=True)
    table, rows = class_table([(c.codes, c.cardinality) for c in (*columns, *sensitive)], len(data))
    if times is not None:
        table = replace(table, counts=np.bincount(rows, weights=times, minlength=len(table)).astype(np.int64))
    lattice = Lattice(table, ladders, model.of_rows, limit, _geometric if loss == "loss_metric" else _mean)
    found = lattice.search()
    released = {c.name: names[level].gather(c.codes) for c, names, level in zip(columns, texts, found.node, strict=True) if level}
    maps = [ladder.labels[level] for ladder, level in zip(ladders, found.node, strict=True)]
    cards = [ladder.cards(level) for ladder, level in zip(ladders, found.node, strict=True)]
    ids, first, _ = table.classes(maps, cards)
    broken, _ = model.of_rows(table, ids, len(first))
    return FullDomain(found, released, broken[rows], int(np.prod(lattice.shape)), len(lattice.checked))


def _geometric(shares: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The geometric mean over attributes of 1 + share, less 1."""
    total = np.log1p(shares[0])
    for share in shares[1:]:
        total = total + np.log1p(share)
    return np.asarray(np.expm1(total / len(shares)))


def _mean(shares: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    total = shares[0]
    for share in shares[1:]:
        total = total + share
    return np.asarray(total / len(shares))


def _ladder(data: Microdata, column: Column, loss: Loss) -> tuple[Ladder, list[pl.Series]]:
    """The levels of a column by code, a null being a leaf of its own on every level but the last, and their texts."""
    hierarchy = hierarchy_of(data, column.name)
    leaves = leaf_codes(column, hierarchy)[: len(column.values)]
    domain = len(hierarchy.leaves) + column.has_null
    labels, costs, texts = [], [], []
    for level, (codes, names) in enumerate(level_codes(hierarchy)):
        sizes = np.bincount(codes, minlength=len(names))
        own = [names[code] for code in codes[leaves]]
        if level == 0:
            numbers = np.arange(column.cardinality)  # the table that the search starts from has the column's codes
            share = np.zeros(column.cardinality)
            text = [*own, *([None] if column.has_null else [])]
        elif level == hierarchy.height:
            numbers = np.zeros(column.cardinality, dtype=np.int64)
            share = np.ones(column.cardinality)
            text = [EVERYTHING] * column.cardinality
        else:
            numbers = np.append(codes[leaves], [len(names)] if column.has_null else [])
            share = (np.append(sizes[codes[leaves]], [1] if column.has_null else []) - 1) / max(domain - 1, 1)
            text = [*own, *([None] if column.has_null else [])]
        if loss == "ncp":
            share = _penalties(data, column, own, level)
        labels.append(np.unique(numbers, return_inverse=True)[1].astype(np.int32))
        costs.append(share if domain > 1 or loss == "ncp" else np.zeros(column.cardinality))
        texts.append(pl.Series(column.name, text, dtype=pl.String))
    suppressed = np.ones(column.cardinality) if domain > 1 or loss == "ncp" else np.zeros(column.cardinality)
    if loss == "ncp" and column.has_null:
        suppressed[-1] = 0.0  # what was missing cannot be lost
    return Ladder(tuple(labels), tuple(costs), suppressed), texts


def _penalties(data: Microdata, column: Column, own: list[str], level: int) -> NDArray[np.float64]:
    """What the loss ncp takes for the label of each value."""
    made = np.zeros(column.cardinality)
    if level and own:
        labels = encode_series(pl.Series(column.name, own, dtype=pl.String))
        numeric = data.level(column.name) in (Level.NUMERIC, Level.DATE)
        made[: len(own)] = coarse(column, labels, hierarchy_of(data, column.name), numeric=numeric).share[labels.codes]
    return made
