"""Names, streets and places for generated people; the commonest stand first."""

from __future__ import annotations

import numpy as np
import polars as pl

from discreet.testing.chances import Chances, falling, named

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
"""City, the first three digits of its ZIP codes, and its telephone area."""


def first_names(chances: Chances, female: np.ndarray) -> pl.Series:
    """A first name that goes with the sex."""
    code = chances.pick("first name", falling(len(WOMEN), slowly=6))
    return named("first_name", np.where(female, code, code + len(WOMEN)), WOMEN + MEN)


def surnames(chances: Chances, stream: str = "surname") -> pl.Series:
    return named("surname", chances.pick(stream, falling(len(SURNAMES), slowly=20)), SURNAMES)


def cities(chances: Chances) -> np.ndarray:
    """Which of the cities a record lies in."""
    return chances.pick("city", falling(len(CITIES)))


def zips(chances: Chances, city: np.ndarray) -> pl.Series:
    """A ZIP code of the city, as text: the zeros in front of Boston's stay."""
    prefixes = named("zip", city, [prefix for _, prefix, _ in CITIES])
    return prefixes + digits(chances.pick("zip", falling(40, slowly=4)), 2)


def phones(chances: Chances, city: np.ndarray, stream: str = "phone") -> pl.Series:
    """A telephone number in the city's area, all of the exchange 555 that nobody has."""
    areas = named("phone", city, [area for _, _, area in CITIES])
    return areas + "-555-" + digits(chances.below(stream, 10_000), 4)


def streets(chances: Chances) -> pl.Series:
    """A house number and a street."""
    names = named("street", chances.pick("street", falling(len(STREETS), slowly=5)), STREETS)
    kinds = named("street", chances.pick("street kind", (40, 20, 15, 12, 8, 5)), STREET_KINDS)
    numbers = pl.Series("street", 1 + chances.amount("house number", (0, 20, 90, 400, 1900))).cast(pl.String)
    return numbers + " " + names + " " + kinds


def digits(numbers: np.ndarray, width: int) -> pl.Series:
    """Whole numbers as text of a fixed width."""
    return pl.Series("digits", numbers).cast(pl.String).str.zfill(width)
