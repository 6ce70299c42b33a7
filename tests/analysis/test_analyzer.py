"""Whole proposals: the paper's table, a wide generated table, the owner's words kept, and files that read back."""

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
from discreet.analysis.analyzer import profile
from discreet.analysis.measures import kept_sets, risks_for
from discreet.engine.encoding.columns import encode
from discreet.model.attribute import Attribute, Level, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy, parse_policy
from discreet.reproduce.appendix import patients


def table_a1():
    """Seed 002, Table A.1, of which nothing is said yet."""
    return Microdata(patients().frame, source="patient")


def wide(n=600, seed=5):
    """A made-up register with several records a person and one column of every sort."""
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
                "mail": [f"p{one}@example.org" for one in person],
                "contact": [f"+1 555 010 {one:04d}" for one in range(n)],
                "tally": draw.permutation(n) + 10_000_000,
                "remarks": [f"seen by doctor on the day {at} again" for at in range(n)],
                "dob": [born[one] for one in person],
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


def roles(found):
    return {column.name: column.attribute.role.value for column in found.columns}


def test_table_a1_is_proposed_as_its_owners_chose():
    found = discreet.analyze(table_a1())
    assert roles(found) == {
        "Name": "identifier", "SSN": "identifier", "Age": "key", "State": "key",
        "Diagnosis": "confidential", "Income": "confidential", "Billing": "confidential",
    }  # fmt: skip
    assert [found[name].attribute.level for name in ("Age", "State", "Diagnosis", "Income")] == [
        Level.NUMERIC, Level.NOMINAL, Level.NOMINAL, Level.NUMERIC,
    ]  # fmt: skip
    age = found["Age"]
    assert (age.distinct, age.nulls, age.minimum, age.maximum, age.most_frequent_share) == (5, 0, 25, 55, 0.3)
    # classes of 3, 3, 2, 1, 1 records: (100 - 24) / 90 of the pairs differ
    assert age.strength.distinct_ratio == 0.5
    assert age.strength.separation_ratio == pytest.approx(76 / 90)
    both = next(one for one in found.quasi_identifiers if one.attributes == ("Age", "State"))
    assert (both.distinct, both.unique, both.minimal_key) == (5, 2, False)


def test_identifiers_show_no_values():
    found = profile(table_a1())
    assert (found["SSN"].minimum, found["SSN"].maximum) == (None, None)
    text = found.to_yaml() + json.dumps(found.to_dict())
    assert "123456789" not in text
    assert "Wayne" not in text


def test_a_wide_table_is_proposed_column_by_column():
    found = profile(wide())
    assert roles(found) == {
        "rownum": "identifier", "patient": "identifier", "patient_no": "person", "mail": "identifier", "contact": "identifier",
        "tally": "identifier", "remarks": "identifier", "dob": "key", "gender": "key", "zip": "key", "visit_day": "key",
        "pain": "other", "icd": "confidential", "code": "confidential", "marker": "confidential", "received": "confidential",
        "measured": "other", "pweight": "weight", "constant": "other", "nothing": "other", "q7": "other", "odd": "other",
    }  # fmt: skip
    assert found["pain"].attribute.order == ("low", "medium", "high")
    assert found["marker"].attribute.values == {"yes": 1.0}
    assert found["visit_day"].attribute.level is Level.DATE
    assert found["zip"].attribute.hierarchy.prefixes == (4, 3, 2, 1)
    assert found["odd"].attribute.missing == ("?",)
    assert found["constant"].attribute.known == 0
    assert "form: e-mail address" in found["mail"].reason
    assert "count up" in found["tally"].reason
    assert "records each" in found["patient_no"].reason
    assert "another number of the same persons" in found["patient"].reason
    assert "to be edited" in found["gender"].reason


def test_a_unique_measurement_is_no_identifier_and_a_unique_birth_date_a_key():
    draw = np.random.default_rng(1)
    days = [date(1930, 1, 1) + timedelta(days=int(day)) for day in draw.permutation(20_000)[:300]]
    frame = pl.DataFrame(
        {"income": draw.lognormal(10, 1, 300), "x": draw.normal(size=300), "dob": days, "born_on": list(map(str, days))}
    )
    assert roles(profile(Microdata(frame))) == {"income": "confidential", "x": "other", "dob": "key", "born_on": "key"}


def test_a_body_weight_is_no_survey_weight():
    draw = np.random.default_rng(1)
    weights = draw.uniform(40, 120, 50)
    assert roles(profile(Microdata(pl.DataFrame({"weight": weights, "height": weights * 2}))))["weight"] == "key"
    assert roles(profile(Microdata(pl.DataFrame({"weight": weights * 900, "height": weights}))))["weight"] == "other"
    assert roles(profile(Microdata(pl.DataFrame({"weight": weights, "age": weights.astype(int)}))))["weight"] == "weight"
    assert roles(profile(Microdata(pl.DataFrame({"weight": ["50-75", "75-100"]}))))["weight"] == "key"
    assert roles(profile(Microdata(pl.DataFrame({"wt": [-1.0, 2.0]}))))["wt"] == "other"


def test_the_same_table_in_any_order_gives_the_same_proposal():
    data = wide()
    first = profile(data)
    again = profile(wide())
    shuffled = profile(Microdata(data.frame.sample(fraction=1, shuffle=True, seed=3), source="made up"))
    assert first.to_dict() == again.to_dict() == shuffled.to_dict()
    assert first.to_yaml() == again.to_yaml() == shuffled.to_yaml()


def test_what_the_policy_says_is_kept_and_the_rest_proposed():
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
    found = profile(wide().with_policy(policy))
    assert found["gender"].attribute.role is Role.OTHER
    assert "analyzer would say key" in found["gender"].reason
    assert (found["zip"].attribute.role, found["zip"].attribute.known) == (Role.KEY, 0.01)
    assert (found["mail"].attribute.role, found["mail"].attribute.known) == (Role.KEY, 0.2)
    assert "e-mail address" in found["mail"].reason
    assert found["measured"].attribute.sensitivity == 0.5
    assert found["pain"].attribute.order == ("high", "medium", "low")
    assert found["code"].attribute.values == {"I10": 0.5}
    assert found.named("person") == ["patient"]
    for name in policy.attributes:
        assert found[name].given
        assert found[name].reason.startswith("given: ")
    made = found.policy()
    assert (made.risk, made.limits, made.plan, made.missing) == (policy.risk, policy.limits, policy.plan, policy.missing)
    for name, said in policy.attributes.items():
        for field in said.model_fields_set:
            assert getattr(made.attributes[name], field) == getattr(said, field)


def test_the_proposal_is_a_policy_that_works():
    data = wide()
    policy = discreet.analyze(data).policy()
    registry.check_policy(policy)
    assert policy.plan.steps[0].method == "remove_identifiers"
    assert not policy.limits
    under = data.with_policy(policy)
    assert discreet.risk(under, "k_anonymity")["k_anonymity"]["k"] >= 1
    released = discreet.mask(under)
    assert not set(profile(data).named("identifier")) & set(released.masked.columns)


def test_reasons_can_go_into_the_policy():
    found = profile(table_a1())
    assert all(attribute.reason for attribute in found.policy(reasons=True).attributes.values())
    assert not any(attribute.reason for attribute in found.policy().attributes.values())


@pytest.mark.parametrize("make", [table_a1, wide])
def test_the_file_reads_back_as_the_policy_and_says_each_reason(make):
    found = profile(make())
    text = found.to_yaml()
    assert parse_policy(text) == found.policy()
    flat = " ".join(text.replace("#", " ").split())
    for column in found.columns:
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
def test_small_and_strange_tables(frame):
    found = profile(Microdata(frame))
    assert parse_policy(found.to_yaml()) == found.policy()
    json.dumps(found.to_dict(), allow_nan=False)
    assert [row["attribute"] for row in found.rows()] == frame.columns
    for row in found.rows():
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
@settings(deadline=None, max_examples=80)
def test_hostile_names_and_values_read_back(columns, data):
    rows = data.draw(st.integers(0, 6))
    frame = pl.DataFrame(
        {name: pl.Series(data.draw(st.lists(cells, min_size=rows, max_size=rows)), dtype=pl.String) for name in columns}
    )
    found = profile(Microdata(frame, source=data.draw(st.text(max_size=20))))
    text = found.to_yaml()
    assert parse_policy(text) == found.policy()
    assert list(parse_policy(text).attributes) == columns
    assert isinstance(yaml.safe_load(text), dict)
    json.dumps(found.to_dict(), allow_nan=False)


@given(st.lists(st.floats(0, 1), max_size=7), st.sampled_from([0.01, 0.05, 0.3]))
@settings(deadline=None, max_examples=100)
def test_kept_sets_are_those_of_the_definition(known, epsilon):
    count = 0
    for mask in range(1, 2 ** len(known)):
        chances = sorted((one for at, one in enumerate(known) if mask >> at & 1), reverse=True)
        product = 1.0
        for chance in chances:
            product *= chance
        count += product > epsilon
    assert kept_sets(known, epsilon, 10_000) == count


def test_epsilon_grows_where_too_many_sets_would_be_kept():
    few = [Attribute(role="key", known=0.5)] * 5
    many = [Attribute(role="key", known=0.6)] * 30
    installed = ["known_sets", "k_anonymity", "repeated_records"]
    assert risks_for(few, installed)["known_sets"]["epsilon"] == 0.01
    assert risks_for(many, installed)["known_sets"]["epsilon"] > 0.01
    assert "repeated_records" not in risks_for(few, installed)
    assert "repeated_records" in risks_for([*few, Attribute(role="person")], installed)
    assert risks_for(few, []) == {}


def test_five_thousand_columns():
    frame = pl.DataFrame({f"{letter}{at}": [at, at + 1, at] for letter in string.ascii_lowercase[:5] for at in range(1000)})
    assert len(profile(Microdata(frame)).columns) == 5000


def test_a_proposed_order_is_used_on_the_table_that_was_analyzed():
    data = Microdata(pl.DataFrame({"pain": ["low", "high", "medium"]}))
    under = data.with_policy(profile(data).policy())
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
def test_values_that_name_something_sensitive_say_what_a_column_is(values: list[str | None], role: str) -> None:
    found = profile(Microdata(pl.DataFrame({"x": values * 50})))["x"]
    assert found.attribute.role == role
    assert role == "other" or "are names of a" in found.reason


def test_the_proposed_threshold_is_to_be_hidden_among_twenty() -> None:
    data = Microdata(pl.DataFrame({"sex": ["f", "m"] * 100, "diagnosis": ["flu", "asthma", "cancer", "flu"] * 50}))
    policy = profile(data).policy()
    assert policy.risk["known_sets"]["threshold"] == {"among": 20}
    alike = Microdata(data.frame.with_columns(pl.lit("f").alias("sex"))[:20], policy)
    assert discreet.risk(alike, "known_sets")["known_sets"]["high_risk"] == 0
    assert discreet.risk(Microdata(alike.frame[:19], policy), "known_sets")["known_sets"]["high_risk"] == 19
    text = profile(data).to_yaml()
    assert "threshold: {among: 20}" in text
    assert "hidden among fewer than 20" in text.replace("\n# ", " ")
    assert "hidden among" not in profile(Microdata(data.frame.select("sex"))).to_yaml()  # nothing would be learnt
