from __future__ import annotations

import pytest

import discreet
from discreet.errors import DataError
from discreet.masking.remove_identifiers.method import RemoveIdentifiers
from discreet.testing import table

DATA = table(
    {"ssn": ["1", "2"], "name": ["a", "b"], "patient": [7, 7], "age": [44, 55]},
    identifier=["ssn", "name"],
    person=["patient"],
    key=["age"],
)


def test_identifiers_are_removed_and_nothing_else_changes():
    release = discreet.mask(DATA, {"steps": [{"method": "remove_identifiers"}]})
    assert release.masked.columns == ["patient", "age"]
    assert release.masked.frame.equals(DATA.frame.select("patient", "age"))
    assert release.log[0].values_changed == 4


def test_the_step_may_name_the_columns_to_remove():
    assert RemoveIdentifiers().mask(DATA, ["patient"], draw=None).columns == ["ssn", "name", "age"]


def test_a_column_with_another_role_is_refused_with_what_would_work():
    """The message was that the attribute is no column of the file, which it is."""
    with pytest.raises(DataError, match=r"'age' has the role key: give it the role identifier, or make all its values one"):
        discreet.mask(DATA, {"steps": [{"method": "remove_identifiers", "columns": ["ssn", "age"]}]})


def test_a_table_without_identifiers_stays_as_it_is():
    plain = table({"age": [1]}, key=["age"])
    assert RemoveIdentifiers().choose(plain) == []
    assert RemoveIdentifiers().mask(plain, [], draw=None).frame.equals(plain.frame)
