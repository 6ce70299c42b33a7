"""Every masking method on every type of column: true values lie in their written cells, and files say what memory says.

One property over method x column type x file format. The truth is worked out by brute force, with a reading of the
grammar that is written out here and shares nothing with the engine's atoms.
"""

import contextlib
import datetime
import math
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import discreet
from discreet import Policy
from discreet.errors import DiscreetError, SourceError
from discreet.masking.release import release_table
from discreet.model.cells import Group, Interval, Prefix, parse_cell, parse_value
from discreet.model.microdata import Microdata
from discreet.model.results import Release

ROWS = 24
NULLS = (5, 17)
D, T = datetime.date, datetime.datetime
DAYS = [D(1991 + at // 8, 1 + at % 12, 1 + 3 * (at % 9)) for at in range(ROWS)]
MOMENTS = [T(day.year, day.month, day.day, at % 24, 30, at, 7 * at) for at, day in enumerate(DAYS)]
WORDS = ["Iowa", "Ohio", "Utah", "Maine", "Texas", "Kansas"]
STATES = {"Midwest": ["Iowa", "Ohio", "Kansas"], "Rest": ["Utah", "Maine", "Texas"]}
ALL_STATES = {"US": ["Midwest", "Rest"]}
INTS = [3 * at + at % 2 for at in range(ROWS)]
ORDER = {"order": ["low", "mid", "high", "top"]}
NUMBERS = {"widths": [10, 30]}
DATES = {"dates": ["month", "quarter", "year", "decade"]}


def series(values, dtype=None):
    return pl.Series("x", [None if at in NULLS else value for at, value in enumerate(values)], dtype=dtype)


def halves(values):
    """Two labelled groups of values, so that labels look like numbers."""
    texts = list(dict.fromkeys(str(value).lower() if isinstance(value, bool) else str(value) for value in values))
    return {"1": texts[: len(texts) // 2], "2": texts[len(texts) // 2 :]}


COLUMNS = {
    "int8": (series(INTS, pl.Int8), NUMBERS),
    "uint16": (series(INTS, pl.UInt16), {"quantiles": [6, 3]}),
    "int64": (series([7 * number - 80 for number in INTS]), NUMBERS),
    "fifteen digits": (series([123_456_789_012_300 + number for number in INTS]), NUMBERS),
    "nineteen digits": (series([4_611_686_018_427_387_900 + number for number in INTS]), NUMBERS),
    "uint64": (series([18_446_744_073_709_551_000 + number for number in INTS], pl.UInt64), NUMBERS),
    "float": (series([number / 10 - 2 for number in INTS]), {"widths": [0.1, 1]}),
    "large float": (series([1e17 + 4096 * number for number in INTS]), {"widths": [10_000]}),
    "boolean": (series([at % 3 == 0 for at in range(ROWS)]), None),
    "text": (series([WORDS[at % 6] for at in range(ROWS)]), {"groups": [STATES, ALL_STATES]}),
    "zip": (series([f"0{48_200 + at % 9}" for at in range(ROWS)]), {"prefixes": [5, 3]}),
    "digits": (series([str(48_200 + at % 9) for at in range(ROWS)]), {"prefixes": [4, 3]}),
    "enum": (series([WORDS[at % 6] for at in range(ROWS)], pl.Enum(WORDS)), {"groups": [STATES]}),
    "ordinal": (series([["low", "mid", "high", "top"][at % 4] for at in range(ROWS)]), None),
    "date": (series(DAYS), DATES),
    "datetime": (series(MOMENTS), DATES),
    "zoned": (series(MOMENTS).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo"), DATES),
    "time": (series([datetime.time(at, 2 * at, at) for at in range(ROWS)]), None),
    "duration": (series([datetime.timedelta(hours=7 * at, seconds=at) for at in range(ROWS)]), None),
}

X = {"columns": ["x"]}
STEPS = {
    "nothing": [],
    "breaks": [{"method": "global_recoding", "breaks": [10, 30.5], **X}],
    "width": [{"method": "global_recoding", "width": 10, **X}],
    "narrow": [{"method": "global_recoding", "width": 0.3, "origin": 0.1, **X}],
    "groups": [{"method": "global_recoding", "groups": "halves", **X}],
    "other": [{"method": "global_recoding", "groups": "first half", "other": "9", **X}],
    "some": [{"method": "global_recoding", "groups": "first half", **X}],
    "level": [{"method": "global_recoding", "level": 1, **X}],
    "level two": [{"method": "global_recoding", "level": 2, **X}],
    "month": [{"method": "global_recoding", "unit": "month", **X}],
    "week": [{"method": "global_recoding", "unit": "week", **X}],
    "year": [{"method": "global_recoding", "unit": "year", **X}],
    "decade then group": [
        {"method": "global_recoding", "unit": "decade", **X},
        {"method": "global_recoding", "groups": {"7": ["1990s"]}, **X},
    ],
    "groups twice": [
        {"method": "global_recoding", "groups": "halves", **X},
        {"method": "global_recoding", "groups": {"all": ["1", "2"]}, **X},
    ],
    "top": [{"method": "top_bottom_coding", "top_share": 0.2, "bottom_count": 3, "replace": "label", **X}],
    "full domain": [{"method": "generalization", "k": 4, "suppression_limit": 0.3, **X}],
    "partition": [{"method": "generalization", "k": 4, "algorithm": "partition", **X}],
    "relaxed": [{"method": "generalization", "k": 4, "algorithm": "partition", "strict": False, "columns": ["x", "y"]}],
    "ranges": [{"method": "balanced_partition", "criterion": "records", "k": 4, **X}],
    "targeted generalization": [{"method": "targeted_generalization", "alpha": 1, "threshold": 0.06, **X}],
    "targeted suppression": [{"method": "targeted_suppression", "alpha": 1, "threshold": 0.06, **X}],
    "local suppression": [{"method": "local_suppression", "k": 2, **X}],
    "min risk": [{"method": "min_risk_disclosure", "k": 1, "columns": ["x", "y"]}],
    "sampling": [{"method": "sampling", "fraction": 0.7}, {"method": "global_recoding", "groups": "halves", **X}],
    "swap labels": [
        {"method": "global_recoding", "groups": "halves", **X},
        {"method": "pram", "retention": 0.9, **X},
    ],
}
PERTURBED = {
    "means": [{"method": "balanced_partition", "criterion": "records", "k": 4, "publish": "means", **X}],
    "microaggregation": [{"method": "microaggregation", "size": 3, **X}],
    "rounding": [{"method": "rounding", "base": 5, **X}],
    "noise": [{"method": "noise", **X}],
    "swapping": [{"method": "swapping", **X}],
    "shuffling": [{"method": "shuffling", **X}],
    "pram": [{"method": "pram", **X}],
    "pseudonyms": [{"method": "pseudonymization", **X}],
    "simulation": [{"method": "simulation", **X}],
    "top mean": [{"method": "top_bottom_coding", "top_share": 0.2, "replace": "mean", **X}],
}


def microdata(column, steps):
    values, hierarchy = COLUMNS[column]
    plain = list(dict.fromkeys(value for value in values.to_list() if value is not None))
    groups = halves(plain)
    made = []
    for step in steps:
        chosen = {"halves": groups, "first half": {"1": groups["1"]}}.get(
            step.get("groups") if isinstance(step.get("groups"), str) else ""
        )
        made.append(step if chosen is None else {**step, "groups": chosen})
    key = {"role": "key", "known": 0.4}
    slow = (len(column) + len(str(steps))) % 4 == 0  # all that assess does, on every fourth combination
    policy = {
        "attributes": {
            "x": key | ({"hierarchy": hierarchy} if hierarchy else {}) | (ORDER if column == "ordinal" else {}),
            "y": key,
            "ill": {"role": "confidential", "sensitivity": 1.0, "known": 0.0},
        },
        "risk": {"known_sets": {"alpha": 1}, "decision": {}, "target_linkage": {}} | ({"record_linkage": {}} if slow else {}),
        "loss": {"ncp": {}, "integrity": {}} | ({"entropy": {}, "propensity": {}} if slow else {}),
        # in the order of the original, so that sums of floats are taken in one order
        "plan": {"seed": 3, "order": "kept", "steps": made},
    }
    frame = pl.DataFrame(
        [values, pl.Series("y", [at % 5 for at in range(ROWS)]), pl.Series("ill", ["Flu", "Cold"] * (ROWS // 2))]
    )
    return Microdata(frame, Policy.from_dict(policy))


def masked(column, steps):
    """The table, and the release of a plan or None where a method does not work on this type of column."""
    data = microdata(column, steps)
    try:
        return data, discreet.mask(data)
    except DiscreetError:
        return data, None


def holds(label, value, cells):
    """Whether a written cell may stand for a true value: the grammar, spelt out."""
    if label is None or value is None or label == "*":
        return True
    if cells is None:
        return label == value or str(label) == str(value)
    text = cells.labels.get(label, label)
    if text == "*":
        return True
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    true = value if cells.kind != "text" else str(value)
    cell = parse_cell(text, cells.kind)
    if cell is None:
        return parse_value(text, cells.kind) == true
    return _inside(cell, true, cells.kind)


def _inside(cell, true, kind):
    if isinstance(cell, Interval):
        low = math.isinf(cell.lower) if isinstance(cell.lower, float) else False
        high = math.isinf(cell.upper) if isinstance(cell.upper, float) else False
        return (low or cell.lower < true or (cell.lower_inside and cell.lower == true)) and (
            high or true < cell.upper or (cell.upper_inside and cell.upper == true)
        )
    if isinstance(cell, Prefix):
        return len(true) == cell.length and true.startswith(cell.prefix)
    assert isinstance(cell, Group)
    among = any(parse_value(member, kind) == true for member in cell.members) or any(
        _inside(part, true, kind) for part in cell.parts
    )
    return among != cell.others


FORMATS = ["csv", "parquet", "arrow", "jsonl", "xlsx"]


def read_back(release, tmp_path, form):
    """The release as a file gives it back, or None where a format has no word for such values."""
    target = tmp_path / f"release.{form}"
    with contextlib.suppress(SourceError):
        discreet.write(release, target)
    if not target.exists():
        return None
    found = discreet.read(target, release.original.policy)
    return found.replace(found.frame, release_table(release).records)


def measured(data, found):
    """What assess says of a release; the measures one by one where the policy names only the quick ones."""
    if "record_linkage" in data.policy.risk:
        return discreet.assess(data, found)
    alone = found.masked if isinstance(found, Release) else found
    measures = list(data.policy.risk)
    informed, losses = discreet.risk(found, measures, original=data), discreet.loss(data, found)
    return SimpleNamespace(after=discreet.risk(alone, measures), informed=informed, losses=losses)


def numbers(assessment):
    found = {}
    for side in ("after", "informed", "losses"):
        for name, score in getattr(assessment, side).items():
            found |= {(side, name, field): value for field, value in score.summary.items() if not isinstance(value, dict)}
    return found


def same(one, other):
    assert one.keys() == other.keys()
    for key, value in one.items():
        assert value == pytest.approx(other[key], rel=1e-9, abs=1e-12, nan_ok=True), key


@pytest.mark.parametrize("steps", [*STEPS, *PERTURBED])
@pytest.mark.parametrize("column", COLUMNS)
def test_values_lie_in_their_cells_and_files_say_what_memory_says(column, steps, tmp_path, effort):
    data, release = masked(column, {**STEPS, **PERTURBED}[steps])
    if release is None:
        return
    table, true = release.masked, data.frame["x"].to_list()
    rows = np.flatnonzero(table.records >= 0)
    cells = table.cells.get("x")
    if steps in STEPS and steps != "swap labels":
        for row in rows:
            label, value = table.frame["x"][int(row)], true[table.records[row]]
            assert holds(label, value, cells), f"{label!r} does not hold {value!r}"
    place = list(COLUMNS).index(column) + [*STEPS, *PERTURBED].index(steps)
    # a file is measured again for every second combination, and for all of them by make trust
    forms = [FORMATS[place // 2 % len(FORMATS)]] * (place % 2 == 0 or effort(0, 1) == 1) + ["csv"] * (
        column in ("date", "int64", "zip")
    )
    if table.schema["x"].is_float() or isinstance(
        table.schema["x"], pl.Datetime
    ):  # a spreadsheet keeps 15 digits, and milliseconds
        forms = [form if form != "xlsx" else "parquet" for form in forms]
    assessed = measured(data, release)
    if steps in STEPS:
        check_informed(data, table, assessed)
    expected = numbers(assessed)
    for form in dict.fromkeys(forms):
        if (again := read_back(release, tmp_path, form)) is not None:
            same(expected, numbers(measured(data, again)))


def check_informed(data, table, assessed):
    """The intruder who holds true values finds at least what brute force over the cells finds."""
    keys, size = ["x", "y"], len(table)
    cells = [table.cells.get(name) for name in keys]
    inside = {}
    for at, name in enumerate(keys):
        labels, values = table.frame[name].to_list(), data.frame[name].to_list()
        pairs = {(label, value): holds(label, value, cells[at]) for label in set(labels) for value in set(values)}
        inside[name] = np.array([[pairs[label, value] for label in labels] for value in values])
    agreeing = (inside["x"] & inside["y"]).sum(axis=1)  # masked records that agree with each original
    rows = {int(record): at for at, record in enumerate(table.records) if record >= 0}
    links = sum(1 / agreeing[record] for record, at in rows.items() if inside["x"][record, at] and inside["y"][record, at])
    linkage = assessed.informed["target_linkage"]
    assert linkage["expected_links"] >= links - 1e-9
    people = (inside["x"] & inside["y"]).sum(axis=0)  # originals that each masked record may be
    rho = assessed.informed["decision"].per_record["rho"].to_numpy()
    assert (rho == people).all()
    # known_sets: every set of keys by which somebody can be asked for, with its probability
    risk = np.zeros(size)
    for known, chance in (((), 0.36), (("x",), 0.24), (("y",), 0.24), (("x", "y"), 0.16)):
        both = np.ones((len(data), size), dtype=bool)
        for name in known:
            both &= inside[name]
        for record, at in rows.items():
            if both[record, at]:
                risk[at] += chance / both[record].sum()
    found = assessed.informed["known_sets"].per_record["risk"].to_numpy()
    assert (found >= risk * (1 - 1e-9)).all()


@pytest.mark.parametrize("store", ["sqlite", "duckdb", "sav", "dta"])
@pytest.mark.parametrize(("column", "steps"), [("text", "other"), ("int64", "width"), ("date", "year"), ("zip", "groups")])
def test_databases_and_statistics_packages_say_what_memory_says(column, steps, store, tmp_path):
    data, release = masked(column, STEPS[steps])
    place = f"{store}:///{tmp_path}/store.{store}#t" if store in ("sqlite", "duckdb") else str(tmp_path / f"release.{store}")
    discreet.write(release, place)
    # a table of a database has no file beside it: the policy says what its labels stand for
    policy = data.policy.with_(cells=dict(release_table(release).cells))
    found = discreet.read(place, policy)
    found = found.replace(found.frame, release_table(release).records)
    same(numbers(measured(data, release)), numbers(measured(data.with_policy(policy), found)))
