"""A telephone directory: the intruder's dictionary of Lebanon et al., with what people leave out of it."""

from __future__ import annotations

import numpy as np
import polars as pl

from discreet.model.attribute import Attribute, Role
from discreet.model.hierarchy import HierarchySpec
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.testing.chances import Chances, named, sprinkled
from discreet.testing.directory import CITIES, cities, first_names, phones, streets, surnames, zips
from discreet.testing.draws import SampleDraw

MISSING = {"first_name": 40_000, "phone": 90_000, "street": 60_000, "zip": 20_000}
"""The chance, in millionths, that an entry lacks the attribute."""


def phonebook(n: int, seed: int = 0) -> Microdata:
    """Entries of first name, surname, phone, street, city and zip; some lack one or several of them.

    >>> phonebook(3).columns
    ['first_name', 'surname', 'phone', 'street', 'city', 'zip']
    """
    chances = Chances(SampleDraw(seed), np.arange(n, dtype=np.int64))
    city = cities(chances)
    columns = [
        first_names(chances, chances.below("sex", 2) == 0),
        surnames(chances),
        phones(chances, city),
        streets(chances),
        named("city", city, [name for name, _, _ in CITIES]),
        zips(chances, city),
    ]
    held = [
        sprinkled(column, chances.happens(f"no {column.name}", MISSING[column.name])) if column.name in MISSING else column
        for column in columns
    ]
    return Microdata(pl.DataFrame(held), phonebook_policy(), f"a directory of {n:,} entries")


def phonebook_policy() -> Policy:
    """Everything is a key: a directory is what an intruder has, not what he seeks."""
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
