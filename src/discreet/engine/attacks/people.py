"""Who is attacked: people in the release, and people who are not, as a control."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.encoding.policy_tables import load_table
from discreet.engine.encoding.record_links import require_original_rows
from discreet.errors import DataError, nearest
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

Attacks = Annotated[int, Field(ge=1)] | Literal["all"]
_NOT_KNOWN = (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD, Role.WEIGHT)


@dataclass(frozen=True)
class People:
    """The true values of the people who are attacked.

    ``frame`` has one row per person: first ``members``, people whose record is in the release, then the control people. ``rows``
    is the released row of each member, -1 where the release has no record that is known to be theirs.
    """

    frame: pl.DataFrame
    members: int
    rows: NDArray[np.int64]

    def split(self, successes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """One value per person as those of the members and those of the control people."""
        return successes[: self.members], successes[self.members :]


def comparable_columns(data: Microdata, original: Microdata) -> list[str]:
    """The columns that both tables have and that are no identifiers or weights, in the original's order."""
    released = set(data.columns)
    return [name for name in original.columns if name in released and original.attribute(name).role not in _NOT_KNOWN]


def known_columns(named: Sequence[str], data: Microdata, original: Microdata, measure: str) -> list[str]:
    """The columns that the intruder knows: those named, else the quasi-identifiers that both tables have."""
    for name in named:
        data.attribute(name)
        original.attribute(name)
    known = list(named) or [name for name in original.named(Role.KEY) if name in data.columns]
    if not known:
        raise DataError(f"{measure} needs columns that the intruder knows: give known, or an attribute the role key")
    return known


def gather_people(
    data: Microdata, original: Microdata, columns: Sequence[str], measure: str, attacks: Attacks, control: Any = None
) -> People:
    """The people to attack, drawn at random where there are more than ``attacks``, once of members and once of control people.

    A member is an original record with a released row; an original without one, because it was held out or sampled away, is a
    control person, and so is each row of ``control``. Where no released row is known to be anybody's (a simulated table), every
    original is a member. Draws depend on the number of a record, not on the order of the rows.
    """
    links = require_original_rows(data, original, measure)
    row_of = np.full(len(original), -1, dtype=np.int64)
    row_of[links[links >= 0]] = np.flatnonzero(links >= 0)
    inside = row_of >= 0
    if not inside.any():
        inside[:] = True
    members = _draw(np.flatnonzero(inside), original, attacks, "members")
    outside = _draw(np.flatnonzero(~inside), original, attacks, "control")
    frame = original.frame.select(columns)
    parts = [frame[members], frame[outside]]
    if control is not None:
        parts.append(_read_control(control, original, columns, measure, attacks))
    return People(pl.concat(parts), len(members), row_of[members])


def _draw(rows: NDArray[np.int64], original: Microdata, attacks: Attacks, stream: str) -> NDArray[np.int64]:
    if attacks == "all" or len(rows) <= attacks:
        return rows
    return np.sort(rows[KeyedDraw(0).order(original.records[rows], f"attacks {stream}")[:attacks]])


def _read_control(control: Any, original: Microdata, columns: Sequence[str], measure: str, attacks: Attacks) -> pl.DataFrame:
    """The control table with the original's types."""
    table = load_table(control, original.policy)
    absent = next((name for name in columns if name not in table.columns), None)
    if absent is not None:
        raise DataError(f"{measure}: the control table has no column '{absent}'; {nearest(absent, table.columns)}")
    try:
        typed = table.select(columns).cast({name: original.schema[name] for name in columns})
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{measure}: the control table is not written like the original: {error}") from None
    if attacks == "all" or typed.height <= attacks:
        return typed
    return typed[np.sort(KeyedDraw(0).order(np.arange(typed.height), "attacks control table")[:attacks])]
