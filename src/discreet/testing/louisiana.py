"""Public schools of Louisiana: the values and weights that :mod:`discreet.testing.students` draws from.

Parishes are real names, largest first. The weights are round numbers of a plausible size, not official statistics.
"""

from __future__ import annotations

PARISHES = (
    "East Baton Rouge", "Jefferson", "Orleans", "St. Tammany", "Lafayette", "Caddo", "Calcasieu", "Ouachita",
    "Livingston", "Tangipahoa", "Rapides", "Bossier", "Terrebonne", "Ascension", "Lafourche", "St. Landry",
    "Iberia", "Vermilion", "St. Martin", "Acadia", "Avoyelles", "Lincoln", "St. Mary", "Vernon",
    "Washington", "St. Charles", "St. Bernard", "Webster", "St. John the Baptist", "Natchitoches", "Beauregard", "Evangeline",
    "Jefferson Davis", "Iberville", "De Soto", "Morehouse", "Sabine", "West Baton Rouge", "Grant", "Pointe Coupee",
    "Plaquemines", "Allen", "Assumption", "Richland", "Union", "Franklin", "St. James", "East Feliciana",
    "Concordia", "Jackson", "Winn", "West Feliciana", "Claiborne", "Bienville", "LaSalle", "Madison",
    "St. Helena", "Red River", "West Carroll", "Caldwell", "Catahoula", "East Carroll", "Cameron", "Tensas",
)  # fmt: skip

SCHOOLS_PER_PARISH = 20
ELEMENTARY, MIDDLE = 10, 5
"""Of the schools of a parish the first ten are elementary, the next five middle, the last five high schools."""

GENDERS = ("female", "male")
ETHNICITIES = ("White", "Black", "Hispanic", "Asian", "American Indian", "Multiracial")
ETHNICITY_BY_PARISH_KIND = (
    (26, 44, 13, 7, 3, 7),
    (52, 22, 10, 5, 5, 6),
    (60, 15, 10, 5, 4, 6),
    (38, 36, 9, 4, 8, 5),
)

GRADES = ("PK", "K", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12")
LAST_GRADE = 13
GRADE_WEIGHTS_OF_LEAVERS = (2, 3, 4, 4, 5, 5, 6, 7, 8, 9, 11, 10, 9, 17)
GRADE_WEIGHTS_OF_ENROLLED = (5, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7, 6, 5)
FIRST_YEAR, LAST_YEAR = 1999, 2011
YEARS = (5,) * 12 + (40,)
"""Of a hundred students, sixty left in one of the earlier years; the others are still enrolled in the last year."""
YEARS_BEHIND = ((90, 9, 1, 0, 0), (78, 18, 3, 1, 0), (66, 23, 8, 2, 1), (60, 25, 10, 4, 1))
"""Weights of being 0 to 4 years behind, by grade band: PK and K, elementary, middle, high school."""

LUNCHES = ("free", "reduced", "paid")
LUNCH_BY_ETHNICITY = ((36, 12, 52), (70, 12, 18), (64, 12, 24), (40, 10, 50), (58, 12, 30), (50, 12, 38))

LANGUAGES = (
    "English", "Spanish", "Vietnamese", "French", "Arabic", "Chinese", "Tagalog", "Haitian Creole", "Portuguese", "Urdu",
    "Korean", "Hindi", "Lao", "Khmer", "Thai", "Russian", "German", "Italian", "Japanese", "Bengali",
    "Gujarati", "Punjabi", "Telugu", "Swahili", "Yoruba", "Turkish", "Polish", "Greek", "Hebrew", "Choctaw",
)  # fmt: skip
_TAIL = (30, 26, 22, 19, 16, 14, 12, 11, 10, 9, 8, 7, 6, 5, 5, 4, 4, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2)
LANGUAGE_BY_ETHNICITY = (
    (1500, 160, 60, *_TAIL),
    (1550, 120, 50, *_TAIL),
    (300, 1400, 10, *_TAIL),
    (500, 20, 800, *(5 * weight for weight in _TAIL)),
    (1400, 100, 30, *_TAIL[:-1], 260),
    (1300, 260, 140, *(2 * weight for weight in _TAIL)),
)

FLAGS = (
    "dropout", "homeless", "retained", "suspended", "expelled", "ladoc", "laojj", "gifted", "disability",
    "truancy", "migrant", "foster", "snap", "tanf", "violent", "felony", "probation",
)  # fmt: skip
NEED_FLAGS = frozenset({"homeless", "migrant", "foster", "snap", "tanf"})
JUSTICE_FLAGS = frozenset({"expelled", "ladoc", "laojj", "violent", "felony", "probation"})
PRIMARY_FLAG_WEIGHTS_TO_GRADE_5 = (1, 6, 20, 8, 1, 0, 1, 10, 14, 5, 5, 7, 12, 8, 1, 0, 0)
PRIMARY_FLAG_WEIGHTS_ABOVE_GRADE_5 = (20, 3, 6, 14, 5, 3, 7, 4, 6, 12, 2, 2, 5, 3, 4, 1, 4)
"""Weights of each flag to be a student's primary flag, up to grade 5 and above."""
SAME_CLUSTER_CHANCE, OTHER_CLUSTER_CHANCE = 220_000, 30_000
"""Probability, in millionths, of a further flag from the cluster of the primary flag (need, justice, school), or from another."""
ANY_FLAG_CHANCE = (20_300, 14_000, 8_500)
ANY_FLAG_CHANCE_DENSE = (860_000, 780_000, 650_000)
"""Probability, in millionths, that a student has any flag, by lunch status."""
