"""Fifteen generated populations that the model ``auto`` of population_uniqueness is chosen on, so that real tables can check it.

Three of each kind: independent keys, latent classes, a Gaussian copula, keys that nearly determine each other, and classes whose
intensities vary around independent keys (gamma, lognormal). Their sizes, numbers of values and strengths of dependence are those
of public-use files: 30,000 to 120,000 persons, three to six keys of 2 to 700 values.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

Columns = dict[str, np.ndarray]


def _falling(values: int, power: float) -> np.ndarray:
    """Shares of values that fall with their rank."""
    shares = 1 / np.arange(1, values + 1) ** power
    return np.asarray(shares / shares.sum())


def _independent(generator: np.random.Generator, size: int, keys: tuple[tuple[int, float], ...]) -> Columns:
    return {
        f"key{place}": generator.permutation(values)[generator.choice(values, size, p=_falling(values, power))]
        for place, (values, power) in enumerate(keys)
    }


def _latent(generator: np.random.Generator, size: int, keys: tuple[int, ...], groups: int, evenness: float) -> Columns:
    """Keys that are independent within each group of persons."""
    group = generator.choice(groups, size, p=_falling(groups, 1.0))
    columns = {}
    for place, values in enumerate(keys):
        shares = generator.dirichlet(np.full(values, evenness), groups).cumsum(axis=1)
        columns[f"key{place}"] = np.minimum((generator.random(size)[:, None] > shares[group]).sum(axis=1), values - 1)
    return columns


def _copula(generator: np.random.Generator, size: int, keys: tuple[tuple[int, float], ...], correlation: float) -> Columns:
    """Ordered values of a common factor and one of each key's own."""
    factor = generator.standard_normal(size)
    columns = {}
    for place, (values, power) in enumerate(keys):
        own = correlation**0.5 * factor + (1 - correlation) ** 0.5 * generator.standard_normal(size)
        ranks = (np.argsort(np.argsort(own)) + 0.5) / size
        columns[f"key{place}"] = np.minimum(np.searchsorted(_falling(values, power).cumsum(), ranks), values - 1)
    return columns


def _determined(generator: np.random.Generator, size: int, keys: tuple[int, ...], noise: float) -> Columns:
    """Each key is a function of the first, except for a share of the persons and a small shift."""
    first = generator.choice(keys[0], size, p=_falling(keys[0], 0.8))
    columns = {"key0": first}
    for place, values in enumerate(keys[1:], 1):
        image = generator.integers(0, values, keys[0])[first] + generator.poisson(0.4, size)
        free = generator.choice(values, size, p=_falling(values, 1.0))
        columns[f"key{place}"] = np.where(generator.random(size) < noise, free, image % values)
    return columns


def _varied(
    generator: np.random.Generator, size: int, keys: tuple[tuple[int, float], ...], draw: Callable[[int], np.ndarray]
) -> Columns:
    """Intensities of the combinations that are random around independent keys."""
    shares = np.ones(1)
    for values, power in keys:
        shares = np.outer(shares, _falling(values, power)).ravel()
    intensities = shares * draw(len(shares))
    cells = generator.choice(len(shares), size, p=intensities / intensities.sum())
    places = np.unravel_index(cells, tuple(values for values, _ in keys))
    return {f"key{place}": np.asarray(column) for place, column in enumerate(places)}


_MAKERS: dict[str, Callable[[np.random.Generator], Columns]] = {
    "independent 1": lambda g: _independent(g, 60_000, ((80, 0.3), (2, 0.0), (5, 1.5), (40, 1.3), (15, 0.5))),
    "independent 2": lambda g: _independent(g, 100_000, ((700, 1.1), (2, 0.0), (10, 0.7), (6, 1.6))),
    "independent 3": lambda g: _independent(g, 30_000, ((60, 0.4), (12, 0.8), (7, 0.3))),
    "latent 1": lambda g: _latent(g, 60_000, (75, 2, 8, 16, 12), 4, 0.7),
    "latent 2": lambda g: _latent(g, 100_000, (300, 3, 20, 9), 8, 0.4),
    "latent 3": lambda g: _latent(g, 40_000, (60, 5, 5, 5, 10, 4), 12, 1.0),
    "copula 1": lambda g: _copula(g, 60_000, ((80, 0.3), (20, 0.8), (12, 1.0), (2, 0.2)), 0.5),
    "copula 2": lambda g: _copula(g, 120_000, ((90, 0.2), (90, 0.2), (50, 0.6)), 0.8),
    "copula 3": lambda g: _copula(g, 80_000, ((50, 0.5), (30, 1.0), (6, 0.5), (6, 0.5), (4, 1.0)), 0.3),
    "determined 1": lambda g: _determined(g, 60_000, (80, 12, 7, 5), 0.15),
    "determined 2": lambda g: _determined(g, 100_000, (400, 50, 9), 0.05),
    "determined 3": lambda g: _determined(g, 50_000, (60, 20, 20, 6, 3), 0.3),
    "gamma 1": lambda g: _varied(g, 60_000, ((80, 0.4), (12, 1.0), (9, 0.8), (4, 0.3)), lambda n: g.gamma(1.0, 1.0, n)),
    "gamma 2": lambda g: _varied(g, 100_000, ((500, 1.0), (10, 0.7), (8, 1.0)), lambda n: g.gamma(0.4, 1.0, n)),
    "lognormal": lambda g: _varied(g, 80_000, ((70, 0.4), (25, 1.0), (6, 0.5), (3, 0.2)), lambda n: g.lognormal(0, 1.2, n)),
}
GENERATED = tuple(_MAKERS)


def generate_population(name: str) -> pl.DataFrame:
    """The population of this name; the same in every run."""
    return pl.DataFrame(_MAKERS[name](np.random.default_rng([20_260_917, GENERATED.index(name)])))
