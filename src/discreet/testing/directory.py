"""Names, streets and cities for generated people, the most common first."""

from __future__ import annotations

import numpy as np
import polars as pl

from discreet.testing.sampler import Sampler, decode, zipf_weights

SURNAMES = (
    "Smith", "Johnson", "Williams", "Brown", "Jones", "Garcia", "Miller", "Davis", "Rodriguez", "Martinez",
    "Hernandez", "Lopez", "Gonzalez", "Wilson", "Anderson", "Thomas", "Taylor", "Moore", "Jackson", "Martin", "Lee",
    "Perez", "Thompson", "White", "Harris", "Sanchez", "Clark", "Ramirez", "Lewis", "Robinson", "Walker", "Young",
    "Allen", "King", "Wright", "Scott", "Torres", "Nguyen", "Hill", "Flores", "Green", "Adams", "Nelson", "Baker",
    "Hall", "Rivera", "Campbell", "Mitchell", "Carter", "Roberts", "Gomez", "Phillips", "Evans", "Turner", "Diaz",
    "Parker", "Cruz", "Edwards", "Collins", "Reyes", "Stewart", "Morris", "Morales", "Murphy", "Cook", "Rogers",
    "Gutierrez", "Ortiz", "Morgan", "Cooper", "Peterson", "Bailey", "Reed", "Kelly", "Howard", "Ramos", "Kim", "Cox",
    "Ward", "Richardson", "Watson", "Brooks", "Chavez", "Wood", "Bennett", "Gray", "Mendoza", "Ruiz", "Hughes",
    "Price", "Alvarez", "Castillo", "Sanders", "Patel", "Myers", "Long", "Ross", "Foster", "Jimenez", "Powell",
    "Jenkins", "Perry", "Russell", "Sullivan", "Bell", "Coleman", "Butler", "Henderson", "Barnes", "Fisher",
    "Vasquez", "Simmons", "Graham", "Murray", "Ford", "Castro", "Hamilton", "O'Neill", "McDonald", "Van Dyke",
    "Łukaszewski", "Müller", "Nakamura", "Okafor", "Boudreaux", "Thibodeaux",
)  # fmt: skip
WOMEN = (
    "Mary", "Patricia", "Jennifer", "Linda", "Elizabeth", "Barbara", "Susan", "Jessica", "Sarah", "Karen", "Lisa",
    "Nancy", "Betty", "Sandra", "Margaret", "Ashley", "Kimberly", "Emily", "Donna", "Michelle", "Carol", "Amanda",
    "Melissa", "Deborah", "Stephanie", "Rebecca", "Sharon", "Laura", "Cynthia", "Dorothy", "Amy", "Kathleen",
    "Angela", "Shirley", "Emma", "Brenda", "Pamela", "Nicole",
)  # fmt: skip
MEN = (
    "James", "Robert", "John", "Michael", "David", "William", "Richard", "Joseph", "Thomas", "Christopher", "Charles",
    "Daniel", "Matthew", "Anthony", "Mark", "Donald", "Steven", "Andrew", "Paul", "Joshua", "Kenneth", "Kevin",
    "Brian", "George", "Timothy", "Ronald", "Jason", "Edward", "Jeffrey", "Ryan", "Jacob", "Gary", "Nicholas", "Eric",
    "Jonathan", "Stephen", "Larry", "Justin",
)  # fmt: skip
STREETS = (
    "Main", "Oak", "Park", "Maple", "Cedar", "Pine", "Washington", "Lake", "Hill", "Walnut", "Spring", "North",
    "Ridge", "Lincoln", "Church", "Willow", "Mill", "Sunset", "Railroad", "Jackson", "Cherry", "Highland", "Magnolia",
    "River", "Jefferson", "College", "Center", "Franklin", "Chestnut", "Meadow", "Forest", "Elm", "Second", "Third",
    "Broadway", "Court", "Dogwood", "Live Oak",
)  # fmt: skip
STREET_KINDS = ("St", "Ave", "Rd", "Dr", "Ln", "Blvd")
CITIES = (
    ("Detroit", "482", "313"), ("Chicago", "606", "312"), ("Columbus", "432", "614"), ("Indianapolis", "462", "317"),
    ("Milwaukee", "532", "414"), ("Cincinnati", "452", "513"), ("Toledo", "436", "419"), ("Lansing", "489", "517"),
    ("Dayton", "454", "937"), ("Boston", "021", "617"), ("Newark", "071", "973"), ("Gary", "464", "219"),
)  # fmt: skip
"""City, the first three digits of its ZIP codes, and its telephone area code."""


def first_names(sampler: Sampler, female: np.ndarray) -> pl.Series:
    """First names by sex."""
    code = sampler.pick("first name", zipf_weights(len(WOMEN), offset=6))
    return decode("first_name", np.where(female, code, code + len(WOMEN)), WOMEN + MEN)


def surnames(sampler: Sampler, stream: str = "surname") -> pl.Series:
    return decode("surname", sampler.pick(stream, zipf_weights(len(SURNAMES), offset=20)), SURNAMES)


def cities(sampler: Sampler) -> np.ndarray:
    """Index of the city of each record."""
    return sampler.pick("city", zipf_weights(len(CITIES)))


def zips(sampler: Sampler, city: np.ndarray) -> pl.Series:
    """ZIP codes of the city, as text, because those of Boston begin with zeros."""
    prefixes = decode("zip", city, [prefix for _, prefix, _ in CITIES])
    return prefixes + zero_padded(sampler.pick("zip", zipf_weights(40, offset=4)), 2)


def phones(sampler: Sampler, city: np.ndarray, stream: str = "phone") -> pl.Series:
    """Telephone numbers in the city's area code, with the exchange 555, which is not assigned to anybody."""
    areas = decode("phone", city, [area for _, _, area in CITIES])
    return areas + "-555-" + zero_padded(sampler.below(stream, 10_000), 4)


def streets(sampler: Sampler) -> pl.Series:
    """House numbers and streets."""
    names = decode("street", sampler.pick("street", zipf_weights(len(STREETS), offset=5)), STREETS)
    kinds = decode("street", sampler.pick("street kind", (40, 20, 15, 12, 8, 5)), STREET_KINDS)
    numbers = pl.Series("street", 1 + sampler.amount("house number", (0, 20, 90, 400, 1900))).cast(pl.String)
    return numbers + " " + names + " " + kinds


def zero_padded(numbers: np.ndarray, width: int) -> pl.Series:
    """Integers as text of a fixed width, with leading zeros."""
    return pl.Series("digits", numbers).cast(pl.String).str.zfill(width)
