"""What coverage found, as numbers, one row per column, and sentences that name the columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import polars as pl

from discreet.model.attribute import Role
from discreet.model.score import Score
from discreet.risks.coverage.examined import Examination
from discreet.risks.coverage.read_back import ReadBack
from discreet.risks.coverage.restoring import Restored
from discreet.risks.coverage.singling import Combination, WithKeys

_MOST_NAMED = 8
_LEAST_TOLD = 5


@dataclass
class Findings:
    """All that one measurement found; ``score`` sums it up."""

    examined: list[Examination]
    looks: dict[str, str] = field(default_factory=dict)
    uniqueness: dict[str, float] = field(default_factory=dict)
    singling: list[str] = field(default_factory=list)
    combinations: list[Combination] = field(default_factory=list)
    with_keys: list[WithKeys] = field(default_factory=list)
    unread_keys: list[str] = field(default_factory=list)
    masked: dict[str, int] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    restored: dict[str, Restored] = field(default_factory=dict)
    given_back: dict[str, ReadBack] = field(default_factory=dict)
    accepted: set[str] = field(default_factory=set)
    sampled: tuple[int, int] = (0, 0)
    gaps: list[str] = field(default_factory=list)

    @property
    def identifying(self) -> list[str]:
        return [column.name for column in self.examined if column.name in self.looks or column.name in self.singling]

    @property
    def unexamined(self) -> list[str]:
        together = {name for finding in self.combinations for name in finding.columns}
        split = {name for finding in self.with_keys for name in finding.columns}
        listed = {*self.identifying, *together, *split, *self.unread_keys}
        return [column.name for column in self.examined if column.name in listed]

    @property
    def restorable(self) -> list[Restored]:
        return [restored for name, restored in self.restored.items() if restored.clear and name not in self.accepted]

    @property
    def shown_again(self) -> list[ReadBack]:
        return [group for name, group in self.given_back.items() if name not in self.accepted]

    def score(self, measure: str, *, measured: bool) -> Score:
        """The summary, one row per column, and the gaps; restoring is null where no original could be compared."""
        summary = {
            "unexamined": len(self.unexamined),
            "identifying": len(self.identifying),
            "restorable": len(self.restorable) if measured else None,
            "read_back": sum(group.cells for group in self.shown_again) if measured else None,
        }
        gaps = (*self.sentences(), *self.gaps)
        return Score(measure, summary, per_attribute=self.per_attribute(), notes=self.notes(gaps), gaps=gaps)

    def sentences(self) -> list[str]:
        """One sentence per concern; each names its columns and what would settle it."""
        of = {column.name: column for column in self.examined}
        concerns = [
            f"{_subject(of[name], f'looks like {look}')}: {_remedy(of[name])}, remove it, or write accepted: with your reason"
            for name, look in self.looks.items()
        ]
        concerns += [
            f"{_subject(of[name], f'singles out {self.uniqueness[name]:.1%} of the records by itself')}: {_remedy(of[name])}, "
            "mask it, or write accepted: with your reason"
            for name in self.singling
        ]
        concerns += [
            f"nobody looked at {_quoted(finding.columns)}, which together single out {finding.share:.1%} of the records: give "
            "them roles, mask one, or write accepted: with your reason"
            for finding in self.combinations
        ]
        concerns += [_split(finding, of[finding.columns[0]]) for finding in self.with_keys]
        concerns += [
            f"'{name}' has the role key, but no risk measure with a limit takes it as known: name it in keys, give it a "
            "probability known above epsilon, set a limit on a measure that reads it, mask it to one value, or write accepted: "
            "with your reason"
            for name in self.unread_keys
        ]
        concerns += [_restored(finding, finding.column in self.removed) for finding in self.restorable]
        concerns += [
            f"{_few(finding.cells)} of {_few(finding.masked)} masked values of '{finding.column}' are shown by other rows with "
            f"the same released value of '{finding.group}', in which it does not vary: mask it in all rows of such "
            f"a group, mask '{finding.group}' further, or remove '{finding.group}'"
            for finding in self.shown_again
        ]
        return concerns

    def notes(self, gaps: Iterable[str]) -> tuple[str, ...]:
        """Acceptances first, then the concerns, then how restoring was measured."""
        notes = [
            f"accepted by the owner: '{column.name}' ({column.accepted})"
            for column in self.examined
            if column.accepted is not None
        ]
        notes += gaps
        drawn, all_of_them = self.sampled
        if self.masked and drawn < all_of_them:
            notes.append(
                f"restored shares without an exact relation are those of held-out records of a sample of {drawn:,} of "
                f"{all_of_them:,} records; relations and values in other rows are counted on all"
            )
        return tuple(notes)

    def per_attribute(self) -> pl.DataFrame:
        """One row per released column, then one per removed column that released ones restore."""
        together = {name: finding for finding in self.combinations for name in finding.columns}
        beside = {name: finding for finding in self.with_keys for name in finding.columns}
        rows = [
            self._row(
                column.name,
                released=True,
                role=column.role.value,
                steps=", ".join(column.steps) or ("changed" if column.changed else ""),
                adversaries=", ".join(column.adversaries),
                accepted=column.accepted,
                with_others=together.get(column.name),
                with_keys=beside.get(column.name),
            )
            for column in self.examined
        ]
        rows += [
            self._row(name, released=False, role="", steps="removed", adversaries="", accepted=None)
            for name in self.removed
            if name in self.restored and self.restored[name].clear
        ]
        return pl.DataFrame(rows, schema=_SCHEMA)

    def _sources(self, name: str) -> list[str]:
        """The released columns that give a masked one back, unless its owner accepted that."""
        back, given = self.restored.get(name), self.given_back.get(name)
        sources = list(back.sources) if back is not None and back.clear else []
        return [] if name in self.accepted else list(dict.fromkeys([*sources, *([given.group] if given is not None else [])]))

    def _row(
        self,
        name: str,
        *,
        released: bool,
        role: str,
        steps: str,
        adversaries: str,
        accepted: str | None,
        with_others: Combination | None = None,
        with_keys: WithKeys | None = None,
    ) -> dict[str, object]:
        back, given = self.restored.get(name), self.given_back.get(name)
        concerns = []
        if name in self.looks:
            concerns.append(f"looks like {self.looks[name]}")
        if name in self.singling:
            concerns.append(f"singles out {self.uniqueness[name]:.1%}")
        if with_others is not None:
            others = [other for other in with_others.columns if other != name]
            concerns.append(f"singles out {with_others.share:.1%} with {_quoted(others)}")
        if with_keys is not None:
            others = [other for other in (*with_keys.columns, *with_keys.keys) if other != name]
            concerns.append(f"singles out {_few(with_keys.alone)} of {with_keys.records:,} records with {_quoted(others)}")
        if name in self.unread_keys:
            concerns.append("a key that no risk measure with a limit takes as known")
        if back is not None and back.clear:
            concerns.append(f"{back.share:.1%} restored from {_from(back)}")
        if given is not None:
            concerns.append(f"{_few(given.cells)} values are shown by rows with the same '{given.group}'")
        return {
            "attribute": name,
            "released": released,
            "role": role,
            "steps": steps,
            "adversaries": adversaries,
            "accepted": accepted,
            "uniqueness": self.uniqueness.get(name),
            "looks_like": self.looks.get(name),
            "masked": self.masked.get(name, 0),
            "restored_share": back.share if back is not None else None,
            "baseline_share": back.baseline if back is not None else None,
            "restored_from": _from(back) if back is not None and back.clear else None,
            "read_back": given.cells if given is not None else 0,
            "sources": self._sources(name),
            "concern": "; ".join(concerns) or None,
        }


_SCHEMA: dict[str, type[pl.DataType] | pl.DataType] = {
    "attribute": pl.String, "released": pl.Boolean, "role": pl.String, "steps": pl.String, "adversaries": pl.String,
    "accepted": pl.String, "uniqueness": pl.Float64, "looks_like": pl.String, "masked": pl.Int64, "restored_share": pl.Float64,
    "baseline_share": pl.Float64, "restored_from": pl.String, "read_back": pl.Int64,
    "sources": pl.List(pl.String), "concern": pl.String,
}  # fmt: skip


def _restored(restored: Restored, removed: bool) -> str:
    what = "removed" if removed else "masked"
    how = "exactly" if restored.exact else "to within a twentieth of the records" if restored.nearly else "correctly"
    return (
        f"'{restored.column}' was {what}, but {_from(restored)} {'restores' if restored.rule in restored.sources else 'restore'} "
        f"{restored.share:.1%} of its values {how}; the best "
        f"guess without other columns gets {restored.baseline:.1%}: mask "
        f"{'that column' if len(restored.sources) == 1 else 'one of those'} too, or write accepted: with your reason"
    )


def _subject(column: Examination, finding: str) -> str:
    """A column and what is the matter with it; where it has a role, that the role does not settle it."""
    if column.role is Role.OTHER and not column.adversaries:
        return f"nobody looked at '{column.name}', which {finding}"
    return f"'{column.name}' is released with the role {column.role.value}, and {finding}"


def _remedy(column: Examination) -> str:
    return "give it a role" if column.role is Role.OTHER else "mask it" if column.direct else "check its role"


def _split(split: WithKeys, first: Examination) -> str:
    """What columns add to the quasi-identifiers, in numbers of records."""
    pairs = f" and {_few(split.in_pairs)} in pairs" if split.in_pairs else ""
    before = _few(split.alone_by_keys) if split.alone_by_keys else "none"
    if split.rule:
        return (
            f"'{first.name}' is released with the role {first.role.value}, but whoever knows the quasi-identifiers knows it "
            f"({split.rule}): together with {_quoted(split.keys)} it singles out {_few(split.alone)} of {split.records:,} "
            f"records{pairs} ({before} without it): give it the role key, mask it, or write accepted: with your reason"
        )
    verb, them, remedy = ("singles", "it", "give it a role") if len(split.columns) == 1 else ("single", "them", "give them roles")
    return (
        f"nobody looked at {_quoted(split.columns)}, which together with {_quoted(split.keys)} {verb} out {_few(split.alone)} of "
        f"{split.records:,} records{pairs} ({before} without {them}): {remedy}, mask {them}, or write accepted: with your reason"
    )


def _few(count: int) -> str:
    """A count as reports may write it: one below five is not told."""
    return f"{count:,}" if count >= _LEAST_TOLD else f"fewer than {_LEAST_TOLD}"


def _from(restored: Restored) -> str:
    return f"'{restored.rule}'" if restored.rule in restored.sources else restored.rule


def _quoted(names: Iterable[str]) -> str:
    listed = [f"'{name}'" for name in names]
    more = len(listed) - _MOST_NAMED
    shown = listed[:_MOST_NAMED] + ([f"{more} more"] if more > 0 else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
