"""A retailer's item descriptions, like the table of the experiments of Lebanon et al.: 70 attributes with random weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from discreet.model.attribute import Attribute, Level, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.testing.directory import CITIES, SURNAMES, cities, phones, zero_padded
from discreet.testing.draws import SampleDraw
from discreet.testing.sampler import Sampler, decode, with_missing, zipf_weights

DEPARTMENTS = ("grocery", "apparel", "toys", "garden", "electronics", "pharmacy", "sporting", "home", "automotive", "books")
NOUNS = (
    "shirt",
    "lamp",
    "kettle",
    "ball",
    "drill",
    "rug",
    "puzzle",
    "socks",
    "chair",
    "cable",
    "soap",
    "cereal",
    "tent",
    "mirror",
    "hose",
    "pan",
)
ADJECTIVES = (
    "classic",
    "deluxe",
    "mini",
    "outdoor",
    "kids",
    "organic",
    "wireless",
    "folding",
    "heavy",
    "light",
    "vintage",
    "smart",
)
COLORS = ("black", "white", "blue", "red", "green", "grey", "brown", "yellow", "pink", "orange", "purple", "beige")
CATEGORIES = {
    "color": COLORS,
    "accent_color": COLORS,
    "size": ("M", "L", "S", "XL", "XS", "XXL", "one size"),
    "material": ("cotton", "plastic", "steel", "wood", "glass", "paper", "wool", "leather", "ceramic"),
    "origin": ("China", "USA", "Mexico", "Vietnam", "India", "Canada", "Germany", "Italy"),
    "season": ("all year", "summer", "winter", "spring", "autumn", "holiday"),
    "unit": ("piece", "pack", "pound", "ounce", "pair", "set"),
    "buyer": SURNAMES[:40],
    "planner": SURNAMES[40:70],
    "warehouse": tuple(f"W{number:02}" for number in range(1, 25)),
    "carrier": ("road", "rail", "sea", "air"),
    "tax_class": ("full", "reduced", "none"),
    "brand": tuple(f"{SURNAMES[at]} {kind}" for kind in ("& Sons", "Brothers", "Works") for at in range(0, 120, 4)),
    "warranty": ("none", "1 year", "2 years", "5 years"),
    "packaging": ("box", "bag", "blister", "bottle", "can", "wrap"),
    "shelf": tuple(f"{letter}{number}" for letter in "ABCDEFGH" for number in range(1, 13)),
}  # fmt: skip
FLAGS = ("recyclable", "fragile", "hazardous", "perishable", "private_label", "imported", "discontinued", "online_only")
AMOUNTS = {
    "price": (99, 299, 499, 899, 1_499, 2_499, 4_999, 19_999),
    "cost": (40, 140, 260, 480, 800, 1_300, 2_700, 11_000),
    "weight": (5, 60, 150, 320, 700, 1_500, 4_000, 60_000),
    "length": (2, 9, 15, 22, 31, 48, 90, 300),
    "width": (1, 6, 10, 15, 21, 33, 60, 200),
    "height": (1, 3, 6, 10, 15, 24, 45, 220),
    "lead_days": (1, 4, 7, 11, 16, 24, 40, 120),
    "pallet": (4, 12, 24, 40, 64, 96, 160, 640),
}  # fmt: skip
COUNTS = (
    *(f"sold_{month:02}" for month in range(1, 13)),
    *(f"returned_q{quarter}" for quarter in range(1, 5)),
    *(f"stock_{region}" for region in ("north", "south", "east", "west")),
    *(f"ordered_{region}" for region in ("north", "south", "east", "west")),
    "pack_size", "case_size", "facings", "stores", "suppliers", "complaints", "reviews",
)  # fmt: skip


def items(n: int, seed: int = 0) -> Microdata:
    """Items with 70 attributes: names, codes, telephone numbers, categories, prices, sizes and counts; eight have 10 % missing.

    >>> data = items(100)
    >>> len(data.columns)
    70
    """
    sampler = Sampler(SampleDraw(seed), np.arange(n, dtype=np.int64))
    city = cities(sampler)
    columns = [
        zero_padded(np.arange(1, n + 1), 8).alias("item_number"),
        _phrase(sampler, "description", ADJECTIVES, COLORS, NOUNS),
        _phrase(sampler, "supplier", SURNAMES, ("Co", "Inc", "Ltd", "Trading")),
        phones(sampler, city, "supplier phone").alias("supplier_phone"),
        decode("supplier_city", city, [name for name, _, _ in CITIES]),
        phones(sampler, cities(Sampler(SampleDraw(seed, 1), sampler.records)), "service phone").alias("service_phone"),
        decode("department", sampler.pick("department", zipf_weights(len(DEPARTMENTS))), DEPARTMENTS),
        *(decode(name, sampler.pick(name, zipf_weights(len(values))), values) for name, values in CATEGORIES.items()),
        *(
            decode(name, sampler.happens(name, 100_000 + 40_000 * index).astype(np.int64), ("no", "yes"))
            for index, name in enumerate(FLAGS)
        ),
        *(pl.Series(name, sampler.amount(name, quantiles)) for name, quantiles in AMOUNTS.items()),
        *(pl.Series(name, sampler.pick(name, zipf_weights(60))) for name in COUNTS),
    ]
    gaps = ("service_phone", "accent_color", "size", "material", "season", "warranty", "lead_days", "reviews")
    with_gaps = [
        with_missing(column, sampler.happens(f"no {column.name}", 100_000)) if column.name in gaps else column
        for column in columns
    ]
    return Microdata(pl.DataFrame(with_gaps), items_policy(seed), f"{n:,} generated items")


def _phrase(sampler: Sampler, name: str, *choices: Sequence[str]) -> pl.Series:
    """A column of phrases, each word drawn from its own list."""
    parts = [
        decode(name, sampler.pick(f"{name} {index}", zipf_weights(len(words), offset=3)), words)
        for index, words in enumerate(choices)
    ]
    phrase = parts[0]
    for part in parts[1:]:
        phrase = phrase + " " + part
    return phrase.alias(name)


def items_policy(seed: int = 0) -> Policy:
    """Every attribute has a sensitivity drawn from (0, 1], as in the experiments of Lebanon et al."""
    texts = ("item_number", "description", "supplier", "supplier_phone", "supplier_city", "service_phone", "department")
    names = (*texts, *CATEGORIES, *FLAGS, *AMOUNTS, *COUNTS)
    weights = 1 + Sampler(SampleDraw(seed), np.arange(len(names), dtype=np.int64)).below("weight of an attribute", 1000)
    attributes = {
        name: Attribute(
            role=Role.CONFIDENTIAL if name in ("cost", "supplier", "complaints") else Role.KEY,
            level=Level.NOMINAL if name in texts else None,
            known=0.02,
            sensitivity=int(weight) / 1000,
        )
        for name, weight in zip(names, weights, strict=True)
    }
    return Policy(attributes=attributes)
