"""The influence of every guess as a table: elasticities of the mean risk, of the number of high-risk records, of each record.

A number of records is a step function, so its elasticity is that of a finite change: with N(x) high-risk records where the guess
is x, (N(x+) - N(x-)) / N(x) over (x+ - x-) / x, for x+ and x- ten percent above and below, cut off at 1. It is exact: every
record's sum over the kept sets is linear in the guess. A record of which epsilon keeps the empty set alone counts the same on
both sides: its effective class size is a bound over all sets, which no guess about the kept ones changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.known_sets.effective_size import is_below
from discreet.model.threshold import Among
from discreet.risks.known_sets.sensitivity.influence import Influence, Shares

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEP = 0.1
"""The relative change of a guess for which high-risk records are counted again."""
_FARTHEST = (1 - STEP) / (1 + STEP)
"""The largest relative change of an effective class size by such a step."""


def tabulate_influence(
    influence: Influence, risk: NDArray[np.float64], threshold: float | Among, alpha: float, high_risk: int
) -> pl.DataFrame:
    """One row per guess; ``risk`` is that of each query (with alpha), ``high_risk`` the number of records at the guesses."""
    near = find_borderline(influence, risk, threshold, alpha)
    known, sensitive, total, shares = influence.walk(near[: influence.at_once])
    parts = [shares, *(influence.shares(near[begin : begin + influence.at_once]) for begin in _turns(influence, near))]
    rows = []
    for guess, attribute, given, place in list_guesses(influence):
        part = known[place] if guess == "known" else sensitive[place]
        change = _count_changes(influence, near, parts, (guess, place, given), threshold, alpha)
        fall, rise = high_risk + change[0], high_risk + change[1]
        moved = min(given * (1 + STEP), 1.0) / given - (1 - STEP)
        rows.append(
            {
                "attribute": attribute,
                "guess": guess,
                "given": given,
                "mean": part / total if total > 0 else 0.0,
                "high_risk": (rise - fall) / (high_risk * moved) if high_risk else None,
                "high_risk_less": fall,
                "high_risk_more": rise,
            }
        )
    schema = {
        "attribute": pl.String, "guess": pl.String, "given": pl.Float64, "mean": pl.Float64, "high_risk": pl.Float64,
        "high_risk_less": pl.Int64, "high_risk_more": pl.Int64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema).sort("mean", "attribute", descending=[True, False])


def tabulate_records(influence: Influence, records: int) -> pl.DataFrame:
    """One row per record: the elasticity of its risk with respect to each guess; null where nothing is to be learnt."""
    guesses = list_guesses(influence)
    columns = {f"{guess}.{attribute}": np.full(len(influence.rows), np.nan) for guess, attribute, _, _ in guesses}
    for begin in range(0, len(influence.rows), influence.at_once):
        chosen = np.arange(begin, min(begin + influence.at_once, len(influence.rows)))
        shares = influence.shares(chosen)
        alone = influence.queries.weight[chosen] / max(records, 1)
        for guess, attribute, _, place in guesses:
            own = shares.known[place] if guess == "known" else shares.sensitive[place]
            extra = 0.0 if guess == "known" else influence.weight[place, chosen] / max(records, 1)
            columns[f"{guess}.{attribute}"][chosen] = (own + extra) / (shares.total + alone)
    spread = {}
    for name, values in columns.items():
        per_record = np.full(records, np.nan)
        per_record[influence.slots] = values if influence.kind is None else values[influence.kind]
        spread[name] = pl.Series(per_record).fill_nan(None)
    return pl.DataFrame(spread)


def list_guesses(influence: Influence) -> list[tuple[str, str, float, int]]:
    """Every guess that is greater than 0 and takes part in a kept set: its kind, attribute, value and place."""
    data, tree = influence.data, influence.tree
    places = [(influence.names[int(tree.order[place])], place) for place in range(tree.width)]
    known = [("known", name, float(data.attribute(name).known), place) for name, place in places]
    sensitive = [
        ("sensitivity", name, float(data.attribute(name).sensitivity), at) for at, name in enumerate(influence.sensitive)
    ]
    return [guess for guess in (*known, *sensitive) if guess[2] > 0]


def find_borderline(influence: Influence, risk: NDArray[np.float64], threshold: float | Among, alpha: float) -> NDArray[np.int64]:
    """The queries that a step of one guess may move across the threshold; no share is greater than 1, so no other is moved."""
    if not isinstance(threshold, Among):
        return np.flatnonzero((risk * (1 + STEP) > threshold * (1 - 1e-9)) & (risk * (1 - STEP) <= threshold * (1 + 1e-9)))
    queries = influence.queries
    if queries.singles or any(shape.lost for shape in queries.patterns):
        return np.arange(len(risk))
    rest = risk / alpha - queries.weight / max(len(influence.data), 1)
    mass = queries.weight * (influence.tree.chance.sum() - 1)
    size = np.divide(mass, rest, out=np.full(len(risk), np.inf), where=rest > 0)
    return np.flatnonzero((size * _FARTHEST < threshold.among) & (size > threshold.among * _FARTHEST))


def _turns(influence: Influence, near: NDArray[np.int64]) -> Iterator[int]:
    return iter(range(influence.at_once, len(near), influence.at_once))


def _count_changes(
    influence: Influence, near: NDArray[np.int64], parts: list[Shares], guess: tuple[str, int, float],
    threshold: float | Among, alpha: float,
) -> tuple[int, int]:  # fmt: skip
    """By how many the number of high-risk records changes where one guess is a step less, and a step more."""
    kind, place, given = guess
    changes, begin = [0, 0], 0
    for shares in parts:
        chosen = near[begin : begin + len(shares.total)]
        begin += len(shares.total)
        number = influence.multiplicity[chosen]
        alone = influence.queries.weight[chosen] / max(len(influence.data), 1)
        part = shares.known[place] if kind == "known" else shares.sensitive[place]
        mass = shares.known_mass[place] if kind == "known" else shares.sensitive_mass[place]
        empty = 0.0 if kind == "known" else influence.weight[place, chosen] / max(len(influence.data), 1)
        before = number @ _is_high(shares.total, shares.mass, alone, threshold, alpha)
        for at, factor in enumerate((1 - STEP, min(given * (1 + STEP), 1.0) / given)):
            moved = factor - 1
            after = _is_high(shares.total + moved * part, shares.mass + moved * mass, alone + moved * empty, threshold, alpha)
            changes[at] += round(float(number @ after - before))
    return changes[0], changes[1]


def _is_high(
    rest: NDArray[np.float64], mass: NDArray[np.float64], alone: NDArray[np.float64], threshold: float | Among, alpha: float
) -> NDArray[np.bool_]:
    if not isinstance(threshold, Among):
        return np.asarray((rest + alone) * alpha > threshold)
    return is_below(np.divide(mass, rest, out=np.full(len(rest), np.nan), where=rest > 0), threshold.among)
