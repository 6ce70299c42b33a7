"""What leaves the house: shuffled rows, no identifiers, no labels of values that are gone; and the way back for the owner."""

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
from discreet.engine.draws.draw import key_of_seed
from discreet.engine.encoding.record_links import attach_link, link_table
from discreet.engine.encoding.release_order import align_with_original, shuffled_rows
from discreet.errors import DataError
from discreet.keys.recognise import order_key
from discreet.masking.release import release_table, withheld_columns
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
    made = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "name": [f"Person {number}" for number in range(rows)],
            "age": made.integers(18, 90, rows),
            "sex": made.choice(["f", "m"], rows),
            "income": np.round(made.lognormal(10, 1, rows)),
        }
    )


def scores(found: discreet.Assessment) -> dict[str, object]:
    parts = {**found.after, **found.informed, **{f"loss {name}": one for name, one in found.losses.items()}}
    return {
        f"{name} {field}": round(value, 9)
        for name, one in parts.items()
        for field, value in one.to_dict().items()
        if isinstance(value, int | float)
    }


@given(rows=st.integers(0, 40), seed=st.integers(0, 2**80))
@settings(max_examples=50)
def test_the_order_is_a_permutation_that_depends_on_key_and_records_alone(rows: int, seed: int) -> None:
    records = np.arange(rows) - 3
    key = key_of_seed(seed)
    order = shuffled_rows(records, key)
    assert sorted(order) == list(range(rows))
    other = np.random.default_rng(rows).permutation(rows)
    assert (records[order] == records[other][shuffled_rows(records[other], key)]).all()


def test_the_order_of_a_release_says_nothing_of_the_order_of_the_source() -> None:
    order = shuffled_rows(np.arange(20_000), key_of_seed(7))
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
    kept = discreet.risk(masked, ["record_linkage"], original)["record_linkage"].to_dict()
    assert kept == discreet.risk(release, ["record_linkage"])["record_linkage"].to_dict()


@pytest.mark.parametrize("rows", [5, 10, 60, 9000])
def test_a_file_in_the_order_of_the_original_is_taken_as_it_lies(rows: int) -> None:
    data = discreet.read(people(rows), POLICY)
    masked = discreet.read(discreet.mask(data).masked.frame, POLICY)
    found = align_with_original(masked, data, data.policy.plan, order_key)
    assert found.masked.is_initial
    assert found.doubt is None


@pytest.mark.parametrize("rows", [5, 10, 60, 9000])
@pytest.mark.parametrize("step", [*STEPS, "nothing"])
def test_a_shuffled_file_finds_its_originals(rows: int, step: str) -> None:
    steps = [] if step == "nothing" else [{"method": step, **STEPS[step]}]
    data = discreet.read(people(rows), POLICY)
    release = discreet.mask(data, {"seed": 3, "steps": steps})
    written = release_table(release)
    masked = discreet.read(written.frame, POLICY)
    found = align_with_original(masked, data, release.plan, lambda _, __: release.draw_key)
    assert (found.masked.records == written.records).all()
    assert found.doubt is None


def test_rows_that_are_nobodys_are_told_and_not_silently_compared() -> None:
    data = discreet.read(people(), POLICY)
    masked = discreet.read(data.frame.sample(fraction=1.0, shuffle=True, seed=1).drop("name"), POLICY)
    doubt = "no better than unrelated rows"
    assert doubt in " ".join(discreet.assess(data, masked).warnings)
    assert doubt in " ".join(discreet.loss(data, masked)["ncp"].notes)


def test_the_link_ties_a_sampled_release_to_its_originals(tmp_path: Path) -> None:
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
    tied = link(data, masked, tmp_path / "link.csv")
    wanted = discreet.loss(data, release, ["entropy", "ncp"])
    assert {n: s.to_dict() for n, s in discreet.loss(data, tied, ["entropy", "ncp"]).items()} == {
        n: s.to_dict() for n, s in wanted.items()
    }


def test_a_link_says_which_rows_were_simulated() -> None:
    data = table({"age": [1, 2, 3]}, key=["age"])
    masked = data.replace(pl.DataFrame({"age": [3, 9, 1, 8]}), np.array([2, -1, 0, -2]))
    made = link_table(masked)
    assert made["record"].to_list() == [3, None, 1, None]
    back = attach_link(Microdata(masked.frame, data.policy), data, Microdata(made))
    assert back.records[[0, 2]].tolist() == [2, 0]
    assert (back.records[[1, 3]] < 0).all()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"record": [1]}, "links 1 rows"),
        ({"record": [1, 1, 2]}, "the record 1 twice"), ({"record": [1, 2, 4]}, "record 4, but"),
        ({"other": [1, 2, 3]}, "a column 'record'"), ({"record": ["a", "b", "c"]}, "a column 'record'"),
    ],
)  # fmt: skip
def test_a_wrong_link_is_refused(content: dict[str, list[object]], words: str) -> None:
    data = table({"age": [1, 2, 3]}, key=["age"])
    with pytest.raises(DataError, match=words):
        attach_link(data, data, Microdata(pl.DataFrame(content)))


def test_identifiers_that_no_step_worked_on_are_left_out() -> None:
    data = hospital(200)
    release = discreet.mask(data, {"steps": [{"method": "rounding", "columns": ["income"], "base": 100}]})
    assert withheld_columns(release) == release.exposed != []
    assert not set(withheld_columns(release)) & set(release_table(release).columns)
    pseudonyms = discreet.mask(
        data, {"steps": [{"method": "pseudonymization", "columns": [release.exposed[0]], "key": SecretStr("k" * 32)}]}
    )
    assert release.exposed[0] in release_table(pseudonyms).columns
    kept = discreet.mask(data, {"identifiers": "kept", "order": "kept", "steps": []})
    assert release_table(kept).frame.equals(data.frame)


def test_labels_of_values_that_are_gone_go() -> None:
    data = Microdata(
        pl.DataFrame({"a": [1, 2, 9], "b": ["x", "y", "z"]}),
        labels={"a": {1: "one", 2: "two", 9: "the mayor"}, "gone": {1: "x"}},
        variable_labels={"a": "first", "gone": "the column that went"},
    )
    made = release_table(discreet.mask(data.take(np.array([0, 1])), Plan(steps=(Step(method="remove_identifiers"),))))
    assert made.labels == {"a": {1: "one", 2: "two"}}
    assert made.variable_labels == {"a": "first"}


def test_the_table_in_memory_stays_as_it_was() -> None:
    data = discreet.read(people(), POLICY)
    release = discreet.mask(data)
    before = replace(release)
    release_table(release)
    assert release == before
    assert (release.link == np.arange(60)).all()
