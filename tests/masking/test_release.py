"""The published table has shuffled rows, no identifiers and no labels of removed values; the link restores the originals."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

import discreet
from discreet.engine.draws.draw import derive_seed_key
from discreet.engine.encoding.record_links import attach_link, link_table
from discreet.engine.encoding.release_order import align_with_original, shuffled_rows
from discreet.errors import DataError
from discreet.keys.recognise import order_keys
from discreet.masking.release import release_table, released_records, withheld_columns
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Step
from discreet.testing import hospital, table
from discreet.verbs import link, write_link

POLICY = {
    "attributes": {
        "name": {"role": "identifier"}, "age": {"role": "key", "known": 0.3}, "sex": {"role": "key"},
        "income": {"role": "confidential"},
    },
    "loss": {"ncp": {}, "entropy": {}, "integrity": {}},
    "risk": {"record_linkage": {}, "k_anonymity": {}, "known_sets": {}},
    "plan": {
        "seed": 99,
        "steps": [{"method": "remove_identifiers"}, {"method": "microaggregation", "columns": ["age"], "size": 3}],
    },
}  # fmt: skip


STEPS: dict[str, dict[str, object]] = {
    "noise": {"columns": ["age", "income"], "level": 0.5},
    "swapping": {"columns": ["age", "income"], "window": 20},
    "generalization": {"k": 2, "suppression_limit": 1.0},
    "rounding": {"columns": ["age", "income"], "base": 10},
}


def people(rows: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "name": [f"Person {number}" for number in range(rows)],
            "age": rng.integers(18, 90, rows),
            "sex": rng.choice(["f", "m"], rows),
            "income": np.round(rng.lognormal(10, 1, rows)),
        }
    )


def scores(assessment: discreet.Assessment) -> dict[str, object]:
    parts = {**assessment.after, **assessment.informed, **{f"loss {name}": score for name, score in assessment.losses.items()}}
    return {
        f"{name} {field}": round(value, 9)
        for name, score in parts.items()
        for field, value in score.to_dict().items()
        if isinstance(value, int | float)
    }


@given(rows=st.integers(0, 40), seed=st.integers(0, 2**80))
@settings(max_examples=50)
def test_the_order_is_a_permutation_that_depends_on_key_and_records_alone(rows: int, seed: int) -> None:
    records = np.arange(rows) - 3
    key = derive_seed_key(seed)
    order = shuffled_rows(records, key)
    assert sorted(order) == list(range(rows))
    reordering = np.random.default_rng(rows).permutation(rows)
    assert (records[order] == records[reordering][shuffled_rows(records[reordering], key)]).all()


def test_the_order_of_a_release_is_unrelated_to_the_order_of_the_source() -> None:
    order = shuffled_rows(np.arange(20_000), derive_seed_key(7))
    assert abs(np.corrcoef(order, np.arange(20_000))[0, 1]) < 0.03
    assert (np.diff(order) == 1).sum() < 10


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_give_the_numbers_of_the_release_itself(tmp_path: Path, suffix: str) -> None:
    data = discreet.read(people(), POLICY)
    release = discreet.mask(data)
    discreet.write(data, tmp_path / f"original{suffix}")
    discreet.write(release, tmp_path / f"masked{suffix}")
    original, masked = (discreet.read(tmp_path / f"{name}{suffix}", POLICY) for name in ("original", "masked"))
    assert not masked.frame.equals(release.masked.frame)
    assert scores(discreet.assess(original, masked)) == scores(discreet.assess(data, release))
    assert discreet.assess(original, masked).warnings == discreet.assess(data, release).warnings
    from_file = discreet.risk(masked, ["record_linkage"], original)["record_linkage"].to_dict()
    assert from_file == discreet.risk(release, ["record_linkage"])["record_linkage"].to_dict()


@pytest.mark.parametrize("rows", [5, 10, 60, 9000])
def test_a_file_in_the_order_of_the_original_keeps_its_order(rows: int) -> None:
    data = discreet.read(people(rows), POLICY)
    masked = discreet.read(discreet.mask(data).masked.frame, POLICY)
    alignment = align_with_original(masked, data, data.policy.plan, order_keys)
    assert alignment.masked.is_initial
    assert alignment.doubt is None


@pytest.mark.parametrize("rows", [5, 10, 60, 9000])
@pytest.mark.parametrize("step", [*STEPS, "nothing"])
def test_a_shuffled_file_finds_its_originals(rows: int, step: str) -> None:
    steps = [] if step == "nothing" else [{"method": step, **STEPS[step]}]
    data = discreet.read(people(rows), POLICY)
    release = discreet.mask(data, {"seed": 3, "steps": steps})
    written = release_table(release)
    masked = discreet.read(written.frame, POLICY)
    alignment = align_with_original(masked, data, release.plan, lambda _, __: [release.draw_key])
    assert (alignment.masked.records == written.records).all()
    assert alignment.doubt is None


def test_rows_that_match_no_original_cause_a_warning() -> None:
    data = discreet.read(people(), POLICY)
    masked = discreet.read(data.frame.sample(fraction=1.0, shuffle=True, seed=1).drop("name"), POLICY)
    doubt = "no better than unrelated rows"
    assert doubt in " ".join(discreet.assess(data, masked).warnings)
    assert doubt in " ".join(discreet.loss(data, masked)["ncp"].notes)


def test_the_link_connects_a_sampled_release_to_its_originals(tmp_path: Path) -> None:
    data = discreet.read(people(), POLICY)
    plan = {
        "seed": 3,
        "steps": [{"method": "sampling", "fraction": 0.5}, {"method": "simulation", "how": "add", "fraction": 0.1}],
    }
    plan["steps"] = plan["steps"][:1]
    release = discreet.mask(data, plan)
    discreet.write(release, tmp_path / "masked.parquet")
    write_link(release, tmp_path / "link.csv")
    assert stat.S_IMODE((tmp_path / "link.csv").stat().st_mode) == 0o600
    masked = discreet.read(tmp_path / "masked.parquet", POLICY)
    with pytest.raises(DataError, match="link of mask --link"):
        discreet.loss(data, masked, ["entropy"])
    linked = link(data, masked, tmp_path / "link.csv")
    expected = discreet.loss(data, release, ["entropy", "ncp"])
    assert {n: s.to_dict() for n, s in discreet.loss(data, linked, ["entropy", "ncp"]).items()} == {
        n: s.to_dict() for n, s in expected.items()
    }


@pytest.mark.parametrize("order", ["shuffled", "kept"])
def test_the_records_of_a_release_are_known_without_writing_its_columns(order: str) -> None:
    data = table({"age": [5, 3, 9, 1, 7, 2]}, key=["age"])
    release = discreet.mask(data, {"order": order, "steps": [{"method": "sampling", "fraction": 0.7}]})
    assert released_records(release).tolist() == release_table(release).records.tolist()


def test_a_link_marks_simulated_rows() -> None:
    data = table({"age": [1, 2, 3]}, key=["age"])
    masked = data.replace(pl.DataFrame({"age": [3, 9, 1, 8]}), np.array([2, -1, 0, -2]))
    links = link_table(masked.records)
    assert links["record"].to_list() == [3, None, 1, None]
    back = attach_link(Microdata(masked.frame, data.policy), data, Microdata(links))
    assert back.records[[0, 2]].tolist() == [2, 0]
    assert (back.records[[1, 3]] < 0).all()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"record": [1]}, "links 1 rows"),
        ({"record": [1, 1, 2]}, "names record 1 twice"), ({"record": [1, 2, 4]}, "record 4, but"),
        ({"other": [1, 2, 3]}, "an integer column 'record'"), ({"record": ["a", "b", "c"]}, "an integer column 'record'"),
    ],
)  # fmt: skip
def test_a_wrong_link_is_refused(content: dict[str, list[object]], message: str) -> None:
    data = table({"age": [1, 2, 3]}, key=["age"])
    with pytest.raises(DataError, match=message):
        attach_link(data, data, Microdata(pl.DataFrame(content)))


def test_identifiers_that_no_step_masked_are_left_out() -> None:
    data = hospital(200)
    release = discreet.mask(data, {"steps": [{"method": "rounding", "columns": ["income"], "base": 100}]})
    assert withheld_columns(release) == release.exposed != []
    assert not set(withheld_columns(release)) & set(release_table(release).columns)
    pseudonyms = discreet.mask(
        data, {"steps": [{"method": "pseudonymization", "columns": [release.exposed[0]], "key": SecretStr("k" * 32)}]}
    )
    assert release.exposed[0] in release_table(pseudonyms).columns
    unshuffled = discreet.mask(data, {"identifiers": "kept", "order": "kept", "steps": []})
    assert release_table(unshuffled).frame.equals(data.frame)


def test_labels_of_removed_values_are_not_released() -> None:
    data = Microdata(
        pl.DataFrame({"a": [1, 2, 9], "b": ["x", "y", "z"]}),
        labels={"a": {1: "one", 2: "two", 9: "the mayor"}, "gone": {1: "x"}},
        variable_labels={"a": "first", "gone": "the column that went"},
    )
    published = release_table(discreet.mask(data.take(np.array([0, 1])), Plan(steps=(Step(method="remove_identifiers"),))))
    assert published.labels == {"a": {1: "one", 2: "two"}}
    assert published.variable_labels == {"a": "first"}


def test_building_the_released_table_does_not_change_the_release() -> None:
    data = discreet.read(people(), POLICY)
    release = discreet.mask(data)
    before = replace(release)
    release_table(release)
    assert release == before
    assert (release.link == np.arange(60)).all()
