"""Rare combinations: values of chosen sets of keys that fewer records share than must (the rule of mu-Argus)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from discreet.engine.classes.distinct_classes import DistinctClasses, list_classes
from discreet.engine.classes.key_sets import KeySet, Missing, check_keys, count_key_sets, encode_keys, list_sets
from discreet.engine.encoding.columns import Column
from discreet.engine.spark.gaps import MANY_CLASSES
from discreet.model.attribute import Role
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.rare_combinations.counts import count_sets
from discreet.risks.rare_combinations.scoring import NAMED_SETS, score_classes

_MOST_SETS = 20_000


class RareCombinations(RiskMeasure):
    """Combinations of key values that occur fewer than ``threshold`` times, for chosen sets of keys or all small ones.

    Statistics offices often require that every combination of, say, three identifying values occurs in several records, and not
    of all keys together (k-anonymity). A record is unsafe if one of its combinations is rare.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 44, 55], "sex": ["f", "f", "f"], "job": ["a", "b", "a"]}, key=["age", "sex", "job"])
    >>> score = RareCombinations(sets=(("age", "sex"), ("sex", "job")), threshold=2).measure(data)
    >>> score["records"], score.per_record["sets"].to_list()
    (2, [None, 'sex + job', 'age + sex'])
    """

    name: ClassVar[str] = "rare_combinations"
    citation: ClassVar[str] = (
        "Hundepool, A. et al. (2012). Statistical disclosure control. Wiley; de Waal, A. G. & Willenborg, L. C. "
        "R. J. (1996). A view on statistical disclosure control for microdata. Survey Methodology 22(1), 95-103."
    )
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.engine.spark.collected:measure_collected_classes", (MANY_CLASSES,))
    better: ClassVar[Mapping[str, Direction]] = {"records": "low", "combinations": "low", "fewest": "high"}
    worst: ClassVar[Mapping[str, float]] = {"fewest": 1.0}
    meaning: ClassVar[Mapping[str, str]] = {
        "records": "unsafe records: records with at least one rare combination",
        "combinations": "rare combinations: different values of a set of keys that fewer than threshold records share",
        "fewest": "records of the rarest combination; empty where there is none",
        "by_size": "rare combinations by the number of their keys",
    }
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "records": "there are at most {number} records with a rare combination of a few quasi-identifiers",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "rare": "number of sets of keys whose combination is rare in the record",
        "fewest": "records that share its rarest combination; empty where every combination has a null that is no value",
        "sets": "the sets of keys whose combination is rare in the record; the first five, and how many more",
    }
    contribution: ClassVar[tuple[str, str] | None] = ("records", "records with a rare combination that contains the attribute")
    at_risk: ClassVar[tuple[str, str] | None] = ("records", "{number} of {records} records with a rare combination of key values")
    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"

    keys: tuple[str, ...] = Field(default=(), description="quasi-identifiers for dimension; default: role key")
    sets: tuple[Annotated[tuple[str, ...], Field(min_length=1)], ...] = Field(
        default=(), description="sets of keys whose combinations must be common; default: all sets of up to dimension keys"
    )
    dimension: Annotated[int, Field(ge=1)] = Field(default=3, description="largest number of keys of a set, where sets is empty")
    threshold: Annotated[int, Field(ge=2)] = Field(default=3, description="records that must share a combination; fewer are rare")
    missing: Missing = Field(
        default="category",
        description="a null is one more value, agrees with anything (wildcard), or makes no combination (ignore)",
    )

    def uses_original(self, data: Microdata) -> bool:
        """Only where nulls are no values does an intruder who knows the original values learn more than the release shows."""
        return self.missing != "category"

    def reads(self, data: Microdata) -> list[str]:
        if self.sets:
            return list(dict.fromkeys(name for names in self.sets for name in names))
        return list(dict.fromkeys(self.keys)) or data.named(Role.KEY)

    def working_bytes(self, sample: Microdata, records: int, *, by_record: bool = False) -> float:
        return records * (120.0 + (len(self.list_sets(self.reads(sample))) / 8 + 40 if by_record else 0))

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        columns = self._encode_keys(data, original)
        return self.score_classes(columns, list_classes(columns, len(data)))

    def score_classes(self, columns: Sequence[Column], classes: DistinctClasses) -> Score:
        """The score of the records of these classes, on either engine."""
        scored = score_classes(self, [column.name for column in columns], classes, [column.null_code for column in columns])
        return Score(self.name, scored.summary, lambda: scored.list_values(classes.ids), scored.per_attribute)

    def explain(self, data: Microdata, record: int, *, original: Microdata | None = None) -> list[str]:
        columns = self._encode_keys(data, original)
        classes = list_classes(columns, len(data))
        own = classes.ids[record]
        sets = self.list_sets([column.name for column in columns])
        nulls = [column.null_code for column in columns]
        rare = [
            (int(counts[own]), len(keys), " + ".join(columns[key].name for key in keys))
            for keys, counts, _ in count_sets(classes, nulls, sets, self.missing)
            if 0 < counts[own] < self.threshold
        ]
        of = f"record {record + 1:,} of {len(data):,}"
        if not rare:
            return [f"{of}: at least {self.threshold} records share each of its combinations"]
        head = (
            f"{of}: {len(rare):,} of {len(sets):,} sets of keys have a combination that fewer than {self.threshold} records share"
        )
        named = [
            f"{names}: {'no other record has' if count == 1 else f'{count:,} records share'} these values"
            for count, _, names in sorted(rare)[:NAMED_SETS]
        ]
        return [head, *named, *([f"{len(rare) - NAMED_SETS:,} further sets"] if len(rare) > NAMED_SETS else [])]

    def _encode_keys(self, data: Microdata, original: Microdata | None) -> list[Column]:
        names = self.reads(data)
        self.check_sets(names, data.source)
        return encode_keys(self.name, data, names, self.missing, original)

    def check_sets(self, names: list[str], source: str) -> None:
        """Raise DataError where the sets of these keys cannot be counted."""
        number = len(self.sets) or count_key_sets(len(names), self.dimension)
        check_keys(self.name, names, source, number, _MOST_SETS, "use a smaller dimension, fewer keys, or name the sets")

    def list_sets(self, names: list[str]) -> list[KeySet]:
        """The sets of keys that are counted, as positions in ``names``."""
        if not self.sets:
            return list_sets(len(names), self.dimension)
        place = {name: key for key, name in enumerate(names)}
        return list(dict.fromkeys(tuple(sorted({place[name] for name in chosen})) for chosen in self.sets))
