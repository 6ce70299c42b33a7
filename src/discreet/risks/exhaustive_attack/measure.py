"""Singling out and inference, exact over every set of columns that an intruder may know."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.attacks.rates import excess
from discreet.engine.classes.distinct_classes import DistinctClasses, list_classes
from discreet.engine.classes.key_sets import check_keys, count_key_sets
from discreet.engine.encoding.columns import encode
from discreet.engine.known_sets.family import Family, family
from discreet.engine.overlap.columns import blank_codes
from discreet.engine.overlap.tables import has_overlaps
from discreet.model.attribute import Role
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.display import list_names
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.exhaustive_attack.sets import SecretRows, SetResults, guess_by_all_columns, sets_up_to, walk_all_sets

_OVERLAP = (
    "exhaustive_attack compares cells as they are written, and cells of this release overlap: an intruder may find more or fewer "
    "records than it counts; known_sets counts overlapping cells"
)


class ExhaustiveAttack(RiskMeasure):
    """Who is singled out by some set of columns, and how well each set predicts a secret, over all sets and not a sample.

    For every set of at most ``size`` of the known columns, or with a probability above ``epsilon``: a record that agrees with no
    other one on the set is singled out by it; the best guess of the secret is the most common value among the records that agree
    on the set, and its expected success the share of records that have the most common value of their class.

    >>> from discreet.testing import table
    >>> data = table({"age": [4, 4, 5, 5], "sex": ["f", "m", "f", "m"], "sick": ["a", "a", "b", "a"]}, key=["age", "sex"],
    ...     confidential=["sick"])
    >>> score = ExhaustiveAttack().measure(data)
    >>> score["sets"], score["singled_out"], score["best_guess"], score["blind"]
    (3, 1.0, 1.0, 0.75)
    """

    name: ClassVar[str] = "exhaustive_attack"
    citation: ClassVar[str] = (
        "Article 29 Working Party (2014). Opinion 05/2014 on anonymisation techniques (WP216): singling out, inference; Orooji, "
        "M. & Knapp, G. M. (2018). Improving suppression to reduce disclosure risk and enhance data utility (known sets)."
    )
    better: ClassVar[Mapping[str, Direction]] = {
        "singled_out": "low", "sets_mean": "low", "singled_out_all": "low", "best_guess": "low", "risk": "low", "risk_all": "low",
    }  # fmt: skip
    worst: ClassVar[Mapping[str, float]] = dict.fromkeys(
        ("singled_out", "singled_out_all", "best_guess", "risk", "risk_all"), 1.0
    )
    neutral: ClassVar[Collection[str]] = ("sets", "blind")
    occasional: ClassVar[Collection[str]] = ("best_guess", "blind", "risk", "risk_all")
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "risk": "at most {percent} % of guesses of a secret succeed because of the release, whatever set is known",
        "risk_all": "at most {percent} % of guesses of a secret succeed because of the release, where all is known",
    }
    meaning: ClassVar[Mapping[str, str]] = {
        "sets": "sets of columns that were examined: all that an intruder may know by the parameters",
        "singled_out": "share of records that at least one of these sets singles out",
        "sets_mean": "mean number of sets that single out a record",
        "singled_out_all": "share of records that all known columns together single out; no set singles out another record",
        "best_guess": "largest expected success, over sets and secrets, of naming the most common value among matching records",
        "blind": "success of naming the most common value of that secret for everybody",
        "risk": "(best_guess - blind) / (1 - blind), the largest over sets and secrets",
        "risk_all": "the same with all known columns together; no set predicts better",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "sets": "number of sets that single out the record",
        "smallest": "columns of the smallest set that singles it out; empty where none does",
        "guess": "largest share, over sets and secrets, of the record's own value among the records that agree with it",
    }

    known: tuple[str, ...] = Field(default=(), description="columns that an intruder may know; default: role key")
    secret: tuple[str, ...] = Field(default=(), description="columns that an intruder guesses; default: role confidential")
    size: Annotated[int, Field(ge=1)] = Field(default=3, description="largest number of columns of a set")
    epsilon: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None,
        description="in place of size: sets that an intruder knows with a probability above it (known of attributes)",
    )
    max_sets: Annotated[int, Field(ge=1)] = Field(default=100_000, description="most sets to examine")

    def examines(self, data: Microdata) -> list[str]:
        return [*(self.known or data.named(Role.KEY)), *(self.secret or data.named(Role.CONFIDENTIAL))]

    def reads(self, data: Microdata) -> list[str]:
        return self.examines(data)

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        known = list(self.known) or data.named(Role.KEY)
        advice = "choose a smaller size, or give epsilon"
        number = count_key_sets(len(known), self.size) if self.epsilon is None else 0
        check_keys(self.name, known, data.source, number, self.max_sets, advice)
        secrets = [name for name in self.secret or data.named(Role.CONFIDENTIAL) if name not in known]
        columns, hidden = encode(data, known), encode(data, secrets)
        classes = list_classes(columns, len(data))
        rows = [
            SecretRows.count(classes.ids, column.codes, column.cardinality, blank_codes(data, column, null_agrees=True))
            for column in hidden
        ]
        tree = self._sets(data, known)
        results = walk_all_sets(tree, classes, rows)
        records = max(len(data), 1)
        summary: dict[str, int | float | None] = {
            "sets": len(results.members),
            "singled_out": int((results.sets > 0).sum()) / records,
            "sets_mean": int(results.sets.sum()) / records,
            "singled_out_all": int((classes.counts == 1).sum()) / records,
        }
        notes = [_describe_worst_set(results, known)] if any(results.singled) else []
        if secrets and results.members and len(data):
            guess = _find_best_guess(results, rows)
            everything = max(excess(guess_by_all_columns(classes, one), one.blind) for one in rows)
            summary |= {"best_guess": guess.success, "blind": guess.blind, "risk": guess.risk, "risk_all": everything}
            names = list_names(known[at] for at in guess.members)
            notes.append(
                f"the best guess is of '{secrets[guess.secret]}' by {names}: right in {guess.success:.3g} of the records"
            )
        gaps = (_OVERLAP,) if has_overlaps(data, [*columns, *hidden]) else ()
        per_record = _by_record(results, classes, rows)
        return Score(self.name, summary, per_record, _by_column(results, known), notes=tuple(notes), gaps=gaps)

    def _sets(self, data: Microdata, known: list[str]) -> Family:
        if self.epsilon is None:
            return sets_up_to(len(known), self.size, self.max_sets + 1)  # the empty set is one of them
        return family([data.attribute(name).known for name in known], self.epsilon, self.max_sets + 1)


class _Guess(NamedTuple):
    """The set and the secret with the largest risk of inference."""

    risk: float
    success: float
    blind: float
    members: tuple[int, ...]
    secret: int


def _find_best_guess(results: SetResults, rows: Sequence[SecretRows]) -> _Guess:
    """The best guess over sets and secrets; of equal ones that of the first set, which are smaller ones before larger ones."""
    best = _Guess(-1.0, 0.0, 0.0, (), 0)
    for secret, one in enumerate(rows):
        for members, success in zip(results.members, results.success, strict=True):
            risk = excess(success[secret], one.blind)
            if (risk, -len(members)) > (best.risk, -len(best.members)):
                best = _Guess(risk, success[secret], one.blind, members, secret)
    return best


def _by_record(results: SetResults, classes: DistinctClasses, rows: Sequence[SecretRows]) -> pl.DataFrame:
    """For each record the sets that single it out, the smallest of them, and the largest share of its own secret."""
    guess = np.full(len(classes.ids), np.nan)
    for one, shares in zip(rows, results.shares, strict=True):
        guess = np.fmax(guess, np.append(shares, np.nan)[one.pair_of])  # -1, the pair of a suppressed secret, is the last entry
    columns = {"sets": results.sets[classes.ids], "smallest": results.smallest[classes.ids], "guess": guess}
    smallest = pl.when(pl.col("smallest") > 0).then(pl.col("smallest")).alias("smallest")
    return pl.DataFrame(columns).with_columns(smallest, pl.col("guess").fill_nan(None))


def _describe_worst_set(results: SetResults, known: list[str]) -> str:
    most = max(range(len(results.singled)), key=lambda place: (results.singled[place], -len(results.members[place])))
    names = list_names(known[at] for at in results.members[most])
    return f"the set that singles out most records is {names}: {results.singled[most]:,} records"


def _by_column(results: SetResults, known: list[str]) -> pl.DataFrame:
    """For each known column the records singled out per set that holds it, on average, and by the column alone."""
    rows = []
    for place, name in enumerate(known):
        holding = [count for count, members in zip(results.singled, results.members, strict=True) if place in members]
        alone = [count for count, members in zip(results.singled, results.members, strict=True) if members == (place,)]
        rows.append(
            {"attribute": name, "singled_out": sum(holding) / len(holding) if holding else 0.0, "alone": alone[0] if alone else 0}
        )
    return pl.DataFrame(rows, schema={"attribute": pl.String, "singled_out": pl.Float64, "alone": pl.Int64})
