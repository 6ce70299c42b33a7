"""Kartal & Li (2016): the numbers of Tables 1 and 2."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.engine.draws.draw import KeyedDraw
from discreet.masking.balanced_partition.method import BalancedPartition
from discreet.model.microdata import Microdata
from discreet.risks.repeated_records.measure import RepeatedRecords
from discreet.testing import table

NAMES = [*["Ashley"] * 2, "Bob", *["Charlie"] * 5, *["Diana"] * 2, *["Edward"] * 2, "Fred", "Greg", *["Harry"] * 5]
DISEASES = [
    "Asthma", "Obesity", "Obesity", "Diabetes", "Diabetes", "Gastritis", "Gastritis", "Diabetes", "Ulcer", "Gastritis",
    "Diabetes", "Gastritis", "Diabetes", "Ulcer", "Ulcer", "Asthma", "Epilepsy", "Asthma", "Ulcer",
]  # fmt: skip


def table_1b() -> Microdata:
    """The anonymized dataset: four groups of equal key values."""
    sizes = (2, 6, 4, 7)
    cells = {
        "age": ("32", "[36, 49]", "[36, 38]", "[40, 45]"),
        "gender": ("Female", "Male", "*", "Male"),
        "zip": ("[23000, 23200]", "[21750, 22100]", "[23500, 24200]", "[23600, 24800]"),
    }
    columns = {
        name: [text for text, size in zip(texts, sizes, strict=True) for _ in range(size)] for name, texts in cells.items()
    }
    return table(
        {"name": NAMES, **columns, "disease": DISEASES}, person=["name"], key=["age", "gender", "zip"], confidential=["disease"]
    )


def test_table_2_probabilities_of_each_person() -> None:
    found = RepeatedRecords().persons(table_1b())
    assert found["person"].to_list() == ["Ashley", "Bob", "Charlie", "Diana", "Edward", "Fred", "Greg", "Harry"]
    printed = [100.0, 16.7, 83.3, 50.0, 50.0, 14.3, 14.3, 71.4]
    assert [round(100 * value, 1) for value in found["probability"]] == printed
    assert found["over_threshold"].to_list() == [True, False, True, False, False, False, False, True]
    assert found["records"].to_list() == [2, 1, 5, 2, 2, 1, 1, 5]


def test_g_and_h_of_the_four_groups() -> None:
    rows = RepeatedRecords().measure(table_1b()).per_record
    assert rows is not None
    first = rows[[0, 2, 8, 12]]
    assert np.round(first["g"].to_numpy(), 4).tolist() == [0.0, 0.2778, 0.5, 0.4490]
    assert np.round(first["h"].to_numpy(), 4).tolist() == [1.0, 0.5, 1.0, 0.6667]
    assert first["persons"].to_list() == [1, 2, 2, 3]


def test_the_summary_shows_the_underestimate_of_k() -> None:
    score = RepeatedRecords().measure(table_1b())
    assert score["k"] == 2
    assert score["min_persons"] == 1
    assert score["min_g"] == 0.0
    assert score["mean_g"] == pytest.approx((2 * 0 + 6 * 10 / 36 + 4 * 0.5 + 7 * 22 / 49) / 19, rel=1e-12)
    assert score["max_h"] == 1.0
    assert (score["persons"], score["over_threshold"], score["over_threshold_share"]) == (8, 3, 0.375)


def test_the_whole_table_as_one_group() -> None:
    data = table({"name": NAMES, "key": [0] * 19, "disease": DISEASES}, person=["name"], key=["key"], confidential=["disease"])
    score = RepeatedRecords().measure(data)
    assert round(score["min_g"], 4) == 0.8199
    assert score["max_h"] == 0.375


def table_1a() -> Microdata:
    """The original dataset."""
    by_name = {
        "Ashley": (32, "Female"), "Bob": (36, "Male"), "Charlie": (49, "Male"), "Diana": (38, "Female"), "Edward": (36, "Male"),
        "Fred": (40, "Male"), "Greg": (41, "Male"), "Harry": (45, "Male"),
    }  # fmt: skip
    zips = [23000, 23200, 21750, *[22100] * 5, *[24200] * 2, *[23500] * 2, 23600, 24800, *[24050] * 5]
    ages, genders = zip(*(by_name[name] for name in NAMES), strict=True)
    columns = {"name": NAMES, "age": ages, "gender": genders, "zip": zips, "disease": DISEASES}
    return table(columns, person=["name"], key=["age", "gender", "zip"], confidential=["disease"])


def test_table_1_can_be_partitioned_so_that_nobody_is_above_one_half() -> None:
    masked = BalancedPartition(g=0.5, h=0.8).mask(table_1a(), ["age", "gender", "zip"], KeyedDraw(0))
    score = RepeatedRecords().measure(masked)
    assert score["min_g"] >= 0.5
    assert score["max_h"] <= 0.8
    assert score["over_threshold"] == 0
    assert score["groups"] == 2


def test_h_of_every_part_may_be_less_than_h_of_the_whole_where_a_person_is_in_both() -> None:
    columns = {"who": ["A", "B", "A", "B"], "part": [1, 1, 2, 2], "all": [0] * 4, "value": ["x", "y", "z", "x"]}
    data = table(columns, person=["who"], key=["part"], confidential=["value"])
    assert RepeatedRecords().measure(data)["max_h"] == 0.5
    assert RepeatedRecords(keys=("all",)).measure(data)["max_h"] == 1.0
