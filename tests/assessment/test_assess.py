"""Assessment: verdicts by how much, the intruder with true values, and the adversaries side by side."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import discreet
from discreet.assessment.adversaries import ADVERSARIES
from discreet.model.microdata import Microdata
from discreet.testing import patients, students, table

STEPS = [{"method": "remove_identifiers"}, {"method": "generalization", "k": 5, "algorithm": "partition"}]


def limited(data: Microdata, **limits: float) -> Microdata:
    return data.with_policy(data.policy.with_(limits={name.replace("__", "."): value for name, value in limits.items()}))


def test_a_verdict_says_by_how_much() -> None:
    data = limited(table({"age": [30, 30, 40, 40, 40]}, key=["age"]), k_anonymity__k=3, k_anonymity__unique=1)
    missed, kept = discreet.assess(data, data).verdicts
    assert (missed.kept, missed.found) == (False, 2)
    assert missed.sentence == "k_anonymity.k is 2; at least 3 is required (off by 1)"
    assert kept.sentence == "k_anonymity.unique is 0; at most 1 is required (1 to spare)"


def test_an_intruder_who_cannot_be_measured_does_not_end_the_assessment() -> None:
    data = limited(students(300), known_sets__high_risk=300)
    shorter = Microdata(data.frame.head(200), data.policy, "the shorter file")
    found = discreet.assess(data, shorter)
    assert (found.status, found.ok) == ("incomplete", False)
    assert "known_sets" not in found.informed
    assert "for an intruder who knows the original values it could not be measured" in found.verdicts[0].sentence
    assert "mask --link" in found.verdicts[0].sentence


def test_verdicts_are_those_of_the_written_file(tmp_path: Path) -> None:
    data = limited(students(1_500), k_anonymity__k=5, known_sets__high_risk=3, ncp__loss=0.3, integrity__mean=0.05)
    release = discreet.mask(data, {"steps": STEPS})
    found = discreet.assess(data, release)
    for name in ("release.csv", "release.parquet"):
        discreet.write(release, tmp_path / name)
        again = discreet.read(tmp_path / name, data.policy)
        numbers = discreet.risk(again, ["k_anonymity", "known_sets"]) | discreet.loss(data, again, ["ncp", "integrity"])
        for verdict in found.verdicts:
            measure, field = verdict.limit.split(".")
            alone = verdict.measured_release if verdict.intruder else verdict.found
            assert alone == pytest.approx(numbers[measure][field], rel=1e-9)
        assert [one.status for one in discreet.assess(data, again).verdicts] == [one.status for one in found.verdicts]


def test_the_worst_adversary_of_a_record_is_the_one_with_the_largest_chance() -> None:
    data = limited(patients(600), k_anonymity__k=5)
    found = discreet.assess(data, discreet.mask(data, {"steps": STEPS})).per_record()
    assert found.height == 600
    assert set(ADVERSARIES) <= set(found.columns)
    for row in found.iter_rows(named=True):
        chances = {name: row[name] for name in ADVERSARIES if row[name] is not None}
        assert row["chance"] == max(chances.values())
        assert chances[row["worst"]] == row["chance"]
        assert row["takes"]


def test_adversaries_use_the_class_sizes_of_the_release() -> None:
    data = limited(table({"age": [30, 30, 40], "ill": ["a", "b", "a"]}, key=["age"], known={"age": 0.5}), k_anonymity__k=1)
    found = discreet.assess(data, data).per_record()
    assert found["k_anonymity"].to_list() == [0.5, 0.5, 1.0]
    assert found["takes"][2] == "to know age: a class of 1"
    assert found["repeated_records"].is_null().all()


def test_an_assessment_without_records_has_an_empty_table() -> None:
    from discreet.model.results import Assessment

    assert Assessment({}, {}, {}, {}, (), 0, 0).per_record().equals(pl.DataFrame())


def test_values_changed_in_more_ways_than_there_is_room_for_leave_out_the_informed_intruder_alone(monkeypatch) -> None:
    data = patients(300)
    release = discreet.mask(
        data, {"seed": 1, "steps": [{"method": "swapping", "how": "random", "columns": ["birth_year"], "share": 0.5}]}
    )
    whole = discreet.assess(release.original, release)
    assert "known_sets" in whole.informed
    monkeypatch.setattr("discreet.engine.known_sets.sums._MOST_TERMS", 3_000.0)
    found = discreet.assess(release.original, release)
    assert "known_sets" not in found.informed
    assert found.after["known_sets"].summary == whole.after["known_sets"].summary
    assert any("different combinations of attributes" in warning for warning in found.warnings)


def test_the_informed_intruder_is_left_out_where_there_is_no_time_left() -> None:
    data = patients(300)
    release = discreet.mask(data, {"steps": [{"method": "rounding", "columns": ["birth_year"], "base": 5}]})
    whole = discreet.assess(release.original, release)
    found = discreet.assess(release.original, release, deadline=0.0)
    assert "known_sets" in whole.informed
    assert "known_sets" not in found.informed
    assert any("no time left" in warning for warning in found.warnings)
    limited_to = limited(data, known_sets__max=1e9, repeated_records__k=1)  # patients have several records
    late = discreet.assess(limited_to, release, deadline=0.0)
    assert (late.status, late.verdicts[0].status) == ("incomplete", "incomplete")
    assert discreet.assess(limited_to, release).status == "met"
