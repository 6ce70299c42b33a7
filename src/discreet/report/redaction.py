"""What a report may say of the data: never a value that fewer than five records hold, nor anything of an identifier.

The policy, notes and warnings are texts that may name values (weights of single diagnoses, an order of categories).
Texts are held against the original table: what is rare there is withheld.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from discreet.engine.encoding.columns import encode
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.report.small_counts import LEAST

WITHHELD = "(withheld)"
PRIVATE = (Role.IDENTIFIER, Role.PERSON)
_WORD = re.compile(r"[^\s]+")
_RUN = 5
_EDGES = "'\".,;:=()[]{}|"
_KEPT = ("method", "columns", "enabled", "reason")


class Discretion:
    """Says which texts name a rare value of a table; for an internal report none does.

    >>> from discreet.testing import table
    >>> data = table({"name": ["Ada"] * 9, "job": ["nurse"] * 8 + ["astronaut"]}, identifier=["name"])
    >>> Discretion(data).sentence("the nurse 'astronaut' and Ada")
    'the nurse (withheld) and (withheld)'
    """

    def __init__(self, data: Microdata, *, internal: bool = False) -> None:
        self.data = data
        self.internal = internal
        self._known: dict[str, bool] = {}

    def rare(self, texts: Iterable[str]) -> set[str]:
        """Those of some texts that are a rare value of any column, or any value of an identifier."""
        asked = sorted({text for text in texts if text})
        if self.internal or not asked:
            return set()
        new = [text for text in asked if text not in self._known]
        if new:
            found = self._look(new)
            self._known.update({text: text in found for text in new})
        return {text for text in asked if self._known[text]}

    def _look(self, asked: list[str]) -> set[str]:
        found: set[str] = set()
        private = set(self.data.named(*PRIVATE))
        wanted = pl.Series(asked, dtype=pl.String)
        numbers = {text: number for text in asked if (number := _number(text)) is not None}
        for name in self.data.columns:
            if name in private:
                series = self.data.frame[name].cast(pl.String)
                found |= set(series.filter(series.is_in(wanted.implode())).unique().to_list())
                continue
            column = encode(self.data, [name])[0]
            if column.values.dtype.is_numeric() and not numbers:
                continue
            values = column.values
            if values.dtype.is_numeric():
                hit = values.cast(pl.Float64).is_in(pl.Series(list(numbers.values())).implode())
            else:
                hit = values.cast(pl.String).is_in(wanted.implode())
            codes = hit.arg_true().to_list()
            counts = np.bincount(column.codes, minlength=column.cardinality) if codes else np.zeros(0)
            for code in codes:
                if counts[code] < LEAST:
                    value = values[code]
                    found |= {t for t, n in numbers.items() if n == value} if values.dtype.is_numeric() else {str(value)}
        return found

    def sentence(self, text: str) -> str:
        """A sentence without the words, or runs of a few words, that are a rare text of the table or an identifier's value."""
        if self.internal:
            return text
        words = list(_WORD.finditer(text))
        runs = {
            text[words[first].start() : words[last].end()]
            for first in range(len(words))
            for last in range(first, min(first + _RUN, len(words)))
        }
        bare = {run: run.strip(_EDGES) for run in runs}
        rare = self.rare(set(bare.values()) - set(self.data.columns))
        rare = {one for one in rare if _number(one) is None or self._private(one)}
        for run in sorted(runs, key=len, reverse=True):
            if bare[run] in rare:
                text = text.replace(run.strip("'\"") if run not in text else run, WITHHELD)
        return text

    def _private(self, word: str) -> bool:
        """Whether a number stands in an identifier; small ones are counts more often than names."""
        return len(word) > 3 and any(
            bool((self.data.frame[name].cast(pl.String) == word).any()) for name in self.data.named(*PRIVATE)
        )

    def policy(self, content: dict[str, Any]) -> dict[str, Any]:
        """A policy's content without rare values and seed; what the owner named (attributes, methods, columns) stays."""
        if self.internal:
            return content
        texts: set[str] = set()
        _collect(content, texts)
        rare = self.rare(texts - set(self.data.columns))
        made = dict(content)
        if "attributes" in made:
            made["attributes"] = {name: _scrub(one, rare) for name, one in made["attributes"].items()}
        if "plan" in made:
            steps = [_step(step, rare) for step in made["plan"].get("steps", [])]
            made["plan"] = {**made["plan"], **({"steps": steps} if steps else {})}
        for part in ("plan", "select"):  # who has the seed can undo the order of the rows and every random step
            if isinstance(made.get(part), Mapping) and made[part].get("seed") is not None:
                made[part] = {**made[part], "seed": WITHHELD}
        for part in ("risk", "loss", "select", "missing"):
            if part in made:
                made[part] = _scrub(made[part], rare)
        made.pop("cells", None)  # what labels stand for travels with the release; a group of it may name a rare value
        return made


def _step(step: Mapping[str, Any], rare: set[str]) -> dict[str, Any]:
    return {field: value if field in _KEPT else _scrub(value, rare) for field, value in step.items()}


def _scrub(value: Any, rare: set[str]) -> Any:
    if isinstance(value, Mapping):
        return {WITHHELD if str(key) in rare else key: _scrub(inner, rare) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_scrub(inner, rare) for inner in value]
    return WITHHELD if isinstance(value, str) and value in rare else value


def _collect(value: Any, texts: set[str]) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            texts.add(str(key))
            _collect(inner, texts)
    elif isinstance(value, list | tuple):
        for inner in value:
            _collect(inner, texts)
    elif isinstance(value, str):
        texts.add(value)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
