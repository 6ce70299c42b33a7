"""The kit finds what is wrong with a plug-in, says it in a sentence, and is content with one that is right."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from pydantic import ConfigDict, Field

from discreet.engine.encoding.columns import encode
from discreet.errors import DataError, PluginError
from discreet.model.contracts import Direction, Draw, LossMeasure, MaskingMethod, RiskMeasure, Scope
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.testing import ConformanceError, check_loss, check_masking, check_risk, table


class Right(RiskMeasure):
    """Counts the records.

    >>> Right().measure(table({"age": [1, 2]}))["records"]
    2
    """

    name: ClassVar[str] = "right"
    citation: ClassVar[str] = "Nobody (2000)."
    documentation: ClassVar[str] = "https://example.org/right"
    better: ClassVar[Mapping[str, Direction]] = {"records": "high"}
    meaning: ClassVar[Mapping[str, str]] = {"records": "records in the table"}
    record_meaning: ClassVar[Mapping[str, str]] = {"one": "one", "at": "position"}

    times: int = Field(default=1, description="how often each is counted")

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        return Score(self.name, {"records": self.times * len(data)}, pl.DataFrame({"one": np.ones(len(data))}))


class Blank(MaskingMethod):
    """Suppresses the columns.

    >>> Blank().choose(table({"age": [1]}))
    []
    """

    name: ClassVar[str] = "blank"
    citation: ClassVar[str] = "Nobody (2000)."
    documentation: ClassVar[str] = "https://example.org/blank"
    scope: ClassVar[Scope] = Scope.CELL
    preserves: ClassVar[str] = "Nothing."

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        if not columns:
            raise DataError("blank needs columns: name those to suppress")

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        return data.with_columns({name: data.frame[name].clear(len(data)) for name in columns})


class Gone(LossMeasure):
    """Share of the records that are gone.

    >>> Gone().measure(table({"age": [1, 2]}), table({"age": [1]}))["loss"]
    0.5
    """

    name: ClassVar[str] = "gone"
    citation: ClassVar[str] = "Nobody (2000)."
    documentation: ClassVar[str] = "https://example.org/gone"
    meaning: ClassVar[Mapping[str, str]] = {"loss": "share of the records, 0 to 1"}

    def measure(self, original: Microdata, masked: Microdata) -> Score:
        return Score(self.name, {"loss": 1 - len(masked) / len(original) if len(original) else 0.0})


def test_the_kit_is_content_with_plug_ins_that_are_right() -> None:
    check_risk(Right)
    check_risk(Right(times=3))
    check_masking(Blank)
    check_loss(Gone)


def collect_findings(check: Any, plugin: Any, **more: Any) -> str:
    """The message with all that the check finds wrong in a plug-in."""
    with pytest.raises(ConformanceError) as caught:
        check(plugin, **more)
    assert isinstance(caught.value, AssertionError)
    assert isinstance(caught.value, PluginError)
    assert all(f"- {finding}" in str(caught.value) for finding in caught.value.findings)
    return str(caught.value)


def variant(base: type, **members: Any) -> type:
    """The right plug-in with something wrong in it."""
    return type("Wrong", (base,), {"__doc__": "Wrong.\n\n>>> 1 + 1\n2\n", "__module__": __name__, **members})


def test_a_class_that_is_no_plug_in_is_told_what_to_inherit_from() -> None:
    assert "inherit from discreet.model.contracts.RiskMeasure" in collect_findings(check_risk, int)
    assert "it is not a MaskingMethod" in collect_findings(check_masking, Right)


def test_a_wrong_signature_is_told_with_the_right_one() -> None:
    def positional(self: Any, data: Microdata, original: Microdata) -> Score: ...
    def renamed(self: Any, table: Microdata, columns: Sequence[str], draw: Draw) -> Microdata: ...
    def more(self: Any, original: Microdata, masked: Microdata, alpha: float) -> Score: ...

    assert "it is called as measure(self, data, original=None)" in collect_findings(
        check_risk, variant(Right, measure=positional)
    )
    assert "it is called as mask(self, data, columns, draw)" in collect_findings(check_masking, variant(Blank, mask=renamed))
    assert "it is called as measure(self, original, masked)" in collect_findings(check_loss, variant(Gone, measure=more))


def test_a_signature_with_further_defaults_is_fine() -> None:
    def more(self: Any, data: Microdata, *, original: Microdata | None = None, quick: bool = False) -> Score:
        return Right().measure(data)

    check_risk(variant(Right, measure=more))


def test_a_class_without_name_citation_docstring_or_description_is_told_all_at_once() -> None:
    class Bare(RiskMeasure):
        times: int = 1

        def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score: ...

    Bare.__doc__ = None
    findings = collect_findings(check_risk, Bare)
    for part in ("no name", "no citation", "no docstring", "no example", "no documentation", "'times' has no description"):
        assert part in findings
    assert findings.startswith("6 things are wrong")


def test_names_that_cannot_stand_in_a_policy_or_are_taken_are_told() -> None:
    assert "cannot stand in a policy" in collect_findings(check_risk, variant(Right, name="My Risk"))
    assert "belongs to discreet.risks.k_anonymity.measure.KAnonymity" in collect_findings(
        check_risk, variant(Right, name="k_anonymity")
    )


def test_a_name_that_is_a_parameter_is_told() -> None:
    class Named(RiskMeasure):
        """Named."""

        citation: ClassVar[str] = "Nobody."
        name: str = Field(default="named", description="its name")  # type: ignore[misc]

        def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score: ...

    assert "annotate it as ClassVar[str]" in collect_findings(check_risk, Named)


def test_a_class_that_can_be_changed_is_told() -> None:
    findings = collect_findings(check_risk, variant(Right, model_config=ConfigDict(frozen=False, extra="allow")))
    assert "it is not frozen" in findings
    assert "parameters that it does not know" in findings


def test_a_method_that_is_missing_is_told() -> None:
    class Empty(MaskingMethod):
        """Nothing."""

        name: ClassVar[str] = "empty"
        citation: ClassVar[str] = "Nobody."

    assert "it lacks mask" in collect_findings(check_masking, Empty)


def test_a_parameter_without_default_needs_an_example() -> None:
    class Needy(Right):
        """Needs a number.

        >>> Needy(level=3).level
        3
        """

        level: int = Field(description="a number")

    class Helped(Right):
        """Says which.

        >>> Helped(level=3).level
        3
        """

        level: int = Field(examples=[3], description="a number")

    assert "give the field examples=[…]" in collect_findings(check_risk, Needy)
    check_risk(Helped)
    check_risk(Needy(level=2))


def test_a_parameter_that_a_policy_file_cannot_say_is_told() -> None:
    class Odd(Right):
        """Odd."""

        model_config = ConfigDict(arbitrary_types_allowed=True)
        thing: Any = Field(default=frozenset([b"\xff"]), description="not for files")

    assert "policy file" in collect_findings(check_risk, Odd)


def scoring(score: Any) -> type:
    def measure(self: Any, data: Microdata, *, original: Microdata | None = None) -> Any:
        return score(self, data)

    return variant(Right, measure=measure)


def test_scores_that_are_not_scores_of_numbers_by_record_are_told() -> None:
    assert "returns dict, not a discreet.Score" in collect_findings(check_risk, scoring(lambda self, data: {"records": 1}))
    assert "the score is named 'left', not 'right'" in collect_findings(
        check_risk, scoring(lambda self, data: Score("left", {"records": 1}))
    )
    assert "'records' is 'many' (str), not a number" in collect_findings(
        check_risk, scoring(lambda self, data: Score("right", {"records": "many"}))
    )
    assert "numpy.int64" in collect_findings(check_risk, scoring(lambda self, data: Score("right", {"records": np.int64(3)})))
    assert "(nan); use None" in collect_findings(
        check_risk, scoring(lambda self, data: Score("right", {"records": float("nan")}))
    )
    short = pl.DataFrame({"one": [1.0]})
    assert "per_record has 1 rows for 60 records" in collect_findings(
        check_risk, scoring(lambda self, data: Score("right", {"records": 1}, short))
    )
    backward = Score("right", {"records": 1}, interval=(2.0, 1.0))
    assert "the interval ends at 1.0" in collect_findings(check_risk, scoring(lambda self, data: backward))
    unnamed = Score("right", {"records": 1}, per_attribute=short)
    assert "per_attribute has no column 'attribute'" in collect_findings(check_risk, scoring(lambda self, data: unnamed))


def test_limits_on_fields_that_do_not_exist_are_told() -> None:
    assert "better names 'k', which the summary does not have; it has records" in collect_findings(
        check_risk, variant(Right, better={"k": "high"})
    )
    assert "must be 'low' or 'high'" in collect_findings(check_risk, variant(Right, better={"records": "up"}))
    assert "meaning speaks of 'k'" in collect_findings(check_risk, variant(Right, meaning={"k": "the least class"}))
    assert "better is empty" in collect_findings(check_risk, variant(Right, better={}))


def test_fields_without_meaning_or_direction_are_told() -> None:
    findings = collect_findings(check_risk, variant(Right, meaning={}, record_meaning={}))
    assert "the summary's 'records' has no meaning" in findings
    assert "the column 'one' of per_record has no meaning" in findings
    assert "the summary's 'loss' has no meaning" in collect_findings(check_loss, variant(Gone, meaning={}))
    wider = scoring(lambda self, data: Score("right", {"records": 1, "keys": 2}))
    described = {"records": "records", "keys": "keys"}
    assert "the summary's 'keys' has no direction" in collect_findings(check_risk, variant(wider, meaning=described))
    check_risk(variant(wider, meaning=described, neutral=("keys",)))
    assert "'records' is in better and in neutral" in collect_findings(check_risk, variant(Right, neutral=("records",)))
    check_risk(variant(Right, record_meaning={"on*": "one"}))


def test_a_built_in_without_a_page_is_told() -> None:
    hidden = variant(Right, name="hidden", __module__="discreet.risks.hidden")
    assert "it has no page: write docs/methods/hidden.md" in collect_findings(check_risk, hidden)


def test_spark_work_that_cannot_be_loaded_or_called_is_told() -> None:
    lost = EngineWork("discreet.nowhere:work")
    assert "the engine function 'discreet.nowhere:work' cannot be loaded" in collect_findings(
        check_risk, variant(Right, spark=lost)
    )
    narrow = EngineWork("math:sqrt")
    assert "its Spark work 'math:sqrt' does not take 3 arguments" in collect_findings(check_risk, variant(Right, spark=narrow))
    assert "not an EngineWork" in collect_findings(check_risk, variant(Right, spark="math:sqrt"))


def test_a_score_that_changes_from_call_to_call_or_with_the_order_of_rows_is_told() -> None:
    dice = random.Random(1)
    assert "measured twice gives two scores" in collect_findings(
        check_risk, scoring(lambda self, data: Score("right", {"records": dice.random()}))
    )
    first = scoring(lambda self, data: Score("right", {"records": int(data.frame["bill"][0] if len(data) else 0)}))
    assert "rows in another order give another score" in collect_findings(check_risk, first)
    places = scoring(lambda self, data: Score("right", {"records": 1}, pl.DataFrame({"at": np.arange(len(data)) / 2})))
    assert "'at' of single records differs" in collect_findings(check_risk, places)


def test_an_error_that_is_not_the_datas_fault_is_told_with_the_table_that_caused_it() -> None:
    findings = collect_findings(
        check_risk, scoring(lambda self, data: Score("right", {"records": int(data.frame["bill"].min())}))
    )
    assert "on a table without rows: it raises TypeError" in findings
    assert "on a table of nulls: it raises TypeError" in findings
    assert "on a table of one row" not in findings


def test_warnings_and_refusals_without_a_reason_are_told() -> None:
    def warns(self: Any, data: Microdata) -> Score:
        return Score("right", {"records": float(np.float64(1) / np.float64(len(data)))})

    def grumpy(self: Any, data: Microdata) -> Score:
        if len(data) < 2:
            raise DataError("no")
        return Right().measure(data)

    def never(self: Any, data: Microdata) -> Score:
        raise DataError("the table is not to my liking")

    assert "on a table without rows: it warns (RuntimeWarning" in collect_findings(check_risk, scoring(warns))
    assert "it refuses without a reason" in collect_findings(check_risk, scoring(grumpy))
    assert "it refuses data that it should take: the table is not to my liking" in collect_findings(check_risk, scoring(never))


def test_a_plug_in_that_writes_into_its_input_is_told() -> None:
    def renumber(self: Any, data: Microdata) -> Score:
        data.records[:] = 0
        return Right().measure(data)

    def recode(self: Any, data: Microdata) -> Score:
        encode(data, ["age"])[0].codes[:] = 0
        return Right().measure(data)

    assert "it changes its input: the record numbers" in collect_findings(check_risk, scoring(renumber))
    assert "it changes its input: the encoded column 'age'" in collect_findings(check_risk, scoring(recode))


def masking(mask: Any, **members: Any) -> type:
    return variant(Blank, mask=lambda self, data, columns, draw: mask(data, columns, draw), **members)


def test_a_masking_method_says_its_scope_and_what_it_preserves() -> None:
    findings = collect_findings(check_masking, variant(Blank, scope="cell by cell", preserves=""))
    assert "it has no scope" in findings
    assert "what it preserves" in findings


def test_randomness_from_elsewhere_is_told() -> None:
    dice = random.Random(2)

    def noisy(data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        return data.with_columns({name: pl.Series(name, [str(dice.random()) for _ in range(len(data))]) for name in columns})

    assert "take randomness from draw alone" in collect_findings(check_masking, masking(noisy))


def test_a_release_that_depends_on_the_position_of_rows_is_told() -> None:
    def by_place(data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        return data.with_columns({name: pl.Series(name, np.arange(len(data))) for name in columns})

    def by_position_drawn(data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        return data.with_columns({name: pl.Series(name, draw.uniform(np.arange(len(data)))) for name in columns})

    def by_record(data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        return data.with_columns({name: pl.Series(name, draw.uniform(data.records)) for name in columns})

    assert "not by position" in collect_findings(check_masking, masking(by_place))
    assert "not by position" in collect_findings(check_masking, masking(by_position_drawn))
    check_masking(masking(by_record))


def test_a_scope_that_is_too_narrow_is_told() -> None:
    def mean(data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        made = {name: pl.Series(name, [str(data.frame[name].n_unique())] * len(data), dtype=pl.String) for name in columns}
        return data.with_columns(made)

    assert "its scope is CELL, but a value depends on other records" in collect_findings(check_masking, masking(mean))
    check_masking(masking(mean, scope=Scope.COLUMN))


def test_columns_records_and_policy_that_are_not_its_own_are_left_alone() -> None:
    def everything(data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        return data.with_columns({name: data.frame[name].clear(len(data)) for name in data.columns})

    def reset(data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        return data.replace(data.frame[1:], np.arange(max(len(data) - 1, 0)))

    def twice(data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        return data.take(np.repeat(np.arange(len(data)), 2))

    def beyond(data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        return data.replace(data.frame, data.records + 1000)

    def dropped(data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        return data.drop(["name"])

    def added(data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        return data.with_columns({"new": pl.Series("new", [0] * len(data))})

    def lawless(data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        return Microdata(data.frame, records=data.records)

    assert "it changes 'name', which it was not asked to" in collect_findings(check_masking, masking(everything))
    assert "loses the record numbers" in collect_findings(check_masking, masking(reset))
    assert "two rows have the same record number" in collect_findings(check_masking, masking(twice))
    assert "is not one of the input's" in collect_findings(check_masking, masking(beyond))
    assert "it drops the column 'name'" in collect_findings(check_masking, masking(dropped))
    assert "it adds the column '['new']'" in collect_findings(check_masking, masking(added)).replace('"', "'")
    assert "the policy is lost" in collect_findings(check_masking, masking(lawless))
    assert "returns DataFrame, not Microdata" in collect_findings(check_masking, masking(lambda data, columns, draw: data.frame))


def test_a_method_that_takes_no_column_is_asked_for_a_table_of_its_own() -> None:
    def check(self: Any, data: Microdata, columns: Sequence[str]) -> None:
        if "shoe" not in data.columns:
            raise DataError("it needs a column 'shoe' in the table")

    findings = collect_findings(check_masking, variant(Blank, check=check))
    assert "it refuses every choice" in findings
    assert "example_data()" in findings
    own = table({"shoe": [40, 41, 42]}, key=["shoe"])
    check_masking(variant(Blank, check=check, example_data=classmethod(lambda cls: own)))
    check_masking(variant(Blank, check=check), data=own, columns=["shoe"])


def test_a_loss_of_an_unchanged_table_is_told() -> None:
    def pessimist(self: Any, original: Microdata, masked: Microdata) -> Score:
        return Score("gone", {"loss": 0.5})

    assert "an unchanged table has lost 0" in collect_findings(check_loss, variant(Gone, measure=pessimist))


def test_a_loss_that_takes_rows_for_records_is_told() -> None:
    def by_row(self: Any, original: Microdata, masked: Microdata) -> Score:
        size = min(len(original), len(masked))
        changed = original.frame["bill"][:size].ne_missing(masked.frame["bill"][:size]).sum()
        return Score("gone", {"loss": float(changed)})

    findings = collect_findings(check_loss, variant(Gone, measure=by_row))
    assert "masked rows in another order give another score" in findings


def test_explanations_and_promises_are_sentences() -> None:
    def explain(self: Any, data: Microdata, record: int, *, original: Microdata | None = None) -> Any:
        return "because"

    def promise(self: Any, final: Microdata, columns: Sequence[str]) -> list[str]:
        return ["it does not hold"]

    def notes(self: Any, before: Microdata, after: Microdata, columns: Sequence[str]) -> Any:
        return [3]

    assert "explain returns 'because', not a list of sentences" in collect_findings(check_risk, variant(Right, explain=explain))
    assert "it says of the table that it has just made" in collect_findings(check_masking, variant(Blank, promise=promise))
    assert "notes returns [3], not a list of sentences" in collect_findings(check_masking, variant(Blank, notes=notes))


def test_a_measure_that_needs_the_original_table_says_so_and_gets_it() -> None:
    def measure(self: Any, data: Microdata, *, original: Microdata | None = None) -> Score:
        if original is None:
            raise DataError("it needs the original table: give original")
        return Score(self.name, {"records": len(original)})

    assert "it refuses data that it should take" in collect_findings(check_risk, variant(Right, measure=measure))
    check_risk(variant(Right, measure=measure, original_use="required"))


def test_a_measure_that_uses_the_original_table_must_say_so() -> None:
    def measure(self: Any, data: Microdata, *, original: Microdata | None = None) -> Score:
        return Score(self.name, {"records": len(data if original is None else original)})

    assert "original= changes its answer" in collect_findings(check_risk, variant(Right, measure=measure))
    check_risk(variant(Right, measure=measure, original_use="optional"))
