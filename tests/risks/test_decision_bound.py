"""What `decision` says of Theorem 1 is never false, and is said where its conditions hold."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.engine.disclosure.dictionaries import own_dictionary, precedes
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.decision.measure import Decision

PEOPLE = {
    "attributes": {
        "id": {"role": "identifier"},
        "age": {"role": "key"},
        "town": {"role": "key"},
        "ill": {"role": "confidential"},
    }
}
ROWS = st.tuples(st.sampled_from([30, 40, None]), st.sampled_from(["A", "B", None]), st.sampled_from(["x", "y", None]))
HIDDEN = st.tuples(*[st.sampled_from(["same", "same", "null", "other"])] * 3)


@st.composite
def cases(draw: st.DrawFn) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The original, a release of it, and a dictionary of the same people, perhaps with others."""
    rows = draw(st.lists(ROWS, min_size=1, max_size=6))
    changed = draw(st.lists(HIDDEN, min_size=len(rows), max_size=len(rows)))
    told = draw(st.lists(HIDDEN, min_size=len(rows), max_size=len(rows)))
    plain, honest = draw(st.booleans()), draw(st.booleans())
    extra = draw(st.lists(ROWS, max_size=4))
    columns = draw(st.lists(st.sampled_from(["age", "town", "ill"]), min_size=1, unique=True))
    names, others = ["age", "town", "ill"], {"age": 50, "town": "C", "ill": "z"}

    def frame(cells: list[Any], how: list[Any], *, only_blanks: bool) -> pl.DataFrame:
        made = {
            name: [
                None
                if ways[at] == "null" or row[at] is None
                else others[name]
                if ways[at] == "other" and not only_blanks
                else row[at]
                for row, ways in zip(cells, how, strict=True)
            ]
            for at, name in enumerate(names)
        }
        kinds = {"age": pl.Int64, "town": pl.String, "ill": pl.String}
        return pl.DataFrame({"id": list(range(1, len(cells) + 1)), **made}, schema_overrides=kinds)

    original = frame(rows, [("same",) * 3] * len(rows), only_blanks=True)
    release = original if plain else frame(rows, changed, only_blanks=False)
    people = [*rows, *extra]
    book = frame(people, [*told, *([("same",) * 3] * len(extra))], only_blanks=honest).select("id", *columns)
    return original, release, book


def microdata(frame: pl.DataFrame, folder: str = ".") -> Microdata:
    return Microdata(frame, Policy.from_dict(PEOPLE, folder=folder), "people")


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases(), st.sampled_from(["phi1", "phi3", "phi5"]))
def test_notes_claim_the_bound_only_where_it_holds(case: tuple[pl.DataFrame, ...], form: Any) -> None:
    original, release, book = case
    with tempfile.TemporaryDirectory() as folder:
        book.write_parquet(Path(folder) / "d.parquet")
        data, owned = microdata(release, folder), microdata(original, folder)
        for table_of, known in ((data, None), (data, owned)):
            found = Decision(dictionary="d.parquet", sensitivity=form).measure(table_of, original=known)
            itself = Decision(sensitivity=form).measure(table_of, original=known)
            claimed = any("is an upper bound of that under 'd.parquet'" in note for note in found.notes)
            refused = any("gives no upper bound of the risk under 'd.parquet'" in note for note in found.notes)
            assert claimed != refused
            if claimed:
                assert found["risk"] <= itself["risk"] + 1e-12
            assert claimed == conditions_hold(table_of, known or table_of, book, itself)


def conditions_hold(data: Microdata, owned: Microdata, book: pl.DataFrame, itself: Any) -> bool:
    """Theorem 1's conditions written out, row by row, on the attributes that the microdata itself is compared on."""
    spoken = [name for name in book.columns if name != "id" and book[name].null_count() < book.height]
    keys = [name for name in ("age", "town") if name in data.columns]
    if not set(spoken) <= set(keys) or not all(count > 0 for count in itself.per_record["rho"]):
        return False
    theirs = {row["id"]: row for row in book.iter_rows(named=True)}
    return all(
        row["id"] in theirs and all(theirs[row["id"]][name] in (None, row[name]) for name in spoken)
        for row in owned.frame.iter_rows(named=True)
    )


@settings(max_examples=40, deadline=None)
@given(cases())
def test_the_bound_without_a_dictionary_holds_for_every_dictionary_it_covers(case: tuple[pl.DataFrame, ...]) -> None:
    original, release, book = case
    keys = book.select(name for name in book.columns if name != "ill")
    with tempfile.TemporaryDirectory() as folder:
        data, owned = microdata(release, folder), microdata(original, folder)
        itself = Decision().measure(data, original=owned)
        said = any("an upper bound of the risk under any dictionary" in note for note in itself.notes)
        assert said == bool((itself.per_record["rho"] > 0).all())
        if not said or keys.width < 2:
            return
        theta = own_dictionary(data, owned)
        keys.write_parquet(Path(folder) / "d.parquet")
        found = Decision(dictionary="d.parquet").measure(data, original=owned)
        from discreet.engine.disclosure.dictionaries import load_dictionaries

        eta = load_dictionaries(Decision(dictionary="d.parquet").dictionary, data)[0]
        if precedes(theta, eta, eta.attributes).holds:
            assert found["risk"] <= itself["risk"] + 1e-12


def test_a_dictionary_with_confidential_attributes_is_not_bounded_by_the_keys(tmp_path: Path) -> None:
    """Finding 10: four alike by their keys, all apart by what else the dictionary says."""
    frame = pl.DataFrame({"id": [1, 2, 3, 4], "age": [30] * 4, "town": ["A"] * 4, "ill": ["w", "x", "y", "z"]})
    frame.write_csv(tmp_path / "d.csv")
    data = microdata(frame, str(tmp_path))
    found = Decision(dictionary="d.csv").measure(data)
    assert found["risk"] > Decision().measure(data)["risk"]
    told = " ".join(found.notes)
    assert "is an upper bound of that under" not in told
    assert "'d.csv' also holds 'ill', on which the microdata itself is not compared" in told
