from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

import discreet
from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DiscreetError, ParameterError
from discreet.masking.pseudonymization.method import Pseudonymization
from discreet.model.policy import Plan, Policy, Step
from discreet.registry import create
from discreet.testing import table

KEY = SecretStr("a key that nobody guesses")
DRAW = KeyedDraw(1)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.none() | st.integers(0, 9), min_size=1, max_size=30), st.randoms())
def test_a_person_has_one_pseudonym_and_no_two_persons_share_one_in_any_order_of_the_rows(ids, random):
    data = table({"p": ids}, person=["p"])
    pseudonyms = Pseudonymization(key=KEY).mask(data, ["p"], DRAW).frame["p"].to_list()
    for person, first in zip(ids, pseudonyms, strict=True):
        for other_person, second in zip(ids, pseudonyms, strict=True):
            assert (person == other_person) == (first == second)
        assert (person is None) == (first is None)
    order = list(range(len(ids)))
    random.shuffle(order)
    assert Pseudonymization(key=KEY).mask(data.take(np.array(order)), ["p"], DRAW).frame["p"].to_list() == [
        pseudonyms[row] for row in order
    ]


def test_a_pseudonym_is_the_keyed_hash_and_a_number_and_its_text_have_the_same_one():
    expected = hashlib.blake2b(
        b"17", digest_size=8, key=hashlib.blake2b(KEY.get_secret_value().encode(), digest_size=64).digest()
    ).hexdigest()
    for values in ([17], ["17"], [17.0]):
        assert Pseudonymization(key=KEY).mask(table({"p": values}, person=["p"]), ["p"], DRAW).frame["p"].to_list() == [expected]


def test_pseudonyms_depend_on_the_key_which_may_come_from_a_file_or_the_environment(tmp_path, monkeypatch):
    data = table({"p": [1, 2]}, person=["p"])
    masked = Pseudonymization(key=KEY).mask(data, ["p"], DRAW).frame
    (tmp_path / "key").write_text(KEY.get_secret_value() + "\n")
    monkeypatch.setenv("THE_KEY", KEY.get_secret_value())
    policy = Policy.from_dict({"attributes": {"p": {"role": "person"}}}, folder=str(tmp_path))
    assert Pseudonymization(key_file="key").mask(data.with_policy(policy), ["p"], DRAW).frame.equals(masked)
    assert Pseudonymization(key_env="THE_KEY").mask(data, ["p"], DRAW).frame.equals(masked)
    assert not Pseudonymization(key=SecretStr("another key, as long")).mask(data, ["p"], DRAW).frame.equals(masked)


def test_without_a_key_pseudonyms_repeat_within_a_process_but_not_in_another_one():
    data = table({"p": [1, 2]}, person=["p"])
    once, again = (Pseudonymization().mask(data, ["p"], DRAW).frame["p"].to_list() for _ in range(2))
    assert once == again != Pseudonymization().mask(data, ["p"], KeyedDraw(2)).frame["p"].to_list()
    code = (
        "from discreet.testing import table; from discreet.engine.draws.draw import KeyedDraw;"
        "from discreet.masking.pseudonymization.method import Pseudonymization as P;"
        "print(P().mask(table({'p': [1]}, person=['p']), ['p'], KeyedDraw(1)).frame['p'][0])"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() != once[0]


def test_the_key_is_written_nowhere_and_the_role_stays_person():
    data = table({"p": [1, 1, 2]}, person=["p"])
    plan = Plan(steps=(Step(method="pseudonymization", key=KEY),))
    release = discreet.mask(data, plan)
    secret = KEY.get_secret_value()
    texts = [
        repr(release),
        repr(release.log),
        release.plan.model_dump_json(),
        repr(release.plan),
        data.policy.with_(plan=plan).to_yaml(),
    ]
    assert not any(secret in text for text in texts)
    assert release.masked.named(discreet.model.attribute.Role.PERSON) == ["p"]
    assert Pseudonymization(key=KEY).parameters["key"] is None


def test_too_short_a_pseudonym_that_would_merge_persons_is_an_error():
    data = table({"p": list(range(200_000))}, person=["p"])
    with pytest.raises(DiscreetError, match="greater length"):
        Pseudonymization(key=KEY, length=8).mask(data, ["p"], DRAW)


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({"key": "secret"}, "must not be written in a policy"),
        ({"key_file": "a", "key_env": "b"}, "give only one source of the key"),
        ({"length": 4}, "greater than or equal to 8"),
    ],
)
def test_an_invalid_parameter_is_named_in_the_error_and_a_key_is_not_repeated(parameters, rule):
    with pytest.raises(ParameterError, match=rule) as caught:
        create("masking", "pseudonymization", parameters)
    assert "secret" not in str(caught.value).lower().replace("secretstr", "")


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (Pseudonymization(key=SecretStr("short")), "at least 16"),
        (Pseudonymization(key_env="NOT_SET_ANYWHERE"), "not set"),
        (Pseudonymization(key_file="no/such/file"), "cannot be read"),
    ],
)
def test_an_unusable_key_is_an_error_before_anything_changes(method, message):
    with pytest.raises(DiscreetError, match=message):
        method.check(table({"p": [1]}, person=["p"]), ["p"])
    with pytest.raises(DiscreetError, match="role person"):
        method.check(table({"p": [1]}), [])
