"""Released columns of concern: what they look like, whom they single out alone, together, and with the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.encoding.columns import Column, encode
from discreet.engine.recognition.column_names import look_up_name
from discreet.engine.recognition.looks import Look, Pointing, look_of, may_number_persons
from discreet.engine.recognition.value_facts import Facts
from discreet.engine.runtime.progress import report_progress
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.risks.coverage.computed import Computed, columns_computed_from
from discreet.risks.coverage.examined import Examination, quasi_identifiers
from discreet.risks.coverage.findings import Findings
from discreet.risks.coverage.pairing import Paired, shows_truth
from discreet.risks.coverage.singling import LEAST_SINGLED, KeyClasses, find_combinations, share_unique

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KEY_NAMED = 0.2
"""Of a column whose own name is that of a quasi-identifier, such a part of the share ``singled_out`` is enough."""
_MOSTLY_ALONE = 0.8
"""A household's number that so many records have for themselves is a person's number."""
_LEAST_HOUSEHOLDS = 20
_ALIKE = 0.8
"""Share of neighbouring rows of a value that agree on all quasi-identifiers, beyond chance, from which it numbers persons."""


@dataclass(frozen=True)
class Shares:
    """From which shares of the records on columns that nobody looked at are a concern."""

    alone: float
    together: float
    most_together: int


def find_concerns(data: Microdata, paired: Paired | None, findings: Findings, shares: Shares) -> None:
    """Fill the findings about released columns, by their released values."""
    records = len(data)
    open_columns = [examined for examined in findings.examined if examined.accepted is None]
    columns = dict(
        zip([examined.name for examined in open_columns], encode(data, [examined.name for examined in open_columns]), strict=True)
    )
    findings.unread_keys = [
        examined.name for examined in open_columns if examined.unread_key and len(columns[examined.name].values) > 1
    ]
    classes = KeyClasses(encode(data, [examined.name for examined in findings.examined if examined.known_to]), records)
    computed = _find_computed(open_columns, paired)
    left: list[Column] = []
    for number, examined in enumerate(open_columns):
        report_progress("coverage", number, 2 * len(open_columns))
        column = columns[examined.name]
        facts = Facts(column, look_up_name(examined.name), records)
        undecided = _is_undecided(examined, facts)
        if undecided or examined.direct:
            findings.uniqueness[examined.name] = share_unique([column], records)
        look = look_of(facts)
        if look is None and undecided and classes.keys and may_number_persons(facts) and _rows_are_alike(column, classes.ids):
            look = Look("numbers of persons or groups", Pointing.NUMBER)
        if look is not None and look.pointing is Pointing.NUMBER and _is_coarse(data, column, shares):
            look = None
        if (words := _concern(examined, look, facts, undecided)) is not None:
            findings.looks[examined.name] = words
        elif undecided and not examined.pseudonymized:
            shown = _shown(examined, paired)
            if shown is not None:
                findings.uniqueness[examined.name] = _share_singled(column, shown, records)
            share = findings.uniqueness[examined.name]
            if share >= shares.alone and share * records >= LEAST_SINGLED:
                findings.singling.append(examined.name)
            elif shown is None or float(shown.mean()) >= shares.alone:
                left.append(column)
        elif examined.role is Role.HOUSEHOLD and records >= _LEAST_HOUSEHOLDS and not examined.pseudonymized:
            findings.uniqueness[examined.name] = share = share_unique([column], records)
            if share >= _MOSTLY_ALONE:
                findings.singling.append(examined.name)
    if classes.keys and computed:
        limits = dict.fromkeys(computed, shares.alone * _KEY_NAMED)
        split, _ = classes.split_by_one([columns[name] for name in computed if columns[name].cardinality > 1], limits)
        findings.with_keys += [replace(one, rule=computed[one.columns[0]].rule) for one in split]
    _combine(findings, left, classes, records, shares)


def _find_computed(open_columns: Sequence[Examination], paired: Paired | None) -> dict[str, Computed]:
    """Released columns with a role of their own that the quasi-identifiers give; those that nobody looked at are tried anyway."""
    if paired is None:
        return {}
    known = quasi_identifiers(paired.original)
    judged = [
        examined.name
        for examined in open_columns
        if not (examined.known_to or examined.direct or examined.undecided or examined.masked)
    ]
    return columns_computed_from(paired.original, known, judged)


def _combine(findings: Findings, left: Sequence[Column], classes: KeyClasses, records: int, shares: Shares) -> None:
    """Columns that single nobody out by themselves: each with the quasi-identifiers, a few of them, and all with those."""
    varying = [column for column in left if column.cardinality > 1]
    if classes.keys:
        limits = {column.name: shares.alone * (_KEY_NAMED if _is_key_by_name(column.name) else 1.0) for column in varying}
        split, varying = classes.split_by_one(varying, limits)
        findings.with_keys += split
    if shares.most_together > 1:
        findings.combinations += find_combinations(varying, records, shares.together, shares.most_together)
        taken = {name for combination in findings.combinations for name in combination.columns}
        varying = [column for column in varying if column.name not in taken]
    if classes.keys and len(varying) > 1:
        findings.with_keys += classes.split_by_several(varying, shares.together)


def _concern(examined: Examination, look: Look | None, facts: Facts, undecided: bool) -> str | None:
    """What makes a column a concern by its look and its role, in words; None where nothing does."""
    if facts.distinct <= 1 and not (examined.direct and facts.distinct and not examined.masked):
        return None
    if examined.direct:
        if not examined.masked:
            return look.words if look else "numbers of persons" if examined.role is Role.PERSON else "an identifier by its role"
        return look.words if look is not None and look.pointing is Pointing.DIRECT else None
    if look is None or (examined.pseudonymized and look.pointing is Pointing.NUMBER):
        return None
    if undecided:
        return look.words
    if look.pointing is Pointing.DIRECT:
        # a quasi-identifier that an adversary takes as known is measured, so a guess is not enough
        return look.words if look.strong or not examined.known_to else None
    if examined.known_to or examined.role is Role.KEY or not look.strong:
        return None
    if look.pointing is Pointing.NUMBER:
        return None if examined.role is Role.HOUSEHOLD else look.words
    return look.words


def _is_coarse(data: Microdata, column: Column, shares: Shares) -> bool:
    """Whether a column holds ranges or groups that hardly any record has to itself: such a label numbers nobody."""
    return column.name in data.cells and share_unique([column], len(data)) < shares.alone


def _is_undecided(examined: Examination, facts: Facts) -> bool:
    """Whether nobody decided on the column; a text with the role weight can be no weight."""
    return examined.undecided or (examined.role is Role.WEIGHT and facts.is_text and not examined.adversaries)


def _is_key_by_name(name: str) -> bool:
    kind = look_up_name(name).kind
    return kind is not None and kind.role is Role.KEY


def _shown(examined: Examination, paired: Paired | None) -> NDArray[np.bool_] | None:
    """For each released row whether its cell still shows the true value; None where all do, or no original is at hand."""
    if paired is None or not examined.changed or examined.name not in paired.original.columns:
        return None
    shown = np.ones(len(paired.data), dtype=np.bool_)
    shown[paired.rows] = shows_truth(paired.released(examined.name), paired.truth(examined.name))
    return shown


def _share_singled(column: Column, shown: NDArray[np.bool_], records: int) -> float:
    """The share of the records whose released value nobody shares, and shows the true one."""
    if not records:
        return 0.0
    counts = np.bincount(column.codes, minlength=column.cardinality)
    if column.has_null:
        counts[-1] = 0
    return float(((counts[column.codes] == 1) & shown).sum() / records)


def _rows_are_alike(column: Column, ids: NDArray[np.int64]) -> bool:
    """Whether rows that share a value agree on the quasi-identifiers far more often than other rows do."""
    present = np.flatnonzero(~column.is_null)
    order = present[np.argsort(column.codes[present], kind="stable")]
    codes, classes = column.codes[order], ids[order]
    inside = codes[1:] == codes[:-1]
    if int(inside.sum()) < LEAST_SINGLED:
        return False
    agreeing = float((classes[1:] == classes[:-1])[inside].mean())
    sizes = np.bincount(ids).astype(np.float64)
    chance = float(np.square(sizes / max(len(ids), 1)).sum())
    return chance < 1 and (agreeing - chance) / (1 - chance) >= _ALIKE


def pointless_thresholds(parameters: Mapping[str, float]) -> list[str]:
    """What the thresholds of a policy leave unchecked, in words; each is a gap."""
    sentences = []
    for name, most, consequence in _SENSIBLE:
        if parameters[name] > most:
            sentences.append(
                f"the policy sets coverage.{name} to {parameters[name]:g}, so {consequence}; at most {most:g} makes it a check"
            )
    if parameters["together"] < 2:
        sentences.append("the policy sets coverage.together to 1, so columns that nobody looked at are not tried together")
    return sentences


_SENSIBLE = (
    ("singled_out", 0.5, "a column that nobody looked at and that singles out most of the records is no concern"),
    ("singled_together", 0.8, "columns that nobody looked at and that together single out most of the records are no concern"),
    ("restored", 0.95, "a masked column of which nearly all values can be restored is no concern"),
    ("gain", 0.8, "a masked column that released ones restore far better than the best guess may be no concern"),
)
