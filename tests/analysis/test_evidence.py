"""Evidence from values, labels, neighbours and distributions: made-up tables of the shapes that real ones have."""

import numpy as np
import polars as pl
import pyreadstat
import pytest

import discreet
from discreet.analysis.analyzer import profile_table
from discreet.model.attribute import Level
from discreet.model.microdata import Microdata

DRAW = np.random.default_rng(11)
N = 400


def roles(frame, **kwargs):
    return {
        column.name: column.attribute.role.value for column in profile_table(Microdata(pl.DataFrame(frame), **kwargs)).columns
    }


def pick(*values, n=N):
    return DRAW.choice(values, n)


def people(**more):
    return {"sex": pick("f", "m"), "age": DRAW.integers(18, 80, N), **more}


def test_first_and_last_beside_a_name_are_identifiers():
    given = pick("Anna", "Peter", "Maria", "John", "Lisa", "Paul")
    family = pick("Smith", "Miller", "Jones", "Weber", "Garcia", "Brown")
    full = [f"{a} {b}" for a, b in zip(given, family, strict=True)]
    proposed = roles({"name": full, "first": given, "last": family, "contestant": full, **people()})
    assert [proposed[name] for name in ("name", "first", "last", "contestant")] == ["identifier"] * 4


def test_a_column_of_names_is_an_identifier_whatever_it_is_called():
    given, family = pick("Anna", "Peter", "Maria", "John"), pick("Smith", "Miller", "Jones", "Weber")
    assert roles({"v3": [f"{a} {b}" for a, b in zip(given, family, strict=True)], **people()})["v3"] == "identifier"


def test_the_name_of_a_car_is_no_identifier_and_case_numbers_are():
    cars = {"name": pick("ford torino", "amc rebel", "buick skylark"), "mpg": DRAW.normal(20, 4, N), "cylinders": pick(4, 6, 8)}
    assert roles(cars)["name"] == "other"
    cases = {"c_case_number": [f"{13 + i % 3}{i:06d}CF10A" for i in range(N)], **people()}
    assert roles(cases)["c_case_number"] == "identifier"


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("male", "key"), ("minority", "key"), ("homo", "confidential"), ("affairs", "confidential"), ("sbp", "confidential"),
        ("c_charge_degree", "confidential"), ("priors_count", "confidential"), ("faminc", "confidential"), ("marr", "key"),
        ("nonwhite", "key"), ("cigs", "confidential"), ("vryhap", "confidential"),
    ],
)  # fmt: skip
def test_short_names_of_public_microdata_are_read(name, role):
    assert roles({name: pick(0, 1), **people()})[name] == role


def test_a_degree_of_a_charge_is_no_education():
    column = profile_table(Microdata(pl.DataFrame({"c_charge_degree": pick("F", "M"), **people()})))["c_charge_degree"]
    assert "crime" in column.reason
    assert "education" not in column.reason


def test_a_survey_with_numbered_columns_is_read_by_its_values():
    frame = {
        "Q1": pick("Male", "Female"),
        "Q2": pick("18-24", "25-34", "35-49", "50-64", "65+"),
        "Q3": pick("Germany", "France", "Poland", "Italy"),
        "Q4": pick("Married", "Single", "Divorced", "Widowed"),
        "Q5": pick("High school", "Bachelor's degree", "Master's degree", "PhD"),
        "Q6": pick("Catholic", "Protestant", "Muslim", "No religion"),
        "Q7": pick("Under $25,000", "$25,000 - $49,999", "$50,000 - $99,999", "$100,000+"),
        "Q8": pick("Strongly agree", "Agree", "Disagree", "Strongly disagree"),
        "Q9": pick("Employed", "Unemployed", "Retired", "Student"),
    }
    expected = ["key", "key", "key", "key", "key", "confidential", "confidential", "confidential", "key"]
    assert list(roles(frame).values()) == expected


def test_labels_of_a_stata_file_say_what_a_column_is(tmp_path):
    path = tmp_path / "survey.dta"
    frame = pl.DataFrame({"villnum": pick(11, 12, 13, 14), "v2": pick(1, 2), "v3": DRAW.normal(120, 9, N), "q": pick(1, 2, 3)})
    pyreadstat.write_dta(
        frame,
        str(path),
        column_labels={"villnum": "Village ID", "v2": "Respondent is", "v3": "SYSTOLIC BLOOD PRESSURE", "q": "Answer"},
        variable_value_labels={"v2": {1: "Male", 2: "Female"}, "q": {1: "disagree", 2: "neutral", 3: "agree"}},
    )
    proposal = profile_table(discreet.read(path))
    assert [column.attribute.role.value for column in proposal.columns] == ["key", "key", "confidential", "confidential"]
    assert "variable label" in proposal["villnum"].reason
    assert "value labels" in proposal["v2"].reason
    assert (proposal["v2"].attribute.level, proposal["q"].attribute.level) == (Level.NOMINAL, Level.ORDINAL)


def test_codes_of_categories_are_nominal_and_get_no_widths():
    frame = pl.DataFrame({"roof": pick(2, 4, 5, 6, 9), "walls": pick(2, 3, 9), "relat": pick(1, 2, 3, 4, 5, 6, 7), **people()})
    proposal = profile_table(Microdata(frame))
    for name in ("roof", "walls", "relat"):
        assert proposal[name].attribute.level is Level.NOMINAL
        assert proposal[name].attribute.hierarchy is None


def test_a_column_that_the_policy_calls_nominal_gets_no_widths():
    frame = pl.DataFrame({"v1": np.arange(N) % 7, **people()})
    data = discreet.read(
        frame, {"attributes": {"v1": {"role": "key", "level": "nominal"}, "age": {"role": "key", "level": "nominal"}}}
    )
    proposal = profile_table(data)
    assert proposal["v1"].attribute.hierarchy is None
    assert proposal["age"].attribute.hierarchy is None


def test_households_and_weights_are_proposed_and_reasons_say_why():
    frame = pl.DataFrame(
        {"hhid": np.arange(N) // 3, "pspwght": DRAW.uniform(0.2, 3, N), "w": DRAW.uniform(50, 900, N), **people()}
    )
    proposal = profile_table(Microdata(frame.rename({"w": "finalwgt"})))
    assert proposal.named("household") == ["hhid"]
    assert proposal.named("weight") == ["pspwght", "finalwgt"]
    assert "records on average" in proposal["hhid"].reason
    assert "add up to" in proposal["finalwgt"].reason


def test_computed_columns_name_what_they_are_computed_from():
    wage, age = DRAW.lognormal(3, 0.5, N), DRAW.integers(18, 80, N)
    day = pl.Series(DRAW.integers(0, 4000, N)).cast(pl.Int32).cast(pl.Date)
    frame = pl.DataFrame(
        {
            "sex": pick("f", "m"), "age": age, "wage": wage, "lx": np.log(wage), "x2": age**2, "band": np.digitize(age, [30, 50]),
            "part": DRAW.integers(1, 90, N), "other_part": DRAW.integers(1, 90, N), "seen": day, "y": day.dt.year(),
        }
    ).with_columns(total=pl.col("part") + pl.col("other_part"))  # fmt: skip
    proposal = profile_table(Microdata(frame))
    assert proposal["lx"].derived_from == ("wage",)
    assert proposal["x2"].derived_from == ("age",)
    assert proposal["band"].derived_from == ("age",)
    assert proposal["y"].derived_from == ("seen",)
    assert proposal["total"].derived_from == ("part", "other_part")
    assert "the logarithm of 'wage'" in proposal["lx"].reason
    assert (proposal["lx"].attribute.role, proposal["x2"].attribute.role) == ("confidential", "key")


def test_indicators_of_one_category_share_its_kind():
    race = DRAW.integers(0, 4, N)
    frame = people(black=(race == 0) * 1, white=(race == 1) * 1, asian=(race == 2) * 1, moth=(race == 3) * 1)
    proposal = profile_table(Microdata(pl.DataFrame(frame)))
    assert proposal["moth"].attribute.role == "key"
    assert "exclusive indicators" in proposal["moth"].reason


def test_doubtful_proposals_come_first_with_their_confidence():
    proposal = profile_table(
        Microdata(pl.DataFrame(people(zzz=DRAW.normal(size=N), email=[f"p{i}@example.org" for i in range(N)])))
    )
    rows = proposal.review_rows()
    assert rows[0]["attribute"] == "zzz"
    assert [row["confidence"] for row in rows] == sorted(row["confidence"] for row in rows)
    assert proposal["email"].confidence > 0.9 > 0.4 > proposal["zzz"].confidence
    assert "zzz" in proposal.to_yaml().split("attributes:")[0]


def test_a_stem_that_several_names_share_says_what_they_are_about():
    flags = {f"hlth{letter}": [0, 1, 0, 0] * 25 for letter in "gfp"} | {"sex": ["m", "f"] * 50, "age": list(range(20, 70)) * 2}
    proposal = discreet.analyze(discreet.read(pl.DataFrame(flags)))
    assert proposal["hlthf"].attribute.role == "confidential"
    assert "begins with 'hlth' as those of its neighbours do" in proposal["hlthf"].reason


def test_a_word_cut_short_is_completed():
    proposal = discreet.analyze(discreet.read(pl.DataFrame({"disea": [13.7, 13.0, 4.5, 2.25] * 25, "x": [1.5, 2.5] * 50})))
    assert proposal["disea"].attribute.role == "confidential"
    assert "the beginning of 'disease'" in proposal["disea"].reason


def test_a_time_beside_its_event_is_confidential_in_a_table_about_people():
    times = [7 * n % 391 for n in range(1, 201)]
    patients = {
        "age": [30 + n % 50 for n in range(200)],
        "time": times,
        "cens": [0, 1] * 100,
        "tsize": [n % 37 for n in range(200)],
    }
    proposal = discreet.analyze(discreet.read(pl.DataFrame(patients)))
    assert {name: proposal[name].attribute.role.value for name in ("time", "cens", "tsize")} == dict.fromkeys(
        ("time", "cens", "tsize"), "confidential"
    )
    assert "follow-up study, beside 'cens'" in proposal["time"].reason
    machines = discreet.analyze(discreet.read(pl.DataFrame({"time": times, "failed": [0, 1] * 100, "rpm": times[::-1]})))
    assert machines["time"].attribute.role == "other", "the time until a machine fails is nobody's secret"


def test_a_code_of_a_country_is_no_person():
    countries = [
        "France",
        "Germany",
        "Italy",
        "Spain",
        "Austria",
        "Belgium",
        "Denmark",
        "Finland",
        "Greece",
        "Hungary",
        "Ireland",
    ]
    names = [f"{countries[n % 11]}" for n in range(660)]
    frame = pl.DataFrame(
        {
            "country": [f"{name}-{n % 60}" for n, name in enumerate(names)],
            "region": [n % 660 % 6 for n in range(660)],
            "codeno": [200 + (n % 660) for n in range(660)],
            "regime": ["a", "b", "c"] * 220,
        }
    )
    frame = pl.concat([frame] * 9)
    proposal = discreet.analyze(discreet.read(frame))
    assert proposal["codeno"].attribute.role != "person"


def test_amounts_of_a_confidential_kind_are_numbers_and_not_codes():
    counts = [(37 * n) % 1200 for n in range(1, 400)]
    proposal = discreet.analyze(discreet.read(pl.DataFrame({"cd4": counts, "drugexp": counts, "sex": ["m", "f", "m"] * 133})))
    assert [proposal[name].attribute.level.value for name in ("cd4", "drugexp")] == ["numeric", "numeric"]


def test_a_recode_of_a_key_is_a_key_in_a_table_of_things_too():
    regions = ["Southern Asia", "Northern Europe", "Western Europe", "Eastern Asia"] * 30
    frame = pl.DataFrame(
        {"region": regions, "zone": [text.split()[1] for text in regions], "height": [0.5 + n for n in range(120)]}
    )
    proposal = discreet.analyze(discreet.read(frame))
    assert proposal["zone"].attribute.role == "key"


@pytest.mark.parametrize(
    ("label", "role"),
    [
        ("Number of visits to a doctor in the last year", "confidential"),
        ("Number of children in the household", "key"),
        ("Total amount of debt", "confidential"),
        ("Distance to school", "key"),
    ],
)
def test_the_head_of_a_label_stands_behind_number_of_and_before_to(label, role):
    frame = pl.DataFrame({"Q5": list(range(40)) * 5, "sex": ["m", "f"] * 100, "age": list(range(20, 70)) * 4})
    proposal = discreet.analyze(Microdata(frame, variable_labels={"Q5": label}))
    assert proposal["Q5"].attribute.role == role
