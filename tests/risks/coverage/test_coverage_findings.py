"""The releases that got a green verdict although nobody had looked at their names, or although masked values were given back."""

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

GIVEN = ["miguel", "kevon", "marcus", "edward", "manuel", "steven", "tyler", "daniel", "andrea", "ruben", "susan", "nadia"]
FAMILY = ["hernandez", "dixon", "philpot", "brown", "rivera", "laporte", "jenkins", "fischer", "gupta", "nguyen", "moreau"]


def assessed(frame, policy, masked=None):
    policy = Policy.from_dict(policy)
    data = Microdata(frame, policy)
    if masked is None:
        return discreet.assess(data, discreet.mask(data))
    return discreet.assess(data, data.with_columns(masked) if isinstance(masked, dict) else masked(data))


@pytest.fixture
def rng():
    return np.random.default_rng(19)


def test_a_file_with_every_defendants_first_and_last_name_is_not_called_safe(rng):
    n = 600
    frame = pl.DataFrame(
        {
            "first": [GIVEN[i] for i in rng.integers(0, len(GIVEN), n)],
            "last": [FAMILY[i] for i in rng.integers(0, len(FAMILY), n)],
            "sex": [["Male", "Female"][i] for i in rng.integers(0, 2, n)],
            "priors": rng.integers(0, 3, n),
        }
    )
    attributes = {"sex": {"role": "key", "known": 0.5}, "priors": {"role": "confidential", "sensitivity": 0.5}}
    attributes |= {"first": {"role": "other", "known": 0.005}, "last": {"role": "other", "known": 0.005}}
    policy = {"attributes": attributes, "risk": {"k_anonymity": {}, "known_sets": {}}, "limits": {"k_anonymity.k": 5}}
    found = assessed(frame, policy)
    assert all(verdict.kept for verdict in found.verdicts)  # the limits alone would be green
    assert not found.ok
    assert found.status == "incomplete"
    assert found.coverage["identifying"] == 2
    assert "'first', which looks like names of people" in " ".join(found.gaps)


def test_a_masked_total_that_46_released_columns_add_up_to_is_found(rng):
    n = 800
    parts = {f"claims_{i}": rng.poisson(0.4, n) for i in range(46)}
    frame = pl.DataFrame({**parts, "no_Claims": sum(parts.values()), "region": rng.integers(0, 4, n)})
    attributes = {"region": {"role": "key", "known": 0.5}, "no_Claims": {"role": "key", "known": 0.2}}
    attributes |= {name: {"role": "confidential", "sensitivity": 0.1} for name in parts}
    steps = [{"method": "global_recoding", "columns": ["no_Claims"], "width": 10}]
    policy = {"attributes": attributes, "risk": {"k_anonymity": {"keys": ["region"]}}, "limits": {"k_anonymity.k": 5}}
    found = assessed(frame, policy | {"plan": {"seed": 1, "steps": steps}})
    row = found.coverage.per_attribute.filter(pl.col("attribute") == "no_Claims").row(0, named=True)
    assert found.coverage["restorable"] == 1
    assert row["restored_share"] == 1.0
    assert row["restored_from"].startswith("the sum of 46 released columns")
    assert found.status == "incomplete"


def test_a_removed_column_that_released_ones_determine_is_found(rng):
    n = 3000
    ward, kind = rng.integers(0, 12, n), rng.integers(0, 6, n)
    longest = rng.permuted(np.arange(72) % 9).reshape(12, 6)[ward, kind]
    longest = np.where(rng.random(n) < 0.0003, 99, longest)
    frame = pl.DataFrame({"ward": ward, "kind": kind, "LOS_max": longest, "sex": rng.integers(0, 2, n)})
    attributes = {"ward": {"role": "key", "known": 0.5}, "kind": {"role": "confidential", "sensitivity": 1.0}}
    attributes["LOS_max"] = {"role": "identifier"}
    policy = {
        "attributes": attributes,
        "limits": {"k_anonymity.k": 5},
        "plan": {"seed": 1, "steps": [{"method": "remove_identifiers"}]},
    }
    found = assessed(frame, policy)
    row = found.coverage.per_attribute.filter(pl.col("attribute") == "LOS_max").row(0, named=True)
    assert row["restored_share"] > 0.99
    assert row["restored_share"] > row["baseline_share"] + 0.5
    assert not found.ok


def test_suppressed_states_are_read_back_from_other_members_of_the_household(rng):
    households = 400
    hh = np.repeat(np.arange(households), rng.integers(1, 6, households))
    state = rng.integers(0, 50, households)[hh]
    blanked = rng.random(len(hh)) < 0.1
    frame = pl.DataFrame({"hh": hh, "state": state, "age": rng.integers(0, 5, len(hh))})
    policy = {
        "attributes": {"hh": {"role": "household"}, "state": {"role": "key"}, "age": {"role": "key"}},
        "limits": {"k_anonymity.k": 1},
    }
    found = assessed(frame, policy, {"state": frame.select(pl.when(~pl.Series(blanked)).then(pl.col("state")))["state"]})
    visible = {(h, s) for h, s, b in zip(hh, state, blanked, strict=True) if not b}
    expected = sum((h, s) in visible for h, s, b in zip(hh, state, blanked, strict=True) if b)
    assert expected > 50
    assert found.coverage["read_back"] == expected
    assert (
        f"{expected:,} of {blanked.sum():,} masked values of 'state' are shown by other rows with the same released value of 'hh'"
        in " ".join(found.gaps)
    )
    assert found.status == "incomplete"


def test_a_column_that_the_owner_accepted_is_no_gap_and_is_named_first(rng):
    frame = pl.DataFrame({"name": [f"{GIVEN[i % 12]} {FAMILY[i % 11]}" for i in range(200)], "sex": rng.integers(0, 2, 200)})
    attributes = {"name": {"role": "other", "accepted": "names of judges, who hold public office"}, "sex": {"role": "key"}}
    found = assessed(frame, {"attributes": attributes, "limits": {"k_anonymity.k": 5}})
    assert found.ok
    assert found.coverage.notes[0] == "accepted by the owner: 'name' (names of judges, who hold public office)"


def test_a_harmless_column_of_role_other_is_no_gap(rng):
    frame = pl.DataFrame({"sex": rng.integers(0, 2, 300), "shift": rng.choice(["day", "night"], 300)})
    found = assessed(frame, {"attributes": {"sex": {"role": "key"}}, "limits": {"k_anonymity.k": 5}})
    assert found.ok
    assert found.coverage["unexamined"] == 0


def test_harmless_columns_that_together_single_people_out_are_a_gap(rng):
    frame = pl.DataFrame({"sex": rng.integers(0, 2, 300)} | {name: rng.integers(0, 15, 300) for name in ("a", "b", "c")})
    found = assessed(frame, {"attributes": {"sex": {"role": "key"}}, "limits": {"k_anonymity.k": 5}})
    assert found.status == "incomplete"
    assert found.coverage["unexamined"] >= 2
    assert found.coverage["identifying"] == 0


def test_identifiers_that_are_never_written_are_no_gap_and_kept_ones_are(rng):
    frame = pl.DataFrame({"id": np.arange(100), "sex": rng.integers(0, 2, 100)})
    attributes = {"id": {"role": "identifier"}, "sex": {"role": "key"}}
    policy = {"attributes": attributes, "limits": {"k_anonymity.k": 5}}
    assert assessed(frame, policy).ok
    kept = assessed(frame, policy | {"plan": {"seed": 1, "identifiers": "kept"}})
    assert kept.coverage["identifying"] == 1
    assert not kept.ok


def test_the_place_in_a_sorted_file_gives_no_serial_number_back(rng):
    """In a file of 280,000 tax units sorted by state, the state was said to restore the numbers of records and households."""
    n = 3000
    state = np.sort(rng.integers(0, 40, n))
    frame = pl.DataFrame({"record": np.arange(n), "home": np.arange(n) // 3, "state": state, "sex": rng.integers(0, 2, n)})
    attributes = {"record": {"role": "identifier"}, "home": {"role": "household"}, "state": {"role": "key"}}
    steps = [{"method": "remove_identifiers"}, {"method": "remove_identifiers", "columns": ["home"]}]
    policy = {"attributes": attributes, "limits": {"k_anonymity.k": 2}, "plan": {"seed": 1, "steps": steps}}
    found = assessed(frame, policy)
    assert found.coverage["restorable"] == 0
    assert not any("'home'" in gap or "'record'" in gap for gap in found.gaps)
    copied = assessed(frame.with_columns(ordered=pl.col("home") * 2 + 5), policy)
    assert copied.coverage.per_attribute.filter(pl.col("attribute") == "home")["restored_share"].item() == 1.0


@pytest.mark.parametrize("kind", [pl.Float64, pl.Date, pl.Int64])
def test_a_removed_amount_or_date_is_restored_where_it_is_guessed_nearly_right(rng, kind):
    """Role identifier only takes it out: what it was is still worth knowing."""
    n = 4000
    age = rng.integers(20, 80, n)
    days = pl.Series(age * 365 + rng.integers(0, 365, n))
    removed = days.cast(pl.Int32).cast(pl.Date) if kind is pl.Date else (days // 20).cast(kind)
    frame = pl.DataFrame({"removed": removed, "age": age, "sex": rng.integers(0, 2, n)})
    attributes = {"removed": {"role": "identifier"}, "sex": {"role": "key"}, "age": {"role": "confidential"}}
    policy = {
        "attributes": attributes,
        "limits": {"k_anonymity.k": 2},
        "plan": {"seed": 1, "steps": [{"method": "remove_identifiers"}]},
    }
    assert assessed(frame, policy).coverage["restorable"] == 1


def test_where_no_link_is_known_the_evidence_is_incomplete(rng):
    frame = pl.DataFrame({"sex": rng.integers(0, 2, 100)})
    policy = Policy.from_dict({"attributes": {"sex": {"role": "key"}}, "limits": {"k_anonymity.k": 5}})
    original = Microdata(frame, policy)
    part = Microdata(frame.head(60), policy, "another file")
    found = discreet.assess(original, part)
    assert found.coverage["restorable"] is None
    assert found.status == "incomplete"


def test_coverage_of_a_release_alone_says_what_it_can():
    data = Microdata(pl.DataFrame({"mail": [f"p{i}@example.org" for i in range(30)]}))
    score = discreet.risk(data, "coverage")["coverage"]
    assert score["identifying"] == 1
    assert score["restorable"] is None


def test_a_confidential_column_is_not_examined_by_an_intruder_who_compares_keys(rng):
    """The coverage of a release named target_linkage as the examiner of remarks, which it never compares."""
    frame = pl.DataFrame({"sex": ["f", "m"] * 50, "salary": rng.permutation(100)})
    attributes = {"sex": {"role": "key"}, "salary": {"role": "confidential"}}
    table = assessed(frame, {"attributes": attributes, "limits": {"target_linkage.max": 0.2}}).coverage.per_attribute
    assert dict(table.select("attribute", "adversaries").rows()) == {"sex": "target_linkage", "salary": ""}
    named = {"target_linkage": {"attributes": ["sex", "salary"]}}
    table = assessed(
        frame, {"attributes": attributes, "risk": named, "limits": {"target_linkage.max": 0.2}}
    ).coverage.per_attribute
    assert set(table["adversaries"]) == {"target_linkage"}
