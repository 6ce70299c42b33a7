"""Effects of a linear regression that the owner names as a formula, such as ``visits ~ sex + race + age``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NAME = re.compile(r"\s*(?:`([^`]+)`|([^+~`]+?))\s*(?:\+|$)")
_CONFIDENCE = 1.959963984540054
"""The quantile of the normal distribution for an interval of 95 %."""


@dataclass(frozen=True)
class Formula:
    """A response and its predictors."""

    response: str
    predictors: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.response} ~ {' + '.join(self.predictors)}"


@dataclass(frozen=True)
class Effect:
    """A coefficient with its standard error; NaN where it cannot be estimated."""

    value: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of 95 % confidence."""
        return self.value - _CONFIDENCE * self.error, self.value + _CONFIDENCE * self.error

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out 0, so that the data show an effect."""
        return abs(self.value) > _CONFIDENCE * self.error

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.4g} ({low:.4g} to {high:.4g})" if np.isfinite(self.value) else "not estimable"


def parse_formula(text: str) -> Formula:
    """Read ``response ~ first + second``; a name with spaces or signs stands in backticks.

    >>> parse_formula("visits ~ sex + `years of age`")
    Formula(response='visits', predictors=('sex', 'years of age'))
    """
    left, separator, right = text.partition("~")
    response = left.strip().strip("`").strip()
    predictors, position = [], 0
    while position < len(right) and (match := _NAME.match(right, position)) is not None:
        predictors.append((match[1] or match[2]).strip())
        position = match.end()
    if not separator or not response or not all(predictors or [""]) or position < len(right) or right.rstrip().endswith("+"):
        raise ParameterError(f"associations.analyses: '{text}' is not of the form 'response ~ predictor + predictor'")
    return Formula(response, tuple(dict.fromkeys(predictors)))


def fit_effects(response: NDArray[np.float64], design: Mapping[str, NDArray[np.float64]]) -> dict[str, Effect]:
    """Least squares with an intercept, over the records without a missing number.

    A column that the others determine (as after a merge of categories) has no effect of its own: not estimable.
    """
    names: Sequence[str] = list(design)
    table = np.column_stack([np.ones(len(response)), *design.values()])
    complete = ~np.isnan(response) & ~np.isnan(table).any(axis=1)
    table, response = table[complete], response[complete]
    missing = dict.fromkeys(names, Effect(float("nan"), float("nan")))
    freedom = len(response) - table.shape[1]
    if freedom <= 0:
        return missing
    scale = np.maximum(np.abs(table).max(axis=0), 1e-300)
    _, singular, directions = np.linalg.svd(table / scale, full_matrices=False)
    usable = singular > singular[0] * 1e-9
    # a coefficient is estimable if no direction without information has a part in it
    free = (np.abs(directions[~usable]) > 1e-6).any(axis=0) if not usable.all() else np.zeros(table.shape[1], dtype=np.bool_)
    inverse = (directions[usable].T / singular[usable] ** 2) @ directions[usable]
    solved = inverse @ ((table / scale).T @ response)
    rest = response - (table / scale) @ solved
    errors = np.sqrt(np.maximum(np.diag(inverse) * float(rest @ rest) / freedom, 0.0)) / scale
    values = solved / scale
    return {
        name: missing[name] if free[index] else Effect(float(values[index]), float(errors[index]))
        for index, name in enumerate(names, start=1)
    }
