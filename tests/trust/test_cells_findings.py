"""What a review found of cells that the measures did not understand; each of these failed before there was one reader."""

import datetime

import polars as pl
import pytest
import yaml

import discreet
from discreet import Microdata, Policy
from discreet.errors import SourceError, UnexplainedCellError
from discreet.model.cells import parse_interval

CITIES = [f"city {at}" for at in range(36)] + ["town"] * 4
GROUPS = {str(at): [city] for at, city in enumerate(dict.fromkeys(CITIES))}


def people(steps, hierarchy=None, limits=None):
    """Forty people of whom 36 live in a city of their own."""
    city = {"role": "key", "known": 0.5} | ({"hierarchy": hierarchy} if hierarchy else {})
    policy = {
        "attributes": {"city": city, "ill": {"role": "confidential", "sensitivity": 1}},
        "risk": {"decision": {}, "target_linkage": {}, "known_sets": {"alpha": 1}},
        "loss": {"ncp": {}},
        "limits": limits or {},
        "plan": {"seed": 1, "steps": steps},
    }
    return Microdata(pl.DataFrame({"city": CITIES, "ill": ["Flu"] * 40}), Policy.from_dict(policy))


def informed(data, masked):
    found = discreet.assess(data, masked)
    return {
        "risk": found.informed["decision"]["risk"],
        "links": found.informed["target_linkage"]["expected_links"],
        "mean": found.informed["known_sets"]["mean"],
        "ncp": found.losses["ncp"]["loss"],
    }


def test_groups_are_as_risky_as_the_byte_identical_release_by_a_hierarchy():
    by_groups = people([{"method": "global_recoding", "columns": ["city"], "groups": GROUPS}])
    by_level = people([{"method": "global_recoding", "columns": ["city"], "level": 1}], {"groups": [GROUPS]})
    one, other = discreet.mask(by_groups), discreet.mask(by_level)
    assert one.masked.frame.equals(other.masked.frame)
    found = informed(by_groups, one)
    assert found == informed(by_level, other)
    assert found["links"] == 37  # 36 alone, and one of the four in the town
    assert found["risk"] > 0.9


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl", "xlsx"])
def test_mask_and_assess_agree_on_labels_that_look_like_numbers(tmp_path, form):
    data = people([{"method": "global_recoding", "columns": ["city"], "groups": GROUPS}])
    release = discreet.mask(data)
    discreet.write(release, tmp_path / f"out.{form}")
    again = discreet.read(tmp_path / f"out.{form}", data.policy)
    assert again.frame.schema["city"] == pl.String
    assert informed(data, again) == informed(data, release)


def test_years_in_a_csv_file_are_years(tmp_path):
    days = [datetime.date(1980 + at, 5, 1 + at) for at in range(20)]
    policy = {
        "attributes": {"born": {"role": "key"}, "ill": {"role": "confidential"}},
        "risk": {"decision": {}, "target_linkage": {}},
        "plan": {"seed": 1, "steps": [{"method": "global_recoding", "columns": ["born"], "unit": "year"}]},
    }
    data = Microdata(pl.DataFrame({"born": days, "ill": ["Flu"] * 20}), Policy.from_dict(policy))
    release = discreet.mask(data)
    discreet.write(release, tmp_path / "out.csv")
    for masked in (release, discreet.read(tmp_path / "out.csv", data.policy)):
        found = discreet.assess(data, masked)
        assert found.informed["target_linkage"]["expected_links"] == 20
        assert found.informed["decision"]["risk"] == 2  # two values are learnt of everybody


def test_target_linkage_without_a_list_takes_keys_generalized_by_their_own_hierarchy(tmp_path):
    policy = {
        "attributes": {"age": {"role": "key", "hierarchy": {"widths": [5, 10]}}, "ill": {"role": "confidential"}},
        "risk": {"target_linkage": {}},
        "limits": {"target_linkage.max": 1.0},
        "plan": {"seed": 1, "steps": [{"method": "global_recoding", "columns": ["age"], "level": 1}]},
    }
    data = Microdata(pl.DataFrame({"age": list(range(20, 60)), "ill": ["Flu"] * 40}), Policy.from_dict(policy))
    release = discreet.mask(data)
    found = discreet.assess(data, release)
    assert found.after["target_linkage"]["max"] == pytest.approx(1 / 5)
    discreet.write(release, tmp_path / "out.csv")
    (tmp_path / "out.csv.cells.yaml").unlink()  # the grammar alone explains intervals
    again = discreet.assess(data, discreet.read(tmp_path / "out.csv", data.policy))
    assert again.after["target_linkage"].summary == found.after["target_linkage"].summary


@pytest.mark.parametrize("first", [123_456_789_012_345, 9_007_199_254_740_993, 4_611_686_018_427_387_900, 2**64 - 100])
def test_recoded_numbers_of_many_digits_lie_in_their_intervals(first):
    values = [first + at for at in range(40)]
    attributes = {"id": {"role": "key", "hierarchy": {"widths": [10, 100]}}}
    frame = pl.DataFrame({"id": pl.Series(values, dtype=pl.UInt64)})
    for step in ({"method": "global_recoding", "width": 10}, {"method": "global_recoding", "level": 2},
                 {"method": "generalization", "k": 4, "algorithm": "partition"}):  # fmt: skip
        policy = Policy.from_dict({"attributes": attributes, "plan": {"seed": 1, "steps": [step | {"columns": ["id"]}]}})
        made = discreet.mask(Microdata(frame, policy)).masked.frame["id"].to_list()
        for value, label in zip(values, made, strict=True):
            assert label == "*" or value in parse_interval(label), (value, label)


def test_a_label_that_nobody_explains_is_an_error_that_names_file_column_and_label(tmp_path):
    data = people([])
    masked = pl.DataFrame({"city": ["somewhere"] * 40, "ill": ["Flu"] * 40})
    masked.write_csv(tmp_path / "masked.csv")
    found = discreet.read(tmp_path / "masked.csv", data.policy)
    with pytest.raises(UnexplainedCellError, match=r"masked.csv: the masked column 'city' holds 'somewhere'.*cells section"):
        discreet.assess(data, found)
    cells = {"city": {"kind": "text", "labels": {"somewhere": "{" + "|".join(dict.fromkeys(CITIES)) + "}"}}}
    said = data.with_policy(data.policy.with_(cells=Policy.from_dict({"cells": cells}).cells))
    assert informed(said, found)["links"] == 1


def test_a_release_has_a_file_beside_it_that_says_no_more_than_it_must(tmp_path):
    groups = {"north": ["city 1", "city 2"], "nobody": ["city 99", "city 3"]}
    data = people([{"method": "global_recoding", "columns": ["city"], "groups": groups, "other": "else"},
                   {"method": "sampling", "fraction": 0.9}])  # fmt: skip
    release = discreet.mask(data)
    target, beside = tmp_path / "out.csv", tmp_path / "out.csv.cells.yaml"
    discreet.write(release, target)
    said = yaml.safe_load(beside.read_text())["cells"]["city"]
    assert said["kind"] == "text"
    shown = set(pl.read_csv(target)["city"].to_list())
    assert set(said["labels"]) == shown & {"north", "nobody", "else"}
    assert said["labels"]["else"] == "!{city 1|city 2|city 3|city 99}"  # the owner's words, not the values that occur
    plain = discreet.mask(people([]))
    discreet.write(plain, target, overwrite=True)
    assert not beside.exists(), "a description must not outlive its table"


def test_a_file_beside_a_table_that_does_not_belong_to_it_is_refused(tmp_path):
    target, beside = tmp_path / "out.csv", tmp_path / "out.csv.cells.yaml"
    pl.DataFrame({"a": [1, 2]}).write_csv(target)
    for text, words in (
        ("cells: {b: {kind: text}}", "describes the column 'b', which out.csv does not have"),
        ("cells: {a: {kind: date, labels: {'1': nonsense}}}", "stands for 'nonsense', which is not a cell of kind date"),
        ("limits: {k_anonymity.k: 3}", "only the section 'cells' is allowed in it"),
        ("cells: [", "not YAML"),
    ):
        beside.write_text(text)
        with pytest.raises(SourceError, match=words):
            discreet.read(target)


def test_the_policy_that_mask_writes_says_what_labels_stand_for(tmp_path):
    from typer.testing import CliRunner

    from discreet.cli.app import app

    data = people([{"method": "global_recoding", "columns": ["city"], "groups": GROUPS}])
    source, policy, out, kept = (tmp_path / name for name in ("in.csv", "policy.yaml", "out.csv", "kept.yaml"))
    data.frame.write_csv(source)
    policy.write_text(data.policy.to_yaml())
    runner = CliRunner()
    found = runner.invoke(app, ["mask", str(source), str(out), "-p", str(policy), "--write-policy", str(kept)])
    assert found.exit_code == 0, found.output
    assert Policy.from_dict(yaml.safe_load(kept.read_text())).cells["city"].labels["3"] == "city 3"
    (tmp_path / "out.csv.cells.yaml").unlink()  # as if the release lay in a database
    original = discreet.read(source, kept)
    assert informed(original, discreet.read(out, kept))["links"] == 37
