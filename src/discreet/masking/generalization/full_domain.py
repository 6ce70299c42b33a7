"""Full-domain generalization: all values of an attribute are recoded to the same level of its hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from discreet.engine.cells.containment import read_containment
from discreet.engine.cells.hierarchies import hierarchy_of, leaf_codes, level_codes
from discreet.engine.classes.tables import class_table
from discreet.engine.encoding.columns import Column, encode, encode_series
from discreet.masking.generalization.lattice import AttributeLevels, CheckedNode, Lattice
from discreet.masking.generalization.privacy_model import PrivacyModel
from discreet.model.attribute import Level
from discreet.model.cells import EVERYTHING
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

Loss = Literal["loss_metric", "ncp"]


@dataclass(frozen=True)
class FullDomainResult:
    """The optimum: its node with the loss, the released labels, and the records that are suppressed.

    ``nodes`` is the size of the lattice, ``counted`` how many of its nodes were evaluated. ``lowest_loss`` is a proven bound
    of the loss of any admissible node, which is below the node's own loss only if the search ran out of time.
    """

    node: CheckedNode
    columns: dict[str, pl.Series]
    suppressed: NDArray[np.bool_]
    nodes: int
    counted: int
    lowest_loss: float

    @property
    def is_optimal(self) -> bool:
        return self.lowest_loss >= self.node.loss

    def describe_gap(self) -> str:
        """A sentence on a search that ran out of time."""
        share = f"at most {100 * (self.node.loss / self.lowest_loss - 1):.2f} % more than" if self.lowest_loss > 0 else "above"
        return (
            f"the search ran out of time after {self.counted:,} of {self.nodes:,} combinations of levels: the loss is "
            f"{self.node.loss:.6f}, {share} the lower bound of the optimum, {self.lowest_loss:.6f}"
        )


def full_domain(
    data: Microdata,
    keys: Sequence[str],
    model: PrivacyModel,
    sensitive: Sequence[Column],
    *,
    limit: int,
    loss: Loss,
    record_counts: NDArray[np.int64] | None = None,
    seconds: float | None = None,
) -> FullDomainResult:
    """The generalization of least loss that satisfies the model with at most ``limit`` records suppressed.

    ``record_counts`` is the number of records that each row stands for; default: 1. After ``seconds`` the best one so far.
    """
    columns = encode(data, keys)
    levels_by_key, texts = zip(*(_build_levels(data, column, loss) for column in columns), strict=True)
    table, rows = class_table([(c.codes, c.cardinality) for c in (*columns, *sensitive)], len(data))
    if record_counts is not None:
        table = replace(table, counts=np.bincount(rows, weights=record_counts, minlength=len(table)).astype(np.int64))
    lattice = Lattice(table, levels_by_key, model.of_rows, limit, _geometric_mean_loss if loss == "loss_metric" else _mean_loss)
    optimum = lattice.search(seconds)
    released = {
        c.name: names[level].gather(c.codes) for c, names, level in zip(columns, texts, optimum.node, strict=True) if level
    }
    maps = [key_levels.labels[level] for key_levels, level in zip(levels_by_key, optimum.node, strict=True)]
    cards = [key_levels.count_labels(level) for key_levels, level in zip(levels_by_key, optimum.node, strict=True)]
    ids, first, _ = table.classes(maps, cards)
    broken, _ = model.of_rows(table, ids, len(first))
    nodes, counted = int(np.prod(lattice.shape)), len(lattice.checked)
    return FullDomainResult(optimum, released, broken[rows], nodes, counted, lattice.lowest_loss)


def _geometric_mean_loss(shares: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The geometric mean over attributes of 1 + share, less 1 (Iyengar 2002; the measure that ARX calls Loss)."""
    total = np.log1p(shares[0])
    for share in shares[1:]:
        total = total + np.log1p(share)
    return np.asarray(np.expm1(total / len(shares)))


def _mean_loss(shares: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The arithmetic mean over attributes."""
    total = shares[0]
    for share in shares[1:]:
        total = total + share
    return np.asarray(total / len(shares))


def _build_levels(data: Microdata, column: Column, loss: Loss) -> tuple[AttributeLevels, list[pl.Series]]:
    """The levels of a column by code, with null a leaf of its own on every level but the top; and the released texts by level."""
    hierarchy = hierarchy_of(data, column.name)
    leaves = leaf_codes(column, hierarchy)[: len(column.values)]
    domain = len(hierarchy.leaves) + column.has_null
    labels, costs, texts = [], [], []
    for level, (codes, names) in enumerate(level_codes(hierarchy)):
        sizes = np.bincount(codes, minlength=len(names))
        value_labels = [names[code] for code in codes[leaves]]
        if level == 0:
            numbers = np.arange(column.cardinality)  # the search starts from a table with the codes of the column
            share = np.zeros(column.cardinality)
            released_texts = [*value_labels, *([None] if column.has_null else [])]
        elif level == hierarchy.height:
            numbers = np.zeros(column.cardinality, dtype=np.int64)
            share = np.ones(column.cardinality)
            released_texts = [EVERYTHING] * column.cardinality
        else:
            numbers = np.append(codes[leaves], [len(names)] if column.has_null else [])
            share = (np.append(sizes[codes[leaves]], [1] if column.has_null else []) - 1) / max(domain - 1, 1)
            released_texts = [*value_labels, *([None] if column.has_null else [])]
        if loss == "ncp":
            share = _ncp_shares(data, column, value_labels, level)
        labels.append(np.unique(numbers, return_inverse=True)[1].astype(np.int32))
        costs.append(share if domain > 1 or loss == "ncp" else np.zeros(column.cardinality))
        texts.append(pl.Series(column.name, released_texts, dtype=pl.String))
    suppressed = np.ones(column.cardinality) if domain > 1 or loss == "ncp" else np.zeros(column.cardinality)
    if loss == "ncp" and column.has_null:
        suppressed[-1] = 0.0  # suppressing a missing value loses nothing
    return AttributeLevels(tuple(labels), tuple(costs), suppressed), texts


def _ncp_shares(data: Microdata, column: Column, value_labels: list[str], level: int) -> NDArray[np.float64]:
    """The normalized certainty penalty of the label of each value, as the loss measure ncp computes it."""
    shares = np.zeros(column.cardinality)
    if level and value_labels:
        labels = encode_series(pl.Series(column.name, value_labels, dtype=pl.String))
        numeric = data.level(column.name) in (Level.NUMERIC, Level.DATE)
        containment = read_containment(column, labels, hierarchy_of(data, column.name), numeric=numeric)
        shares[: len(value_labels)] = containment.share[labels.codes]
    return shares
