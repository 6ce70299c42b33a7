"""A sample drawn by a plan carries its share of the population, so that its risk in the population is measured unasked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.errors import DataError, DiscreetError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

ATTRIBUTES = {
    "age": {"role": "key", "known": 0.5},
    "town": {"role": "key", "known": 0.4},
    "job": {"role": "confidential", "sensitivity": 1.0, "default": 1.0},
}
RISKS = {
    "population_uniqueness": {},
    "reidentification": {},
    "individual_risk": {},
    "known_sets": {"population": "model"},
}
LIMITS = {
    "reidentification.marketer": 1.0,
    "population_uniqueness.population_uniques": 1000,
    "known_sets.mean": 1000,
    "individual_risk.max": 1.0,
}


def people(size: int = 400) -> pl.DataFrame:
    generator = np.random.default_rng(2)
    return pl.DataFrame(
        {
            "age": generator.integers(20, 60, size),
            "town": generator.integers(0, 9, size),
            "job": generator.choice(["baker", "smith"], size),
            "region": ["north" if at % 4 else "south" for at in range(size)],
        }
    )


def policy(**sections: object) -> Policy:
    plan = {"seed": 1, "steps": [{"method": "sampling", "fraction": 0.25}]}
    content = {"attributes": ATTRIBUTES, "risk": RISKS, "limits": LIMITS, "plan": plan}
    return Policy.from_dict({**content, **sections})


def test_a_release_carries_the_share_that_was_drawn_and_the_assessment_uses_it() -> None:
    data = Microdata(people(), policy())
    release = discreet.mask(data)
    assert release.masked.policy.sampling.fraction == 0.25
    assessment = discreet.assess(data, release)
    after = assessment.after
    told = discreet.risk(
        release.masked.with_policy(policy(limits={})),
        {
            "population_uniqueness": {"sampling_fraction": 0.25},
            "known_sets": {"population": "model", "sampling_fraction": 0.25},
            "individual_risk": {"sampling_fraction": 0.25},
            "reidentification": {"sampling_fraction": 0.25},
        },
    )
    for name in RISKS:
        for field, value in told[name].summary.items():
            if isinstance(value, int | float):
                assert after[name][field] == pytest.approx(value), (name, field)
    assert assessment.before["known_sets"]["mean"] == pytest.approx(
        discreet.risk(data, {"known_sets": {"population": "none"}})["known_sets"]["mean"]
    )


def test_a_release_read_from_its_file_is_judged_like_the_one_in_memory(tmp_path: Path) -> None:
    data = Microdata(people(), policy())
    release = discreet.mask(data)
    discreet.write(release, tmp_path / "release.csv")
    written = "".join(path.read_text() for path in tmp_path.iterdir())
    assert "fraction" not in written
    assert "0.25" not in written
    again = discreet.assess(data, discreet.read(tmp_path / "release.csv", policy()))
    first = discreet.assess(data, release)
    assert again.after["known_sets"]["mean"] == pytest.approx(first.after["known_sets"]["mean"])
    assert again.after["reidentification"]["marketer"] == pytest.approx(first.after["reidentification"]["marketer"])


def test_a_sample_of_a_sample_has_the_product_of_both_shares() -> None:
    data = Microdata(people(), policy(sampling={"fraction": 0.1}))
    assert discreet.mask(data).masked.policy.sampling.fraction == pytest.approx(0.025)
    sized = Microdata(people(), policy(sampling={"population": 10_000}))
    release = discreet.mask(sized)
    assert release.masked.policy.sampling.population == 10_000
    risk = discreet.risk(release.masked, {"individual_risk": {}})["individual_risk"]
    assert risk.per_record["population_size"].min() == pytest.approx(10_000 / release.t)


def test_strata_with_a_minimum_carry_the_largest_share() -> None:
    plan = {"seed": 1, "steps": [{"method": "sampling", "fraction": 0.1, "strata": ["region"], "least": 90}]}
    data = Microdata(people(), policy(plan=plan))
    assert discreet.mask(data).masked.policy.sampling.fraction == pytest.approx(0.9)


def test_shares_by_stratum_become_weights() -> None:
    section = {"strata": ["region"], "fraction": {"north": 0.5, "south": 0.1}}
    data = Microdata(people(), policy(sampling=section))
    sizes = discreet.risk(data, {"individual_risk": {"keys": ["region"]}})["individual_risk"].per_record["population_size"]
    assert sorted(set(sizes.to_list())) == pytest.approx([600, 1000])
    by_size = Microdata(people(), policy(sampling={"strata": ["region"], "population": {"north": 600, "south": 1000}}))
    again = discreet.risk(by_size, {"individual_risk": {"keys": ["region"]}})["individual_risk"]
    assert again.per_record["population_size"].to_list() == pytest.approx(sizes.to_list())


def test_wrong_designs_are_named() -> None:
    with pytest.raises(DiscreetError, match="a fraction or a population, not both"):
        policy(sampling={"fraction": 0.1, "population": 500})
    with pytest.raises(DiscreetError, match="needs strata"):
        policy(sampling={"fraction": {"north": 0.1}})
    with pytest.raises(DiscreetError, match="fraction"):
        policy(sampling={"fraction": 1.5})
    with pytest.raises(DataError, match=r"population says that the population has 100 persons, but the data has 400 records"):
        discreet.risk(Microdata(people(), policy(sampling={"population": 100})), {"individual_risk": {}})
    one = policy(sampling={"strata": ["region"], "fraction": {"north": 0.5}})
    with pytest.raises(DataError, match="the stratum 'south' of the data"):
        discreet.risk(Microdata(people(), one), {"individual_risk": {}})
    unknown = policy(sampling={"strata": ["county"], "fraction": {"north": 0.5}})
    with pytest.raises(DataError, match="the stratum attribute 'county' is not a column"):
        discreet.risk(Microdata(people(), unknown), {"individual_risk": {}})
