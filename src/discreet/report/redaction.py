"""Redaction of texts: no value that fewer than five records have, and no value of an identifier.

The policy, notes and warnings may contain values of the data (weights of single diagnoses, an order of categories). They are
compared with the original table, and values that are rare there are withheld.
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
from discreet.report.small_counts import MIN_SHOWN_COUNT

WITHHELD = "(withheld)"
IDENTIFYING_ROLES = (Role.IDENTIFIER, Role.PERSON)
_WORD = re.compile(r"[^\s]+")
_MOST_WORDS = 5
"""The longest value, in words, that is searched for in a sentence."""
_PUNCTUATION = "'\".,;:=()[]{}|"
_NEVER_REDACTED = ("method", "columns", "enabled", "reason")


class Redactor:
    """Removes rare values of a table from texts; for an internal report it changes nothing.

    >>> from discreet.testing import table
    >>> data = table({"name": ["Ada"] * 9, "job": ["nurse"] * 8 + ["astronaut"]}, identifier=["name"])
    >>> Redactor(data).redact_sentence("the nurse 'astronaut' and Ada")
    'the nurse (withheld) and (withheld)'
    """

    def __init__(self, data: Microdata, *, internal: bool = False) -> None:
        self.data = data
        self.internal = internal
        self._is_rare: dict[str, bool] = {}

    def find_rare(self, texts: Iterable[str]) -> set[str]:
        """The texts that are a rare value of any column, or any value of an identifier."""
        candidates = sorted({text for text in texts if text})
        if self.internal or not candidates:
            return set()
        unchecked = [text for text in candidates if text not in self._is_rare]
        if unchecked:
            rare = self._find_rare_in_table(unchecked)
            self._is_rare.update({text: text in rare for text in unchecked})
        return {text for text in candidates if self._is_rare[text]}

    def _find_rare_in_table(self, texts: list[str]) -> set[str]:
        rare: set[str] = set()
        identifiers = set(self.data.named(*IDENTIFYING_ROLES))
        text_series = pl.Series(texts, dtype=pl.String)
        numbers = {text: number for text in texts if (number := _to_number(text)) is not None}
        for name in self.data.columns:
            if name in identifiers:
                series = self.data.frame[name].cast(pl.String)
                rare |= set(series.filter(series.is_in(text_series.implode())).unique().to_list())
                continue
            column = encode(self.data, [name])[0]
            if column.values.dtype.is_numeric() and not numbers:
                continue
            values = column.values
            if values.dtype.is_numeric():
                matches = values.cast(pl.Float64).is_in(pl.Series(list(numbers.values())).implode())
            else:
                matches = values.cast(pl.String).is_in(text_series.implode())
            codes = matches.arg_true().to_list()
            counts = np.bincount(column.codes, minlength=column.cardinality) if codes else np.zeros(0)
            for code in codes:
                if counts[code] < MIN_SHOWN_COUNT:
                    value = values[code]
                    if values.dtype.is_numeric():
                        rare |= {text for text, number in numbers.items() if number == value}
                    else:
                        rare.add(str(value))
        return rare

    def redact_sentence(self, text: str) -> str:
        """A sentence without the words, or runs of up to five words, that are a rare value or a value of an identifier."""
        if self.internal:
            return text
        words = list(_WORD.finditer(text))
        runs = {
            text[words[first].start() : words[last].end()]
            for first in range(len(words))
            for last in range(first, min(first + _MOST_WORDS, len(words)))
        }
        values = {run: run.strip(_PUNCTUATION) for run in runs}
        rare = self.find_rare(set(values.values()) - set(self.data.columns))
        rare = {value for value in rare if _to_number(value) is None or self._is_identifier(value)}
        for run in sorted(runs, key=len, reverse=True):
            if values[run] in rare:
                text = text.replace(run.strip("'\"") if run not in text else run, WITHHELD)
        return text

    def _is_identifier(self, word: str) -> bool:
        """Whether a number is a value of an identifier; one of up to three digits is more likely a count."""
        return len(word) > 3 and any(
            bool((self.data.frame[name].cast(pl.String) == word).any()) for name in self.data.named(*IDENTIFYING_ROLES)
        )

    def redact_policy(self, content: dict[str, Any]) -> dict[str, Any]:
        """The content of a policy without rare values and seeds; the names of attributes, methods and columns are kept."""
        if self.internal:
            return content
        texts: set[str] = set()
        _collect_texts(content, texts)
        rare = self.find_rare(texts - set(self.data.columns))
        redacted = dict(content)
        if "attributes" in redacted:
            redacted["attributes"] = {name: _redact_values(attribute, rare) for name, attribute in redacted["attributes"].items()}
        if "plan" in redacted:
            steps = [_redact_step(step, rare) for step in redacted["plan"].get("steps", [])]
            redacted["plan"] = {**redacted["plan"], **({"steps": steps} if steps else {})}
        for section in ("plan", "select"):  # with the seed anybody can undo the order of the rows and every random step
            if isinstance(redacted.get(section), Mapping) and redacted[section].get("seed") is not None:
                redacted[section] = {**redacted[section], "seed": WITHHELD}
        for section in ("risk", "loss", "select", "missing"):
            if section in redacted:
                redacted[section] = _redact_values(redacted[section], rare)
        redacted.pop("cells", None)  # published with the release; a group may contain a rare value
        return redacted


def _redact_step(step: Mapping[str, Any], rare: set[str]) -> dict[str, Any]:
    return {field: value if field in _NEVER_REDACTED else _redact_values(value, rare) for field, value in step.items()}


def _redact_values(value: Any, rare: set[str]) -> Any:
    if isinstance(value, Mapping):
        return {WITHHELD if str(key) in rare else key: _redact_values(inner, rare) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_redact_values(inner, rare) for inner in value]
    return WITHHELD if isinstance(value, str) and value in rare else value


def _collect_texts(value: Any, texts: set[str]) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            texts.add(str(key))
            _collect_texts(inner, texts)
    elif isinstance(value, list | tuple):
        for inner in value:
            _collect_texts(inner, texts)
    elif isinstance(value, str):
        texts.add(value)


def _to_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
