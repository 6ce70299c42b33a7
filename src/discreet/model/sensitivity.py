"""How far verdicts hold where the data controller's guesses are wrong: the result of ``discreet sensitivity``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from discreet.model.results import Status
from discreet.model.showing import Plottable

Guarantee = Literal["certified", "grid"]
"""``certified``: proved for every value in between; ``grid``: tried at values that lie close together, and only there."""


@dataclass(frozen=True)
class LimitStatus:
    """One limit at the guesses as given: its state, and between which numbers its field certainly lies."""

    limit: str
    required: float
    status: Status
    low: float | None
    high: float | None
    better: Literal["low", "high"] = "low"

    @property
    def sentence(self) -> str:
        """The state in words; a field whose bounds lie on both sides of the limit is not decided."""
        state: str = self.status
        if state == "incomplete":
            is_empty = self.low is None or (self.low == 0 and self.high == 0)
            state = (
                f"not decided, because {'nothing can be learnt of any record' if is_empty else 'epsilon leaves known sets out'}"
            )
        required = f"{'at most' if self.better == 'low' else 'at least'} {format_value(self.required)} is required"
        if self.low is None or self.high is None:
            return f"{self.limit} ({required}) is {state}"
        exact = format_value(self.low) == format_value(self.high)
        number = f"{format_value(self.high)}" if exact else f"between {format_value(self.low)} and {format_value(self.high)}"
        return f"{self.limit} is {number}, {required}: {state}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "limit": self.limit, "required": self.required, "status": self.status, "low": self.low, "high": self.high,
            "sentence": self.sentence,
        }  # fmt: skip


@dataclass(frozen=True)
class Reach:
    """From where to where one guess may move, the others as given, before a verdict changes.

    ``kind`` is what is moved: ``factor`` (on all probabilities at once), ``known``, ``sensitivity``, or a parameter of a measure;
    ``attribute`` is whose, or None. The verdict holds from ``low`` to ``high``; ``below`` and ``above`` are values at which it is
    certainly another one. Between ``high`` and ``above`` it changes; where ``above`` is None and ``high`` is less than the end of
    the ``span`` that was searched, it is not decided beyond. The same holds downwards.
    """

    limit: str
    kind: str
    attribute: str | None
    given: float
    status: Status
    low: float
    high: float
    below: float | None
    above: float | None
    span: tuple[float, float]
    guarantee: Guarantee = "certified"

    @property
    def flips_down(self) -> tuple[float, float] | None:
        """Between which values the verdict changes where the guess falls."""
        return None if self.below is None else (self.below, self.low)

    @property
    def flips_up(self) -> tuple[float, float] | None:
        """Between which values the verdict changes where the guess rises."""
        return None if self.above is None else (self.high, self.above)

    @property
    def subject(self) -> str:
        """The guess in words."""
        if self.kind == "factor":
            return "a common factor on all probabilities"
        return self.kind if self.attribute is None else f"{self.kind} of {self.attribute}"

    @property
    def sentence(self) -> str:
        """Where the verdict changes, in words; ranges of a bisection as their end that still holds."""
        if self.status == "incomplete":
            return f"{self.limit} is not decided at the guesses as given, so nothing is said about {self.subject}"
        parts = [part for part in (self._side("falls", up=False), self._side("rises", up=True)) if part]
        tried = "" if self.guarantee == "certified" else " (tried on a grid, not proved in between)"
        return f"{self.limit} ({self.status}), {self.subject} (given: {format_value(self.given)}): {'; '.join(parts)}{tried}"

    def _side(self, verb: str, *, up: bool) -> str:
        holds_to, flipped, end = (self.high, self.above, self.span[1]) if up else (self.low, self.below, self.span[0])
        if flipped is not None:
            close = abs(flipped - holds_to) <= 2e-3 * max(abs(holds_to), abs(flipped), 1e-6)
            where = f"at {format_value(holds_to)}" if close else f"between {format_value(holds_to)} and {format_value(flipped)}"
            return f"flips {where} where it {verb}"
        if math.isclose(holds_to, end, rel_tol=1e-12, abs_tol=1e-12):
            return f"does not flip {_end_in_words(self.kind, end, up=up)}"
        return f"holds {'up' if up else 'down'} to {format_value(holds_to)}, not decided beyond"

    def to_dict(self) -> dict[str, Any]:
        return {
            "limit": self.limit, "kind": self.kind, "attribute": self.attribute, "given": self.given, "status": self.status,
            "holds_from": self.low, "holds_to": self.high, "flipped_below": self.below, "flipped_above": self.above,
            "searched": list(self.span), "guarantee": self.guarantee, "sentence": self.sentence,
        }  # fmt: skip


@dataclass(frozen=True)
class Box:
    """One relative half-width around all guesses within which every decided verdict holds.

    Each guess g may lie anywhere from g (1 - h) to g (1 + h), cut off at 0 and 1. ``whole``: h covers every guess from 0 to 1.
    """

    half_width: float
    whole: bool
    limits: tuple[str, ...]
    undecided: tuple[str, ...] = ()
    complete: bool = True
    """Whether the search ended by itself; False where time ran out, and a larger box may hold too."""

    @property
    def sentence(self) -> str:
        if not self.limits:
            return "no verdict is decided at the guesses as given, so there is no box in which it holds"
        several = "both verdicts hold" if len(self.limits) == 2 else f"all {len(self.limits)} verdicts hold"
        number = "the verdict holds" if len(self.limits) == 1 else several
        but = f" (left out, because not decided: {', '.join(self.undecided)})" if self.undecided else ""
        if self.whole:
            return f"{number} whatever the guesses are{but}"
        if self.half_width == 0:
            return (
                f"how wrong the guesses may be is not known, because the time was up{but}"
                if not self.complete
                else (f"the verdicts are certain at the guesses as given only: any other guess may flip one{but}")
            )
        early = "" if self.complete else ", or more (the time was up)"
        return f"{number} while every guess is off by at most {100 * self.half_width:.3g} %{early}{but}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "half_width": self.half_width, "whole": self.whole, "limits": list(self.limits), "undecided": list(self.undecided),
            "complete": self.complete, "sentence": self.sentence,
        }  # fmt: skip


@dataclass(frozen=True)
class Sensitivity(Plottable):
    """How far the verdicts of one measure hold.

    ``curve`` has one row per threshold: the share of high-risk records by the kept sets (``share``) and between which shares it
    certainly lies (``low``, ``high``). ``influence`` has one row per guess: the elasticity of the mean risk and of the number of
    high-risk records. ``basis`` says by which argument the answers are certain.
    """

    measure: str
    records: int
    verdicts: tuple[LimitStatus, ...] = ()
    reaches: tuple[Reach, ...] = ()
    box: Box | None = None
    curve: pl.DataFrame | None = field(default=None, compare=False)
    influence: pl.DataFrame | None = field(default=None, compare=False)
    threshold: float | None = None
    basis: str = ""
    notes: tuple[str, ...] = ()
    elasticities: Callable[[], pl.DataFrame] | None = field(default=None, repr=False, compare=False)
    """Builds the table of ``per_record`` on demand."""

    def __getstate__(self) -> dict[str, Any]:
        """The result without the function that builds the table per record, because it cannot be pickled."""
        return vars(self) | {"elasticities": None}

    def per_record(self) -> pl.DataFrame:
        """One row per record: the elasticity of its risk to each guess, in columns ``known.NAME`` and ``sensitivity.NAME``."""
        return self.elasticities() if self.elasticities is not None else pl.DataFrame()

    @property
    def strongest(self) -> str | None:
        """The attribute on whose probability the verdict rests most: the largest elasticity of the mean risk."""
        if self.influence is None:
            return None
        known = self.influence.filter((pl.col("guess") == "known") & (pl.col("mean") > 0))
        return str(known.sort("mean", "attribute", descending=[True, False])["attribute"][0]) if len(known) else None

    @property
    def sentences(self) -> tuple[str, ...]:
        """The result in sentences, the most important first."""
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        for verdict in self.verdicts:
            yield _capital(verdict.sentence)
        if self.strongest is not None:
            what = "The verdict rests" if self.verdicts else f"No limit is on {self.measure}; its mean risk rests"
            yield f"{what} most on your guess for {self.strongest}."
        if self.box is not None:
            yield _capital(self.box.sentence)
        for reach in self.reaches:
            if reach.kind == "factor" or (reach.status != "incomplete" and self.measure != "known_sets"):
                yield _capital(reach.sentence)
        yield from (_capital(note) for note in self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "limits": [verdict.to_dict() for verdict in self.verdicts],
            "reaches": [reach.to_dict() for reach in self.reaches],
            "box": None if self.box is None else self.box.to_dict(),
            "strongest": self.strongest,
            "influence": None if self.influence is None else self.influence.to_dicts(),
            "curve": None if self.curve is None else self.curve.to_dicts(),
            "basis": self.basis,
            "notes": list(self.notes),
        }


def format_value(number: float | None) -> str:
    """A guess or a measured number as sentences say it."""
    return "unknown" if number is None else f"{number:,.4g}" if abs(number) < 1e4 else f"{number:,.0f}"


def _capital(sentence: str) -> str:
    text = sentence if sentence.startswith(tuple(_NAMES)) else f"{sentence[:1].upper()}{sentence[1:]}"
    return text if text.endswith(".") else f"{text}."


_NAMES: Mapping[str, None] = dict.fromkeys(("known_sets.", "decision.", "target_linkage.", "individual_risk."))
"""Names of fields begin with a small letter, also at the beginning of a sentence."""


def _end_in_words(kind: str, end: float, *, up: bool) -> str:
    if kind == "factor":
        return "up to every probability 1" if up else "down to every probability 0"
    return f"{'up' if up else 'down'} to {format_value(end)}"
