"""Releases that an intruder got a green verdict for; each must be incomplete, and its harmless counterpart met."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.coverage.comparison import differing_values
from discreet.risks.coverage.measure import Coverage

RNG = np.random.default_rng(191)
N = 400
GIVEN, FAMILY = RNG.choice(["Maria", "Peter", "Anna", "Ivan"], N), RNG.choice(["Smith", "Rossi", "Kim"], N)
FULL_NAMES = [f"{one} {other}" for one, other in zip(GIVEN, FAMILY, strict=True)]
BASE = {
    "sex": RNG.choice(["m", "f"], N),
    "region": RNG.choice(["a", "b", "c"], N),
    "illness": RNG.choice(["flu", "hiv", "none"], N),
}
ROLES = {"sex": {"role": "key"}, "region": {"role": "key"}, "illness": {"role": "confidential"}}
SPARSE = RNG.choice(90_000, N, replace=False) + 10_000


def assessed(columns, attributes=None, steps=(), release=None, **policy):
    roles = {name: role for name, role in ROLES.items() if name in columns} | (attributes or {})
    content = {"attributes": roles, "limits": {"k_anonymity.k": 5}, "plan": {"steps": list(steps)}} | policy
    data = Microdata(pl.DataFrame(columns), Policy.from_dict(content))
    return discreet.assess(data, discreet.mask(data) if release is None else Microdata(pl.DataFrame(release), data.policy))


def join_gaps(found):
    """All gaps of an assessment in one text."""
    return " ".join(found.gaps)


def concern(found, column):
    rows = found.coverage.per_attribute.filter(pl.col("attribute") == column)
    return rows["concern"][0]


# unexamined columns together with the released quasi-identifiers


def test_a_column_that_splits_the_classes_of_the_keys_into_single_records_is_a_gap_with_its_numbers():
    rng = np.random.default_rng(4)
    n = 3000
    columns = {
        "age": rng.integers(20, 70, n),
        "sex": rng.choice(["m", "f"], n),
        "place": rng.choice([f"p{i}" for i in range(300)], n),
    }
    policy = {"attributes": {"age": {"role": "key"}, "sex": {"role": "key"}}, "limits": {"k_anonymity.k": 5}}
    data = Microdata(pl.DataFrame(columns), Policy.from_dict(policy))
    alone = data.frame.group_by("age", "sex", "place").len().filter(pl.col("len") == 1).height
    found = discreet.assess(data, discreet.mask(data))
    assert found.status == "incomplete"
    assert f"'place', which together with 'age' and 'sex' singles out {alone:,} of 3,000 records" in join_gaps(found)
    assert "(none without it)" in join_gaps(found)


def test_many_columns_that_each_add_little_are_a_gap_where_all_of_them_single_out_many():
    rng = np.random.default_rng(5)
    n = 2000
    flags = {f"answer{i}": rng.integers(0, 2, n) for i in range(12)}
    found = assessed({"sex": rng.choice(["m", "f"], n), **flags}, attributes={"sex": {"role": "key"}})
    assert found.status == "incomplete"
    assert found.coverage["unexamined"] >= 5
    assert "single out" in join_gaps(found)


@pytest.mark.parametrize(
    "attribute", [{"role": "confidential"}, {"role": "key"}, {"role": "other", "accepted": "published anyway"}]
)
def test_a_column_that_somebody_decided_on_is_not_tried_with_the_keys(attribute):
    rng = np.random.default_rng(6)
    n = 3000
    columns = {"sex": rng.choice(["m", "f"], n), "wing": rng.integers(0, 200, n)}
    assert assessed(columns, {"sex": {"role": "key"}, "wing": attribute}, limits={"k_anonymity.k": 1}).ok


def test_a_quasi_identifier_by_name_is_a_gap_from_one_record_in_a_hundred_on():
    rng = np.random.default_rng(7)
    n = 4000
    place = np.where(rng.random(n) < 0.95, "here", rng.choice([f"land{i}" for i in range(200)], n))
    columns = {"sex": rng.choice(["m", "f"], n), "country": place}
    found = assessed(columns, {"sex": {"role": "key"}})
    assert found.status == "incomplete"
    assert "'country'" in join_gaps(found)


# roles that nobody acts on


def test_a_key_that_the_measure_leaves_out_is_a_gap():
    found = assessed(BASE | {"branch": SPARSE}, {"branch": {"role": "key"}}, risk={"k_anonymity": {"keys": ["sex", "region"]}})
    assert found.status == "incomplete"
    assert "'branch' has the role key, but no risk measure with a limit takes it as known" in join_gaps(found)


def test_a_key_with_a_probability_at_most_epsilon_is_a_gap():
    known = {name: {"role": "key", "known": 0.5} for name in ("sex", "region")} | {"branch": {"role": "key", "known": 0.005}}
    known["illness"] = {"role": "confidential", "sensitivity": 1}
    policy = {"risk": {"known_sets": {"threshold": 1000}}, "limits": {"known_sets.high_risk": 0}}
    found = assessed(BASE | {"branch": SPARSE}, known, **policy)
    assert found.status == "incomplete"
    assert "'branch' has the role key" in join_gaps(found)


def test_known_sets_that_keep_the_empty_set_alone_are_a_gap():
    policy = {"risk": {"known_sets": {"threshold": 1000}}, "limits": {"known_sets.high_risk": 0}}
    found = assessed(BASE, {"illness": {"role": "confidential", "sensitivity": 1}}, **policy)
    assert found.status == "incomplete"
    assert "known_sets takes no released column as known" in join_gaps(found)


@pytest.mark.parametrize("role", ["confidential", "weight", "household", "key", "other"])
def test_names_and_contacts_are_a_concern_whatever_their_role(role):
    mails = [f"p{i % 40}@example.org" for i in range(N)]
    found = assessed(
        BASE | {"v": FULL_NAMES, "w": mails}, {"v": {"role": role}, "w": {"role": role}}, limits={"k_anonymity.k": 1}
    )
    assert found.status == "incomplete"
    assert concern(found, "v") == "looks like names of people" or "looks like names" in concern(found, "v")
    assert "e-mail" in concern(found, "w")


@pytest.mark.parametrize("role", ["confidential", "weight", "household"])
def test_postal_codes_are_settled_by_no_role_but_that_of_a_key(role):
    assert assessed(BASE | {"zip": SPARSE}, {"zip": {"role": role}}).status == "incomplete"


def test_a_household_number_that_nobody_shares_is_a_concern_and_a_shared_one_is_none():
    assert assessed(BASE | {"hh": SPARSE}, {"hh": {"role": "household"}}).status == "incomplete"
    assert assessed(BASE | {"hh": np.repeat(SPARSE[: N // 2], 2)}, {"hh": {"role": "household"}}).ok


# steps that change hardly anything


def test_a_step_that_changes_a_few_cells_settles_nothing():
    steps = [
        {"method": "pram", "columns": ["v"], "retention": 0.99},
        {"method": "top_bottom_coding", "columns": ["branch"], "top": 99_000},
    ]
    found = assessed(BASE | {"v": FULL_NAMES, "branch": SPARSE}, steps=steps)
    assert found.status == "incomplete"
    assert "names" in concern(found, "v")
    assert concern(found, "branch") is not None


def test_noise_too_small_to_hide_anybody_settles_nothing_and_noise_that_does_is_enough():
    amount = np.sort(RNG.normal(0, 1000, N))[RNG.permutation(N)]
    small = BASE | {"amount": amount + RNG.normal(0, 1e-6, N)}
    large = BASE | {"amount": amount + RNG.normal(0, 1000, N)}
    assert concern(assessed(BASE | {"amount": amount}, release=small), "amount") is not None
    assert concern(assessed(BASE | {"amount": amount}, release=large), "amount") is None


def test_coarse_labels_and_pseudonyms_settle_a_column():
    steps = [
        {"method": "global_recoding", "columns": ["branch"], "width": 30_000},
        {"method": "pseudonymization", "columns": ["v"]},
    ]
    found = assessed(BASE | {"v": [f"A-{i}" for i in SPARSE], "branch": SPARSE}, steps=steps)
    assert concern(found, "v") is None
    assert concern(found, "branch") is None


# columns that the original does not have


def test_a_released_column_that_the_original_does_not_have_is_unexamined():
    found = assessed(BASE, release=BASE | {"v": FULL_NAMES, "branch": SPARSE})
    assert found.coverage["identifying"] == 2
    assert found.status == "incomplete"


# values, not types


@pytest.mark.parametrize(
    ("released", "truth", "expected"),
    [
        (["08:30:00.000000000", "09:00:01"], [dt.time(8, 30), dt.time(9)], [False, True]),
        (["2020-01-01 00:00:03", "2020-01-02"], [dt.datetime(2020, 1, 1, 0, 0, 3), dt.datetime(2020, 1, 2)], [False, False]),
        (["2020-01-01", None], [dt.date(2020, 1, 1), dt.date(2020, 1, 2)], [False, True]),
        (pl.Series([0.1, 0.7], dtype=pl.Float32), [0.1, 0.6], [False, True]),
        (["0.1", "x"], pl.Series([0.1, 0.7], dtype=pl.Float32), [False, True]),
        (pl.Series([dt.datetime(2020, 1, 1, 3)], dtype=pl.Datetime("ms")), [dt.datetime(2020, 1, 1, 3)], [False]),
        ([1, 0], [True, True], [False, True]),
        (["True", "false"], [True, True], [False, True]),
        (pl.Series(["a", "b"], dtype=pl.Categorical), ["a", "c"], [False, True]),
        ([1.5, 2.0], pl.Series(["1.50", "2.00"]).cast(pl.Decimal(6, 2)), [False, False]),
        ([None, None], ["a", None], [True, False]),
    ],
)
def test_a_change_of_type_is_no_change_of_value(released, truth, expected):
    assert differing_values(pl.Series(released), pl.Series(truth)).tolist() == expected


@pytest.mark.parametrize("form", ["csv", "xlsx", "jsonl", "parquet"])
@pytest.mark.parametrize("kind", ["time", "datetime", "single"])
def test_no_file_type_turns_an_unmasked_column_into_a_changed_one(tmp_path, kind, form):
    values = {
        "time": [dt.time(int(s) // 3600, int(s) // 60 % 60, int(s) % 60) for s in RNG.choice(86_400, N, replace=False)],
        "datetime": [dt.datetime(2020, 1, 1) + dt.timedelta(seconds=int(s)) for s in SPARSE * 997],
        "single": pl.Series(RNG.random(N)).cast(pl.Float32),
    }[kind]
    content = {"attributes": ROLES, "limits": {"k_anonymity.k": 5}, "plan": {"order": "kept", "steps": []}}
    data = Microdata(pl.DataFrame(BASE | {"v": values}), Policy.from_dict(content))
    discreet.write(discreet.mask(data), tmp_path / f"release.{form}")
    score = Coverage().measure(discreet.read(tmp_path / f"release.{form}", data.policy), original=data)
    row = score.per_attribute.filter(pl.col("attribute") == "v").row(0, named=True)
    assert row["masked"] == 0
    assert row["concern"] is not None


# what columns look like


def look_at(values, name="v"):
    data = Microdata(pl.DataFrame({name: values}), Policy.from_dict({}))
    return Coverage().measure(data).per_attribute.filter(pl.col("attribute") == name)["looks_like"][0]


IDS = np.repeat(np.arange(700_000, 700_600), 5)


@pytest.mark.parametrize(
    "values",
    [
        RNG.permutation(IDS).tolist(),
        [f"K{value}" for value in RNG.permutation(IDS)],
        [f"{value * 7919 % 1_000_003:06x}" for value in RNG.permutation(IDS)],
        (RNG.permutation(IDS) - 700_000).tolist(),
    ],
)
def test_numbers_that_every_person_has_in_several_rows_are_recognised(values):
    assert look_at(values) == "numbers of persons or groups"


def test_numbers_with_any_number_of_rows_are_recognised_by_rows_that_are_alike():
    rng = np.random.default_rng(9)
    person = np.repeat(np.arange(500), rng.integers(1, 9, 500))
    keys = {"sex": rng.integers(0, 2, 500)[person], "age": rng.integers(20, 80, 500)[person]}
    found = assessed(keys | {"v": person}, {"sex": {"role": "key"}, "age": {"role": "key"}}, limits={"k_anonymity.k": 1})
    assert concern(found, "v") == "looks like numbers of persons or groups"


def test_ranges_of_classes_that_share_all_quasi_identifiers_are_no_numbers_of_persons():
    """A column masked together with the keys was said to number persons, because rows with one of its ranges agree on them."""
    rng = np.random.default_rng(9)
    columns = {"sex": rng.integers(0, 2, 900), "age": rng.integers(20, 80, 900), "stay": rng.integers(0, 2_000, 900)}
    policy = Policy.from_dict(
        {
            "attributes": {"sex": {"role": "key", "known": 0.5}, "age": {"role": "key", "known": 0.5}},
            "risk": {"k_anonymity": {}},
            "plan": {
                "steps": [{"method": "microaggregation", "columns": list(columns), "size": 5, "how": "mdav", "publish": "ranges"}]
            },
        }
    )
    release = discreet.mask(discreet.read(pl.DataFrame(columns), policy))
    found = Coverage().measure(release.masked, original=release.original).per_attribute
    assert found.filter(pl.col("attribute") == "stay")["looks_like"][0] is None


@pytest.mark.parametrize("values", [RNG.integers(0, 90, 900), RNG.integers(0, 365, 3000), RNG.poisson(50, 800)])
def test_quantities_that_repeat_are_no_numbers_of_persons(values):
    assert look_at(values) is None


BIRTHS = [dt.date(1940, 1, 1) + dt.timedelta(days=int(i)) for i in RNG.integers(0, 20_000, 900)]


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%m/%d/%Y", "%d.%m.%Y", "%d %b %Y", "%Y%m%d"])
@pytest.mark.parametrize("name", ["dob", "v"])
def test_dates_of_birth_are_recognised_in_any_writing(form, name):
    texts = [day.strftime(form) for day in BIRTHS]
    assert look_at(texts, name) == "dates of birth"
    if form == "%Y%m%d":
        assert look_at([int(text) for text in texts], name) == "dates of birth"


def test_recent_dates_as_text_are_no_dates_of_birth():
    assert look_at([f"2014-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(400)], "seen") is None


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("zip", [f"{i:05d}" for i in RNG.integers(1000, 1100, 2000)]),
        ("postcode", RNG.integers(1000, 1100, 2000)),
        ("latitude", np.round(48 + RNG.integers(0, 50, 2000) / 50, 2)),
        ("longitude", np.round(8 + RNG.integers(0, 50, 2000) / 50, 2)),
    ],
)
def test_places_are_recognised_by_the_name_of_the_column(name, values):
    assert look_at(values, name) is not None


@pytest.mark.parametrize(
    "names",
    [
        "Иван Мария Ольга Сергей",
        "Ιωάννης Γιώργος Μαρία Ελένη",
        "王伟 李娜 张敏 刘洋",
        "佐藤健 鈴木一郎 田中花子",
        "김민수 이영희 박지훈",
        "Rajesh Priya Sanjay Anjali Vikram Deepa",
        "Jürgen Käthe Günther",
        "Oluwaseun Chinedu Ngozi Adebayo",
        "Nguyễn Trần Phương Minh",
    ],
)
def test_names_of_many_languages_are_recognised_under_a_neutral_column_name(names):
    assert look_at(RNG.choice(names.split(), 200)) == "names of people"


def test_words_that_are_written_as_names_are_recognised_whatever_their_language():
    syllables = ["Ba", "Ku", "Zo", "Mi", "Re", "Ta"]
    single = ["".join([syllables[i] for i in at]).capitalize() for at in RNG.integers(0, 6, (300, 4))]
    assert look_at(single) is not None
    first, last = RNG.choice(single[:12], 600), RNG.choice(single[12:30], 600)
    assert look_at([f"{one} {other}" for one, other in zip(first, last, strict=True)]) is not None


@pytest.mark.parametrize(
    "rare",
    [
        ["maria.smith@x.org", "peter.m@y.com", "a.b@z.de"],
        ["call 555-123-4567", "ring +49 171 2345678", "or (212) 555-0199"],
        ["spoke w/ his wife Anna", "her brother Peter came too", "Maria will call back"],
        ["Maria Smith", "Peter Jones", "Anna Weber"],
        ["lives at 12 Oak Street", "moved to 7 Long Hill Road", "sent to Hauptstraße 12"],
    ],
)
def test_a_few_contacts_and_names_in_an_otherwise_constant_column_are_recognised(rare):
    assert look_at(["no remark"] * 185 + rare * 5) is not None


@pytest.mark.parametrize(
    "values",
    [
        ["no remark", "see the file of last year", "The ward was full"],
        ["San Francisco CA", "San Jose CA", "Santa Maria CA", "Los Angeles CA"],
        ["Exec-managerial", "Craft-repair", "Sales"],
        ["12.5 mg twice a day", "5 mg once a day", "none"],
        ["100-200", "200-300", ">300"],
    ],
)
def test_labels_that_repeat_are_no_remarks_about_people(values):
    assert look_at(RNG.choice(values, 300)) is None


# thresholds and small tables


@pytest.mark.parametrize(
    "threshold", [{"singled_out": 1}, {"singled_together": 1}, {"together": 1}, {"restored": 1}, {"gain": 1}]
)
def test_a_threshold_that_switches_a_check_off_is_a_gap(threshold):
    found = assessed(BASE, risk={"k_anonymity": {}, "coverage": threshold})
    assert found.status == "incomplete"
    assert f"coverage.{next(iter(threshold))}" in join_gaps(found)


def test_small_tables_are_looked_at_too():
    rng = np.random.default_rng(10)
    columns = {"sex": ["m", "f"] * 9, "code": [f"Q{i * 37 % 97}" for i in range(18)]}
    assert assessed(columns, {"sex": {"role": "key"}}).status == "incomplete"
    columns = {"sex": rng.choice(["m", "f"], 90)} | {name: rng.integers(0, 12, 90) for name in "abc"}
    assert assessed(columns, {"sex": {"role": "key"}}).status == "incomplete"


# dates as text restore what was masked


def restored_from(frame, target, steps):
    roles = {name: {"role": "confidential"} for name in frame.columns} | {target: {"role": "key"}}
    content = {"attributes": roles, "limits": {"k_anonymity.k": 1}, "plan": {"steps": steps}}
    data = Microdata(frame, Policy.from_dict(content))
    rows = discreet.assess(data, discreet.mask(data)).coverage.per_attribute
    return rows.filter(pl.col("attribute") == target)["restored_from"][0]


@pytest.mark.parametrize(
    ("form", "dtype"),
    [("%d.%m.%Y", pl.String), ("%m/%d/%Y", pl.String), ("%d %B %Y", pl.String), ("%Y%m%d", pl.String), ("%Y%m%d", pl.Int64)],
)
def test_a_masked_date_is_restored_from_its_text_in_a_local_format(form, dtype):
    frame = pl.DataFrame({"born": BIRTHS}).with_columns(txt=pl.col("born").dt.strftime(form).cast(dtype))
    assert restored_from(frame, "born", [{"method": "global_recoding", "columns": ["born"], "unit": "decade"}]) == "'txt'"


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y"])
def test_a_masked_length_of_stay_is_restored_from_two_dates_as_text(form):
    stay = RNG.integers(1, 30, len(BIRTHS))
    frame = pl.DataFrame({"admitted": BIRTHS, "stay": stay}).with_columns(
        left=(pl.col("admitted") + pl.duration(days=pl.col("stay"))).dt.strftime(form),
        admitted=pl.col("admitted").dt.strftime(form),
    )
    found = restored_from(frame, "stay", [{"method": "global_recoding", "columns": ["stay"], "width": 10}])
    assert found == "left - admitted"


def test_a_masked_year_is_restored_from_a_date_as_text():
    frame = pl.DataFrame({"txt": [day.strftime("%d.%m.%Y") for day in BIRTHS], "year": [day.year for day in BIRTHS]})
    assert restored_from(frame, "year", [{"method": "global_recoding", "columns": ["year"], "width": 10}]) is not None


def test_a_masked_column_is_restored_from_one_that_the_original_does_not_have():
    total = RNG.integers(0, 5000, N)
    data = Microdata(pl.DataFrame(BASE | {"total": total}), Policy.from_dict({"attributes": ROLES}))
    released = Microdata(pl.DataFrame(BASE | {"total": ["*"] * N, "twice": 2 * total + 7}), data.policy)
    rows = Coverage().measure(released, original=data).per_attribute
    assert rows.filter(pl.col("attribute") == "total")["restored_from"][0] is not None


def test_a_masked_body_mass_index_is_restored_from_weight_and_height():
    frame = pl.DataFrame({"w": np.round(RNG.normal(80, 15, 600), 1), "h": np.round(RNG.normal(1.7, 0.1, 600), 2)})
    frame = frame.with_columns(bmi=(pl.col("w") / pl.col("h") ** 2).round(1))
    assert restored_from(frame, "bmi", [{"method": "global_recoding", "columns": ["bmi"], "width": 10}]) == "w / h^2"


@pytest.mark.parametrize("shown", [{"known_sets": {}}, {"record_linkage": {}}])
def test_a_column_that_only_a_measure_without_a_limit_reads_is_a_gap(shown):
    columns = BASE | {"branch": np.arange(N) % (N // 2), "visit": np.arange(N) * 7919 % 100_003}
    roles = {name: {"role": "key", "known": 0.5} for name in ("sex", "region", "branch")} | {"visit": {"known": 0.4}}
    found = assessed(columns, roles, risk={"k_anonymity": {"keys": ["sex"]}} | shown)
    assert found.status == "incomplete"
    assert "'branch' has the role key, but no risk measure with a limit takes it as known" in join_gaps(found)
    assert "'visit'" in join_gaps(found)
