r"""Dictionaries: the side information that ties a disclosed record to people (seed 004, section 2).

A dictionary is a table of people whose columns are attributes of the microdata, under its own names. Where none is
given the microdata is its own dictionary, which is k-anonymity's assumption. Definition 8 orders dictionaries:
$\theta \preceq \eta$ where every person of $\theta$ is in $\eta$ and whatever $\eta$ says of him $\theta$ says too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, model_validator

from discreet.engine.encoding.policy_tables import file_version, load_table
from discreet.engine.encoding.shared_codes import to_common_type
from discreet.errors import DataError, ParameterError, nearest
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata

WHO = (Role.IDENTIFIER, Role.PERSON)
_NO_SIDE_INFORMATION = (*WHO, Role.WEIGHT)


class DictionaryFile(BaseModel):
    """Where a dictionary lies, and what its columns are called in the microdata."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str = Field(description="a file, or a database table as URL#table")
    columns: dict[str, str] = Field(default_factory=dict, description="its column: the microdata's attribute, where names differ")
    name: str | None = Field(default=None, description="what the dictionary is called; its file where absent")

    @model_validator(mode="before")
    @classmethod
    def _a_text_is_a_file(cls, value: Any) -> Any:
        return {"file": str(value)} if isinstance(value, str | Path) else value

    @property
    def called(self) -> str:
        return self.name or self.file


def as_list(value: Any) -> Any:
    """What stands behind ``dictionary:`` as a list: nothing, one file, or several."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def check_prior(files: Sequence[DictionaryFile], prior: Mapping[str, float]) -> None:
    """Raise ValueError where dictionaries share a name or the prior is no distribution over them."""
    names = [file.called for file in files]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two dictionaries are called '{twice}'; give each a name of its own")
    if not prior:
        return
    if not files:
        raise ValueError("a prior speaks of dictionaries, but none is named")
    for name, probability in prior.items():
        if sum(name in (file.called, file.file) for file in files) != 1:
            raise ValueError(f"the prior names '{name}', which is not one of the dictionaries; {nearest(name, names)}")
        if not 0 <= probability <= 1:
            raise ValueError(f"the prior of '{name}' must lie between 0 and 1; got {probability!r}")
    if silent := next((file.called for file in files if file.called not in prior and file.file not in prior), None):
        raise ValueError(f"the prior says nothing of '{silent}'; give it a probability (0 where it cannot be)")
    if not math.isclose(total := math.fsum(prior.values()), 1.0, rel_tol=0, abs_tol=1e-9):
        raise ValueError(f"the prior must sum to 1; it sums to {total:g}")


def prior_of(files: Sequence[DictionaryFile], prior: Mapping[str, float]) -> list[float] | None:
    """The probability of each dictionary in turn, or None where there is no prior."""
    if not prior:
        return None
    return [prior[file.called] if file.called in prior else prior[file.file] for file in files]


@dataclass(frozen=True)
class Dictionary:
    """A dictionary under the microdata's names: ``attributes`` are those it shares with the microdata."""

    name: str
    frame: pl.DataFrame
    attributes: tuple[str, ...]
    identifier: str | None
    is_self: bool = False

    def __len__(self) -> int:
        return self.frame.height


def side_attributes(data: Microdata) -> list[str]:
    """Attributes of which side information may speak: all but identifiers, persons and survey weights."""
    hidden = set(data.named(*_NO_SIDE_INFORMATION))
    return [name for name in data.columns if name not in hidden]


def load_dictionaries(files: Sequence[DictionaryFile], data: Microdata, itself: Microdata | None = None) -> list[Dictionary]:
    """The dictionaries, each checked against the microdata; ``itself`` (or the microdata) where no file is named."""
    if not files:
        return [own_dictionary(data, itself or data)]
    return [_loaded(file, data) for file in files]


def _loaded(file: DictionaryFile, data: Microdata) -> Dictionary:
    """A dictionary, kept with the microdata for as long as its file stays as it is; a table of a database is read each time."""
    kept: dict[Any, tuple[Any, Dictionary]] = data.cache.setdefault("dictionaries", {})
    key = (file.model_dump_json(), tuple(data.columns), data.policy.missing)
    now = file_version(file.file, data.policy)
    if now is None or key not in kept or kept[key][0] != now:
        kept[key] = now, _checked(file, load_table(file.file, data.policy), data)
    return kept[key][1]


def own_dictionary(data: Microdata, itself: Microdata) -> Dictionary:
    """The microdata as its own dictionary: its keys, or all attributes where none is a key."""
    shared = [name for name in itself.named(Role.KEY) if name in data.columns]
    shared = shared or [name for name in side_attributes(itself) if name in data.columns]
    if not shared:
        raise DataError(f"{data.source} has no attribute that could be side information: all are identifiers or weights")
    return Dictionary("the microdata itself", itself.frame, tuple(shared), _identifier(data, itself.frame), is_self=True)


def _checked(file: DictionaryFile, frame: pl.DataFrame, data: Microdata) -> Dictionary:
    for column, attribute in file.columns.items():
        if column not in frame.columns:
            raise ParameterError(f"the dictionary '{file.called}' has no column '{column}'; {nearest(column, frame.columns)}")
        if attribute not in data.columns and attribute not in data.policy.attributes:
            raise ParameterError(
                f"the dictionary '{file.called}' maps '{column}' to '{attribute}', which is no attribute of {data.source}; "
                f"{nearest(attribute, data.columns)}"
            )
    if len(set(file.columns.values())) < len(file.columns):
        raise ParameterError(f"the dictionary '{file.called}' maps two columns to one attribute")
    taken = set(file.columns.values()) - set(file.columns)
    frame = frame.drop([name for name in taken if name in frame.columns]).rename(dict(file.columns))
    shared = tuple(name for name in side_attributes(data) if name in frame.columns)
    if not shared:
        raise DataError(
            f"the dictionary '{file.called}' shares no attribute with {data.source}; its columns are "
            f"{', '.join(frame.columns)}; name the pairs under columns: {{their column: our attribute}}"
        )
    identifier = _identifier(data, frame)
    if identifier is not None and identifier in data.columns and len(data) and frame.height:
        ours, theirs = to_common_type(data.frame[identifier], frame[identifier])
        if ours.drop_nulls().len() and not ours.is_in(theirs.drop_nulls().implode()).any():
            raise DataError(
                f"no value of the identifier '{identifier}' of {data.source} stands in the dictionary '{file.called}' "
                f"(such as '{ours.drop_nulls()[0]}' here and '{theirs[0]}' there); rename or drop that column "
                "if it means something else"
            )
    return Dictionary(file.called, frame, shared, identifier)


def _identifier(data: Microdata, frame: pl.DataFrame) -> str | None:
    """A_1: the first identifier or person of the policy that the dictionary has too."""
    return next((name for name in data.policy.named(*WHO) if name in frame.columns), None)


@dataclass(frozen=True)
class Relation:
    """Whether one dictionary stands below another in Definition 8's order, and why not."""

    holds: bool
    reason: str = ""


def precedes(theta: Dictionary, eta: Dictionary, attributes: Sequence[str]) -> Relation:
    """Test theta <= eta on the attributes of the microdata: each person of theta is in eta, which says no more of him."""
    who = theta.identifier
    if who is None or who != eta.identifier:
        return Relation(False, "they share no identifier by which a person of one could be found in the other")
    ours, theirs = to_common_type(theta.frame[who], eta.frame[who])
    if ours.null_count() or ours.n_unique() < ours.len():
        return Relation(False, f"the identifier '{who}' of '{theta.name}' is missing or stands twice")
    spoken = [name for name in attributes if name in eta.frame.columns and eta.frame[name].null_count() < len(eta)]
    if silent := next((name for name in spoken if name not in theta.frame.columns), None):
        return Relation(False, f"'{eta.name}' says '{silent}', of which '{theta.name}' is silent")
    left = pl.DataFrame({"who": ours, "row": np.arange(ours.len())})
    right = pl.DataFrame({"who": theirs, "other": np.arange(theirs.len())})
    pairs = left.join(right, on="who", how="inner")
    fits = np.ones(pairs.height, dtype=np.bool_)
    mine, other = pairs["row"].to_numpy(), pairs["other"].to_numpy()
    for name in spoken:
        one, two = to_common_type(theta.frame[name], eta.frame[name])
        one, two = one[mine], two[other]
        fits &= (two.is_null() | one.eq_missing(two)).to_numpy()
    covered = np.zeros(len(theta), dtype=np.bool_)
    covered[mine[fits]] = True
    if covered.all():
        return Relation(True)
    absent = len(theta) - int(ours.is_in(theirs.drop_nulls().implode()).sum())
    return Relation(
        False,
        f"{absent:,} of its people are not in '{eta.name}'"
        if absent
        else f"'{eta.name}' says something else of {int((~covered).sum()):,} of its people",
    )
