"""A telephone directory with missing values: the intruder's dictionary of Lebanon et al."""

from __future__ import annotations

import numpy as np
import polars as pl

from discreet.model.attribute import Attribute, Role
from discreet.model.hierarchy import HierarchySpec
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.testing.directory import CITIES, cities, first_names, phones, streets, surnames, zips
from discreet.testing.draws import SampleDraw
from discreet.testing.sampler import Sampler, decode, with_missing

MISSING = {"first_name": 40_000, "phone": 90_000, "street": 60_000, "zip": 20_000}
"""Probability, in millionths, that the attribute is missing in an entry."""


def phonebook(n: int, seed: int = 0) -> Microdata:
    """Entries with first name, surname, phone, street, city and zip; some values are missing.

    >>> phonebook(3).columns
    ['first_name', 'surname', 'phone', 'street', 'city', 'zip']
    """
    sampler = Sampler(SampleDraw(seed), np.arange(n, dtype=np.int64))
    city = cities(sampler)
    columns = [
        first_names(sampler, sampler.below("sex", 2) == 0),
        surnames(sampler),
        phones(sampler, city),
        streets(sampler),
        decode("city", city, [name for name, _, _ in CITIES]),
        zips(sampler, city),
    ]
    with_gaps = [
        with_missing(column, sampler.happens(f"no {column.name}", MISSING[column.name])) if column.name in MISSING else column
        for column in columns
    ]
    return Microdata(pl.DataFrame(with_gaps), phonebook_policy(), f"a directory of {n:,} entries")


def phonebook_policy() -> Policy:
    """All attributes have the role key: a directory is what an intruder knows, not what the attack reveals."""
    weights = {"first_name": 0.1, "surname": 0.3, "phone": 0.9, "street": 0.6, "city": 0.1, "zip": 0.2}
    known = {"first_name": 0.8, "surname": 0.8, "phone": 0.4, "street": 0.4, "city": 0.7, "zip": 0.5}
    attributes = {
        name: Attribute(
            role=Role.KEY,
            known=known[name],
            sensitivity=weight,
            hierarchy=HierarchySpec(prefixes=(3,)) if name == "zip" else None,
        )
        for name, weight in weights.items()
    }
    return Policy(attributes=attributes)
