"""Falsehood: the share of released values that say something that is not so."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.cells.comparison import compare_cells, is_unchanged, link_rows
from discreet.engine.runtime.progress import report_progress
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.contracts import Direction, LossMeasure
from discreet.model.microdata import Microdata
from discreet.model.score import Score

_LEFT_OUT = (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD, Role.WEIGHT)


class Falsehood(LossMeasure):
    """The share of released values that neither are the original value nor contain it.

    A null, ``*``, an interval or group around the original value, and a label of its hierarchy are true: they say less, not
    something else. A swapped, perturbed, averaged or rounded value is false, and so is every value of a simulated record. A
    value that was missing in the original cannot be false. ``loss`` is the share over all compared values, ``worst`` that of
    the attribute with the largest share, so that a falsified attribute does not vanish among many that are kept.

    >>> from discreet.testing import table
    >>> before = table({"age": [20, 30, 40, 60], "sex": ["f", "m", "f", "m"]}, key=["age", "sex"])
    >>> after = table({"age": ["20..40", "30", None, "55"], "sex": ["f", "m", "f", "m"]}, key=["age", "sex"])
    >>> Falsehood().measure(before, after).summary
    {'loss': 0.125, 'worst': 0.25, 'false': 1, 'values': 8}
    """

    name: ClassVar[str] = "falsehood"
    citation: ClassVar[str] = (
        "Willenborg, L. & de Waal, T. (2001). Elements of Statistical Disclosure Control, chapter 1 "
        "(non-perturbative methods keep the truth of a record). Springer."
    )
    better: ClassVar[Mapping[str, Direction]] = {"loss": "low", "worst": "low", "false": "low"}
    neutral: ClassVar[Collection[str]] = ("values",)
    meaning: ClassVar[Mapping[str, str]] = {
        "loss": "share of released values that neither are nor contain the original value",
        "worst": "share of false values in the attribute with the most",
        "false": "released values that are false",
        "values": "values compared: released records x attributes",
    }
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "loss": "at most {percent} % of the released values are not true",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {"loss": "share of the record's values that are false"}

    attributes: tuple[str, ...] = Field(
        default=(), description="attributes to compare; default: all that both tables have, without identifiers and weights"
    )

    def measure(self, original: Microdata, masked: Microdata) -> Score:
        names = self._names(original, masked)
        rows = link_rows(original, masked)
        if rows is None:
            sizes = f"{masked.source} has {len(masked):,} records, {original.source} {len(original):,}"
            note = f"{sizes}, and nothing links them; measure the release itself, or give the link of mask --link"
            return Score(self.name, {"loss": None, "worst": None, "false": None, "values": 0}, notes=(note,))
        simulated = np.ones(len(masked), dtype=np.bool_)
        simulated[rows.masked] = False
        false_per_record = simulated * float(len(names))
        false_values = []
        for number, name in enumerate(names):
            report_progress("comparing released values with the original", number, len(names))
            count = int(simulated.sum())
            if not is_unchanged(original, masked, name, rows):
                false = compare_cells(original, masked, name, rows).false
                false_per_record[rows.masked] += false
                count += int(false.sum())
            false_values.append(count)
        shares = [count / len(masked) if len(masked) else 0.0 for count in false_values]
        summary = {
            "loss": sum(shares) / len(shares),
            "worst": max(shares),
            "false": sum(false_values),
            "values": len(masked) * len(names),
        }
        per_attribute = pl.DataFrame({"attribute": names, "loss": shares, "false": false_values})
        return Score(self.name, summary, pl.DataFrame({"loss": false_per_record / len(names)}), per_attribute)

    def _names(self, original: Microdata, masked: Microdata) -> list[str]:
        for name in self.attributes:
            original.attribute(name)
        candidates = self.attributes or tuple(name for name in original.columns if original.attribute(name).role not in _LEFT_OUT)
        names = [name for name in candidates if name in masked.columns and name in original.columns]
        if not names:
            raise DataError(f"falsehood: {original.source} and {masked.source} have no attribute in common to compare")
        return names
