from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet import Plan
from discreet.errors import DiscreetError, PolicyError
from discreet.masking.generate import generate, run_plan
from discreet.model.policy import Policy, Step
from discreet.testing import table

N = 400
RNG = np.random.default_rng(8)
DATA = table(
    {
        "name": [f"n{i}" for i in range(N)],
        "age": RNG.integers(18, 90, N),
        "height": RNG.normal(170, 10, N),
        "state": RNG.choice(["MI", "IN", "OH"], N),
        "income": RNG.lognormal(10, 1, N),
    },
    identifier=["name"], key=["age", "height", "state"], confidential=["income"],
)  # fmt: skip
STEPS = (
    Step(method="remove_identifiers"),
    Step(method="noise", columns=("income",), level=0.1, how="multiplicative"),
    Step(method="microaggregation", columns=("age", "height"), size=3),
    Step(method="pram", columns=("state",), retention=0.7, invariant=True),
    Step(method="swapping", columns=("income",), window=10),
    Step(method="sampling", fraction=0.5, strata=("state",)),
)
PLAN = Plan(seed=5, steps=STEPS)


def digest(release) -> str:
    return release.masked.frame.write_csv()


def test_masking_without_a_log_gives_the_same_table():
    assert run_plan(DATA, PLAN).masked.frame.equals(generate(DATA, PLAN).masked.frame)
    with pytest.raises(PolicyError, match=r"step 2 \(noise\): there is no column 'name' any more"):
        run_plan(DATA, Plan(steps=(STEPS[0], Step(method="noise", columns=("name",), level=0.1))))


def test_a_plan_without_steps_releases_the_table_unchanged():
    release = generate(DATA, Plan())
    assert release.masked.frame.equals(DATA.frame)
    assert release.log == release.warnings == ()


def test_each_step_gets_the_table_of_the_step_before_and_the_log_counts_what_it_did():
    release = generate(DATA, PLAN)
    assert [entry.method for entry in release.log] == [step.method for step in STEPS]
    assert [len(stage) for stage in release.stages] == [N] * 5 + [200]
    assert release.log[0].values_changed == N
    assert release.log[1].values_changed == N
    assert release.log[5].records_removed == 200
    assert (release.n, release.t, release.r, release.sf, release.fs) == (N, 200, 200, 0.5, 0.0)
    assert (DATA.frame["name"][release.link.tolist()].len()) == 200
    assert any(warning.startswith("step 3 (microaggregation)") for warning in release.warnings)


def test_the_link_is_not_in_what_is_released():
    assert generate(DATA, PLAN).masked.columns == ["age", "height", "state", "income"]


def test_the_same_seed_gives_the_same_release_and_another_seed_another():
    assert digest(generate(DATA, PLAN)) == digest(generate(DATA, PLAN))
    assert digest(generate(DATA, PLAN)) != digest(generate(DATA, Plan(seed=6, steps=STEPS)))


def test_shuffled_rows_give_the_same_records_to_the_last_bit():
    order = np.random.default_rng(1).permutation(N)
    straight, shuffled = generate(DATA, PLAN).masked, generate(DATA.take(order), PLAN).masked
    assert straight.frame[np.argsort(straight.records)].equals(shuffled.frame[np.argsort(shuffled.records)])


@pytest.mark.parametrize("threads", ["1", "2"])
def test_another_process_with_one_or_two_threads_gives_the_same_release(threads, tmp_path):
    DATA.frame.write_parquet(tmp_path / "data.parquet")
    (tmp_path / "policy.yaml").write_text(DATA.policy.with_(plan=PLAN).to_yaml())
    code = (
        "import discreet, sys;"
        "release = discreet.mask(discreet.read('data.parquet', 'policy.yaml'));"
        "sys.stdout.write(release.masked.frame.write_csv())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"DISCREET_THREADS": threads},
    )
    assert run.stdout == digest(generate(DATA, PLAN))


def test_a_wrong_step_is_named_by_number_before_any_step_runs():
    with pytest.raises(PolicyError, match=r"step 2.*'nosie'.*noise"):
        generate(DATA, Plan(steps=(STEPS[0], Step(method="nosie"))))
    with pytest.raises(DiscreetError, match=r"step 2 \(noise\).*no column 'name' any more"):
        generate(DATA, Plan(steps=(STEPS[0], Step(method="noise", columns=("name",), level=1))))
    with pytest.raises(DiscreetError, match=r"step 1 \(noise\): noise needs numbers"):
        generate(DATA, Plan(steps=(Step(method="noise", columns=("state",), level=1),)))


def edits(plan: Plan) -> list[Plan]:
    return [
        plan.insert(2, Step(method="rounding", columns=("income",), base=10)),
        plan.update(3, size=5),
        plan.update(6, fraction=0.25, strata=None),
        plan.move(6, 2),
        plan.delete(4),
        plan.disable(2),
        plan.disable(2).enable(2),
        plan.insert(7, Step(method="rounding", columns=("income",), base=10)),
        plan.delete(6),
        plan.model_copy(update={"seed": 9}),
    ]


def test_edits_do_not_change_the_original_plan_and_the_policy_file_has_the_new_one():
    before = PLAN.model_dump_json()
    for plan in edits(PLAN):
        read = discreet.model.policy.parse_policy(Policy(plan=plan).to_yaml()).plan
        assert read.model_dump(mode="json") == plan.model_dump(mode="json")
    assert PLAN.model_dump_json() == before


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.data())
def test_moving_a_step_equals_moving_an_item_of_a_list(names, data):
    plan = Plan(steps=tuple(Step(method=f"m{name}") for name in names))
    number, to = data.draw(st.integers(1, len(names))), data.draw(st.integers(1, len(names)))
    items = list(names)
    items.insert(to - 1, items.pop(number - 1))
    assert [step.method for step in plan.move(number, to).steps] == [f"m{name}" for name in items]


@pytest.mark.parametrize(
    "edit", [lambda p: p.delete(9), lambda p: p.move(1, 9), lambda p: p.insert(9, STEPS[0]), lambda p: p.update(0, size=2)]
)
def test_editing_a_step_that_does_not_exist_is_an_error(edit):
    with pytest.raises(PolicyError, match="step"):
        edit(PLAN)
