import polars as pl
import pytest

from discreet.engine.encoding.policy_tables import load_table
from discreet.errors import SourceError
from discreet.model.policy import Policy


def test_a_relative_name_starts_from_the_policys_folder(tmp_path):
    pl.DataFrame({"age": [44, 55]}).write_parquet(tmp_path / "people.parquet")
    policy = Policy.from_dict({"attributes": {"income": {"role": "confidential"}}}, folder=str(tmp_path))
    assert load_table("people.parquet", policy)["age"].to_list() == [44, 55]


def test_a_frame_is_a_table():
    assert load_table(pl.DataFrame({"age": [44]}), Policy()).height == 1


def test_a_missing_file_is_named_in_the_error(tmp_path):
    policy = Policy.from_dict({}, folder=str(tmp_path))
    with pytest.raises(SourceError, match=r"nobody\.csv"):
        load_table("nobody.csv", policy)
