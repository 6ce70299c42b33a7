"""Whole proposals: the table of the paper, a wide generated table, fields that the policy sets, and files that read back."""

import json
import string
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet import registry
from discreet.analysis.analyzer import profile_table
from discreet.analysis.measures import count_kept_sets, propose_risks
from discreet.engine.encoding.columns import encode
from discreet.model.attribute import Attribute, Level, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy, parse_policy
from discreet.reproduce.appendix import patients


def table_a1():
    """Truta et al., Table A.1, without a policy."""
    return Microdata(patients().frame, source="patient")


def wide(n=600, seed=5):
    """A generated register with several records per person and one column of every sort."""
    draw = np.random.default_rng(seed)
    person = draw.integers(0, n // 3, n)
    born = [date(1950, 1, 1) + timedelta(days=int(day)) for day in draw.integers(0, 18_000, n // 3)]
    sex = draw.choice(["F", "M"], n // 3)
    zips = draw.choice(["48201", "48202", "10001", "01234"], n // 3)
    return Microdata(
        pl.DataFrame(
            {
                "rownum": np.arange(n) + 7,
                "patient": person * 17 + 1_000,
                "patient_no": person,
                "mail": [f"p{number}@example.org" for number in person],
                "contact": [f"+1 555 010 {number:04d}" for number in range(n)],
                "tally": draw.permutation(n) + 10_000_000,
                "remarks": [f"seen by doctor on the day {number} again" for number in range(n)],
                "dob": [born[number] for number in person],
                "gender": sex[person],
                "zip": zips[person],
                "visit_day": [str(date(2020, 1, 1) + timedelta(days=int(day))) for day in draw.integers(0, 300, n)],
                "pain": draw.choice(["low", "medium", "high"], n),
                "icd": draw.choice(["E11.9", "I10", "J45.909", "F32.1", "C50.1"], n),
                "code": draw.choice(["E11.9", "I10", "J45.909", "F32.1", "C50.1"], n),
                "marker": draw.choice(["yes", "no"], n, p=[0.02, 0.98]),
                "received": np.where(draw.random(n) < 0.6, 0, draw.integers(500, 90_000, n)),
                "measured": draw.normal(50, 9, n),
                "pweight": draw.uniform(10, 90, n),
                "constant": ["x"] * n,
                "nothing": pl.Series([None] * n, dtype=pl.String),
                "q7": draw.integers(0, 40, n),
                "odd": draw.choice(["?", "a", "b"], n),
            }
        ),
        source="made up",
    )


def roles(proposal):
    return {column.name: column.attribute.role.value for column in proposal.columns}


def test_the_roles_proposed_for_table_a1_are_those_of_the_paper():
    proposal = discreet.analyze(table_a1())
    assert roles(proposal) == {
        "Name": "identifier", "SSN": "identifier", "Age": "key", "State": "key",
        "Diagnosis": "confidential", "Income": "confidential", "Billing": "confidential",
    }  # fmt: skip
    assert [proposal[name].attribute.level for name in ("Age", "State", "Diagnosis", "Income")] == [
        Level.NUMERIC, Level.NOMINAL, Level.NOMINAL, Level.NUMERIC,
    ]  # fmt: skip
    age = proposal["Age"]
    assert (age.distinct, age.nulls, age.minimum, age.maximum, age.most_frequent_share) == (5, 0, 25, 55, 0.3)
    # classes of 3, 3, 2, 1, 1 records: (100 - 24) / 90 of the pairs differ
    assert age.strength.distinct_ratio == 0.5
    assert age.strength.separation_ratio == pytest.approx(76 / 90)
    both = next(strength for strength in proposal.quasi_identifiers if strength.attributes == ("Age", "State"))
    assert (both.distinct, both.unique, both.minimal_key) == (5, 2, False)


def test_no_value_of_an_identifier_is_shown():
    proposal = profile_table(table_a1())
    assert (proposal["SSN"].minimum, proposal["SSN"].maximum) == (None, None)
    text = proposal.to_yaml() + json.dumps(proposal.to_dict())
    assert "123456789" not in text
    assert "Wayne" not in text


def test_every_sort_of_column_gets_its_role_level_and_reason():
    proposal = profile_table(wide())
    assert roles(proposal) == {
        "rownum": "identifier", "patient": "identifier", "patient_no": "person", "mail": "identifier", "contact": "identifier",
        "tally": "identifier", "remarks": "identifier", "dob": "key", "gender": "key", "zip": "key", "visit_day": "key",
        "pain": "confidential", "icd": "confidential", "code": "confidential", "marker": "confidential",
        "received": "confidential", "measured": "confidential", "pweight": "weight", "constant": "other",
        "nothing": "other", "q7": "confidential", "odd": "confidential",
    }  # fmt: skip
    assert proposal["pain"].attribute.order == ("low", "medium", "high")
    assert proposal["marker"].attribute.values == {"yes": 1.0}
    assert proposal["visit_day"].attribute.level is Level.DATE
    assert proposal["zip"].attribute.hierarchy.prefixes == (4, 3, 2, 1)
    assert proposal["odd"].attribute.missing == ("?",)
    assert proposal["constant"].attribute.known == 0
    assert "form: e-mail address" in proposal["mail"].reason
    assert "count up" in proposal["tally"].reason
    assert "records on average" in proposal["patient_no"].reason
    assert "another number of the same persons" in proposal["patient"].reason
    assert "to be edited" in proposal["gender"].reason
    for name in ("measured", "q7", "odd"):  # nothing says what they are: the safe guess, and the least certain one
        assert "until you decide" in proposal[name].reason
        assert proposal[name].confidence < 0.4 < proposal["gender"].confidence


def test_a_unique_measurement_is_no_identifier_and_a_unique_birth_date_is_a_key():
    draw = np.random.default_rng(1)
    days = [date(1930, 1, 1) + timedelta(days=int(day)) for day in draw.permutation(20_000)[:300]]
    frame = pl.DataFrame(
        {"income": draw.lognormal(10, 1, 300), "x": draw.normal(size=300), "dob": days, "born_on": list(map(str, days))}
    )
    assert roles(profile_table(Microdata(frame))) == {"income": "confidential", "x": "other", "dob": "key", "born_on": "key"}


def test_a_body_weight_is_not_taken_for_a_sampling_weight():
    draw = np.random.default_rng(1)
    weights = draw.uniform(40, 120, 50)
    assert roles(profile_table(Microdata(pl.DataFrame({"weight": weights, "height": weights * 2}))))["weight"] == "key"
    assert roles(profile_table(Microdata(pl.DataFrame({"weight": weights * 900, "height": weights}))))["weight"] == "other"
    assert roles(profile_table(Microdata(pl.DataFrame({"weight": weights, "age": weights.astype(int)}))))["weight"] == "weight"
    assert roles(profile_table(Microdata(pl.DataFrame({"weight": ["50-75", "75-100"]}))))["weight"] == "key"
    assert roles(profile_table(Microdata(pl.DataFrame({"wt": [-1.0, 2.0]}))))["wt"] == "other"


def test_the_same_table_in_any_order_gives_the_same_proposal():
    data = wide()
    first = profile_table(data)
    again = profile_table(wide())
    shuffled = profile_table(Microdata(data.frame.sample(fraction=1, shuffle=True, seed=3), source="made up"))
    assert first.to_dict() == again.to_dict() == shuffled.to_dict()
    assert first.to_yaml() == again.to_yaml() == shuffled.to_yaml()


def test_fields_that_the_policy_sets_are_unchanged_and_the_others_are_proposed():
    policy = Policy.from_dict(
        {
            "attributes": {
                "gender": {"role": "other"},
                "zip": {"known": 0.01},
                "mail": {"role": "key", "known": 0.2},
                "measured": {"role": "confidential"},
                "pain": {"order": ["high", "medium", "low"]},
                "code": {"values": {"I10": 0.5}},
                "patient": {"role": "person"},
            },
            "risk": {"k_anonymity": {"keys": ["zip"]}},
            "limits": {"k_anonymity.k": 3},
            "plan": {"seed": 7, "steps": [{"method": "sampling", "fraction": 0.5}]},
            "missing": ["-"],
        }
    )
    proposal = profile_table(wide().with_policy(policy))
    assert proposal["gender"].attribute.role is Role.OTHER
    assert "analyzer would propose key" in proposal["gender"].reason
    assert (proposal["zip"].attribute.role, proposal["zip"].attribute.known) == (Role.KEY, 0.01)
    assert (proposal["mail"].attribute.role, proposal["mail"].attribute.known) == (Role.KEY, 0.2)
    assert "e-mail address" in proposal["mail"].reason
    assert proposal["measured"].attribute.sensitivity == 0.5
    assert proposal["pain"].attribute.order == ("high", "medium", "low")
    assert proposal["code"].attribute.values == {"I10": 0.5}
    assert proposal.named("person") == ["patient"]
    for name in policy.attributes:
        assert proposal[name].given
        assert proposal[name].reason.startswith("given: ")
    proposed = proposal.policy()
    assert (proposed.risk, proposed.limits, proposed.plan, proposed.missing) == (
        policy.risk,
        policy.limits,
        policy.plan,
        policy.missing,
    )
    for name, attribute in policy.attributes.items():
        for field in attribute.model_fields_set:
            assert getattr(proposed.attributes[name], field) == getattr(attribute, field)


def test_the_proposed_policy_can_be_measured_and_masked_with():
    data = wide()
    policy = discreet.analyze(data).policy()
    registry.check_policy(policy)
    assert policy.plan.steps[0].method == "remove_identifiers"
    assert not policy.limits
    under = data.with_policy(policy)
    assert discreet.risk(under, "k_anonymity")["k_anonymity"]["k"] >= 1
    released = discreet.mask(under)
    assert not set(profile_table(data).named("identifier")) & set(released.masked.columns)


def test_reasons_are_written_into_the_policy_on_request():
    proposal = profile_table(table_a1())
    assert all(attribute.reason for attribute in proposal.policy(reasons=True).attributes.values())
    assert not any(attribute.reason for attribute in proposal.policy().attributes.values())


@pytest.mark.parametrize("make", [table_a1, wide])
def test_the_yaml_file_reads_back_as_the_policy_and_has_every_reason(make):
    proposal = profile_table(make())
    text = proposal.to_yaml()
    assert parse_policy(text) == proposal.policy()
    flat = " ".join(text.replace("#", " ").split())
    for column in proposal.columns:
        assert " ".join(column.reason.split()) in flat


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame(),
        pl.DataFrame({"a": []}),
        pl.DataFrame({"age": [1]}),
        pl.DataFrame({"age": [None]}),
        pl.DataFrame({"x": [True]}),
        pl.DataFrame({"t": [timedelta(days=1), timedelta(days=2)]}),
        pl.DataFrame({"big": [2**63, 2**63 + 5]}, schema={"big": pl.UInt64}),
        pl.DataFrame({"inf": [float("inf"), 1.0, float("nan")], "age": [float("inf"), -1.0, 3.5]}),
        pl.DataFrame({"c": pl.Series(["a", "b"], dtype=pl.Categorical)}),
        pl.DataFrame({"d": pl.Series(["1.10", "2.20"]).cast(pl.Decimal(10, 2))}),
        pl.DataFrame({"dob": [date(1, 1, 1), date(9999, 12, 31)]}),
    ],
)
def test_empty_small_and_unusual_tables_are_profiled(frame):
    proposal = profile_table(Microdata(frame))
    assert parse_policy(proposal.to_yaml()) == proposal.policy()
    json.dumps(proposal.to_dict(), allow_nan=False)
    assert [row["attribute"] for row in proposal.rows()] == frame.columns
    for row in proposal.rows():
        assert list(row) == ["attribute", "type", "distinct", "nulls", "role", "level", "known", "sensitivity", "reason"]


names = st.text(min_size=1, max_size=30) | st.sampled_from(
    ["yes", "no", "1", "null", "~", "#x", "a: b", "{", "[", "- a", "a\nb", "<<", "=", "*a", "&a", "!t", "%", "@", "`", "'", '"',
     "\x85", "\u2028", "a #b", " ", "\t", "\x00", "\ufeff", "é", "x" * 200, "age\n# role: key", "ssn\r\nplan: {}", "?", "? a",
     ":", "1e3", "2020-01-01"]
)  # fmt: skip
cells = (
    st.none()
    | st.text(max_size=12)
    | st.sampled_from(["yes", "No", "?", "{a|b}", "1-2", "<5", "a: b", "#", "\n", "\u2028", "\x07", "low", "high"])
)


@given(st.lists(names, min_size=1, max_size=5, unique=True), st.data())
@settings(deadline=None, max_examples=30)
def test_hostile_names_and_values_survive_the_yaml_file(columns, data):
    rows = data.draw(st.integers(0, 6))
    frame = pl.DataFrame(
        {name: pl.Series(data.draw(st.lists(cells, min_size=rows, max_size=rows)), dtype=pl.String) for name in columns}
    )
    proposal = profile_table(Microdata(frame, source=data.draw(st.text(max_size=20))))
    text = proposal.to_yaml()
    assert parse_policy(text) == proposal.policy()
    assert list(parse_policy(text).attributes) == columns
    assert isinstance(yaml.safe_load(text), dict)
    json.dumps(proposal.to_dict(), allow_nan=False)


@given(st.lists(st.floats(0, 1), max_size=7), st.sampled_from([0.01, 0.05, 0.3]))
@settings(deadline=None, max_examples=100)
def test_the_count_of_kept_sets_agrees_with_the_definition(known, epsilon):
    count = 0
    for mask in range(1, 2 ** len(known)):
        chances = sorted((chance for position, chance in enumerate(known) if mask >> position & 1), reverse=True)
        product = 1.0
        for chance in chances:
            product *= chance
        count += product > epsilon
    assert count_kept_sets(known, epsilon, 10_000) == count


def test_epsilon_is_larger_if_too_many_sets_would_be_kept():
    few = [Attribute(role="key", known=0.5)] * 5
    many = [Attribute(role="key", known=0.6)] * 30
    installed = ["known_sets", "k_anonymity", "repeated_records"]
    assert propose_risks(few, installed)["known_sets"]["epsilon"] == 0.01
    assert propose_risks(many, installed)["known_sets"]["epsilon"] > 0.01
    assert "repeated_records" not in propose_risks(few, installed)
    assert "repeated_records" in propose_risks([*few, Attribute(role="person")], installed)
    assert propose_risks(few, []) == {}


def test_a_table_of_five_thousand_columns_is_profiled():
    frame = pl.DataFrame(
        {f"{letter}{number}": [number, number + 1, number] for letter in string.ascii_lowercase[:5] for number in range(1000)}
    )
    assert len(profile_table(Microdata(frame)).columns) == 5000


def test_a_proposed_order_is_used_when_the_table_is_encoded():
    data = Microdata(pl.DataFrame({"pain": ["low", "high", "medium"]}))
    under = data.with_policy(profile_table(data).policy())
    assert encode(under, ["pain"])[0].values.to_list() == ["low", "medium", "high"]
    assert encode(data, ["pain"])[0].values.to_list() == ["high", "low", "medium"]


@pytest.mark.parametrize(
    ("values", "role"),
    [
        (["flu", "cancer", "hiv", None], "confidential"),
        (["Breast cancer", "Asthma", "well", "well"], "confidential"),
        (["criminal record", "none", "arrest", "none"], "confidential"),
        (["flu", "red", "green", "blue"], "other"),  # one word is no sign of what the others are
        (["north", "south", "east", "west"], "other"),
    ],
)
def test_values_that_are_names_of_something_sensitive_make_a_column_confidential(values: list[str | None], role: str) -> None:
    proposal = profile_table(Microdata(pl.DataFrame({"x": values * 50})))["x"]
    assert proposal.attribute.role == role
    assert role == "other" or "are names of a" in proposal.reason


def test_the_proposed_threshold_is_an_effective_class_size_of_twenty() -> None:
    data = Microdata(pl.DataFrame({"sex": ["f", "m"] * 100, "diagnosis": ["flu", "asthma", "cancer", "flu"] * 50}))
    policy = profile_table(data).policy()
    assert policy.risk["known_sets"]["threshold"] == {"among": 20}
    alike = Microdata(data.frame.with_columns(pl.lit("f").alias("sex"))[:20], policy)
    assert discreet.risk(alike, "known_sets")["known_sets"]["high_risk"] == 0
    assert discreet.risk(Microdata(alike.frame[:19], policy), "known_sets")["known_sets"]["high_risk"] == 19
    text = profile_table(data).to_yaml()
    assert "threshold: {among: 20}" in text
    assert "hidden among fewer than 20" in text.replace("\n# ", " ")
    assert "hidden among" not in profile_table(Microdata(data.frame.select("sex"))).to_yaml()  # nothing would be learnt
