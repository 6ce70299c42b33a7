"""A retailer's item descriptions: the wide table of Lebanon et al.'s experiments, 70 attributes with random weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from discreet.model.attribute import Attribute, Level, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.testing.chances import Chances, falling, named, sprinkled
from discreet.testing.directory import CITIES, SURNAMES, cities, digits, phones
from discreet.testing.draws import SampleDraw

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
KINDS = ("classic", "deluxe", "mini", "outdoor", "kids", "organic", "wireless", "folding", "heavy", "light", "vintage", "smart")
COLORS = ("black", "white", "blue", "red", "green", "grey", "brown", "yellow", "pink", "orange", "purple", "beige")
WORDS = {
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
    """Items with 70 attributes: names, codes, telephone numbers, words, prices, sizes and counts; a tenth of some is missing.

    >>> data = items(100)
    >>> len(data.columns)
    70
    """
    chances = Chances(SampleDraw(seed), np.arange(n, dtype=np.int64))
    city = cities(chances)
    columns = [
        digits(np.arange(1, n + 1), 8).alias("item_number"),
        _words(chances, "description", KINDS, COLORS, NOUNS),
        _words(chances, "supplier", SURNAMES, ("Co", "Inc", "Ltd", "Trading")),
        phones(chances, city, "supplier phone").alias("supplier_phone"),
        named("supplier_city", city, [name for name, _, _ in CITIES]),
        phones(chances, cities(Chances(SampleDraw(seed, 1), chances.records)), "service phone").alias("service_phone"),
        named("department", chances.pick("department", falling(len(DEPARTMENTS))), DEPARTMENTS),
        *(named(name, chances.pick(name, falling(len(words))), words) for name, words in WORDS.items()),
        *(
            named(name, chances.happens(name, 100_000 + 40_000 * at).astype(np.int64), ("no", "yes"))
            for at, name in enumerate(FLAGS)
        ),
        *(pl.Series(name, chances.amount(name, quantiles)) for name, quantiles in AMOUNTS.items()),
        *(pl.Series(name, chances.pick(name, falling(60))) for name in COUNTS),
    ]
    gaps = ("service_phone", "accent_color", "size", "material", "season", "warranty", "lead_days", "reviews")
    held = [sprinkled(one, chances.happens(f"no {one.name}", 100_000)) if one.name in gaps else one for one in columns]
    return Microdata(pl.DataFrame(held), items_policy(seed), f"{n:,} generated items")


def _words(chances: Chances, name: str, *choices: Sequence[str]) -> pl.Series:
    """Several words, each from its own list."""
    parts = [named(name, chances.pick(f"{name} {at}", falling(len(words), slowly=3)), words) for at, words in enumerate(choices)]
    made = parts[0]
    for part in parts[1:]:
        made = made + " " + part
    return made.alias(name)


def items_policy(seed: int = 0) -> Policy:
    """Every attribute may be disclosed at a weight drawn from (0, 1], as in the paper's experiments."""
    texts = ("item_number", "description", "supplier", "supplier_phone", "supplier_city", "service_phone", "department")
    names = (*texts, *WORDS, *FLAGS, *AMOUNTS, *COUNTS)
    weights = 1 + Chances(SampleDraw(seed), np.arange(len(names), dtype=np.int64)).below("weight of an attribute", 1000)
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
