r"""Dictionaries: the side information that links a disclosed record to persons (Lebanon et al., section 2).

A dictionary is a table of persons whose columns are attributes of the microdata, perhaps under other names. Default: the
microdata is its own dictionary, which is the assumption of k-anonymity. Definition 8 orders dictionaries: $\theta \preceq \eta$
where every person of $\theta$ is in $\eta$ and $\theta$ holds all values of this person that $\eta$ holds.
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

PERSON_ROLES = (Role.IDENTIFIER, Role.PERSON)
_NO_SIDE_INFORMATION = (*PERSON_ROLES, Role.WEIGHT)


class DictionaryFile(BaseModel):
    """The file of a dictionary, and the attributes of the microdata that its columns correspond to."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str = Field(description="a file, or a database table as URL#table")
    columns: dict[str, str] = Field(
        default_factory=dict, description="column of the dictionary: attribute of the microdata, where the names differ"
    )
    name: str | None = Field(default=None, description="name of the dictionary; default: its file")

    @model_validator(mode="before")
    @classmethod
    def _a_text_is_a_file(cls, value: Any) -> Any:
        return {"file": str(value)} if isinstance(value, str | Path) else value

    @property
    def label(self) -> str:
        return self.name or self.file


def as_list(value: Any) -> Any:
    """The value of ``dictionary:`` as a tuple: nothing, one file, or several."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def check_prior(files: Sequence[DictionaryFile], prior: Mapping[str, float]) -> None:
    """Raise ValueError where dictionaries share a name or the prior is not a distribution over them."""
    names = [file.label for file in files]
    if duplicate := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two dictionaries are named '{duplicate}'; give each its own name")
    if not prior:
        return
    if not files:
        raise ValueError("a prior needs dictionaries, but none is named")
    for name, probability in prior.items():
        if sum(name in (file.label, file.file) for file in files) != 1:
            raise ValueError(f"the prior names '{name}', which is not one of the dictionaries; {nearest(name, names)}")
        if not 0 <= probability <= 1:
            raise ValueError(f"the prior of '{name}' must lie between 0 and 1; got {probability!r}")
    if missing := next((file.label for file in files if file.label not in prior and file.file not in prior), None):
        raise ValueError(f"the prior has no probability for '{missing}'; give it one (0 where it is impossible)")
    if not math.isclose(total := math.fsum(prior.values()), 1.0, rel_tol=0, abs_tol=1e-9):
        raise ValueError(f"the prior must sum to 1; it sums to {total:g}")


def prior_of(files: Sequence[DictionaryFile], prior: Mapping[str, float]) -> list[float] | None:
    """The probability of each dictionary, in order; None where there is no prior."""
    if not prior:
        return None
    return [prior[file.label] if file.label in prior else prior[file.file] for file in files]


@dataclass(frozen=True)
class Dictionary:
    """A dictionary with the microdata's column names; ``attributes`` are those that it shares with the microdata."""

    name: str
    frame: pl.DataFrame
    attributes: tuple[str, ...]
    identifier: str | None
    is_self: bool = False

    def __len__(self) -> int:
        return self.frame.height


def side_attributes(data: Microdata) -> list[str]:
    """Attributes that may be side information: all but identifiers, persons and sampling weights."""
    hidden = set(data.named(*_NO_SIDE_INFORMATION))
    return [name for name in data.columns if name not in hidden]


def load_dictionaries(files: Sequence[DictionaryFile], data: Microdata, itself: Microdata | None = None) -> list[Dictionary]:
    """The dictionaries, each checked against the microdata; default: ``itself``, or the microdata."""
    if not files:
        return [own_dictionary(data, itself or data)]
    return [_load_cached(file, data) for file in files]


def _load_cached(file: DictionaryFile, data: Microdata) -> Dictionary:
    """A dictionary, cached with the microdata until its file changes; a database table is read each time."""
    cached: dict[Any, tuple[Any, Dictionary]] = data.cache.setdefault("dictionaries", {})
    key = (file.model_dump_json(), tuple(data.columns), data.policy.missing)
    version = file_version(file.file, data.policy)
    if version is None or key not in cached or cached[key][0] != version:
        cached[key] = version, _check_dictionary(file, load_table(file.file, data.policy), data)
    return cached[key][1]


def own_dictionary(data: Microdata, itself: Microdata) -> Dictionary:
    """The microdata as its own dictionary: its keys, or all attributes where none is a key."""
    shared = [name for name in itself.named(Role.KEY) if name in data.columns]
    shared = shared or [name for name in side_attributes(itself) if name in data.columns]
    if not shared:
        raise DataError(f"{data.source} has no attribute that could be side information: all are identifiers or weights")
    return Dictionary("the microdata itself", itself.frame, tuple(shared), _identifier(data, itself.frame), is_self=True)


def _check_dictionary(file: DictionaryFile, frame: pl.DataFrame, data: Microdata) -> Dictionary:
    for column, attribute in file.columns.items():
        if column not in frame.columns:
            raise ParameterError(f"the dictionary '{file.label}' has no column '{column}'; {nearest(column, frame.columns)}")
        if attribute not in data.columns and attribute not in data.policy.attributes:
            raise ParameterError(
                f"the dictionary '{file.label}' maps '{column}' to '{attribute}', which is not an attribute of {data.source}; "
                f"{nearest(attribute, data.columns)}"
            )
    if len(set(file.columns.values())) < len(file.columns):
        raise ParameterError(f"the dictionary '{file.label}' maps two columns to one attribute")
    taken = set(file.columns.values()) - set(file.columns)
    frame = frame.drop([name for name in taken if name in frame.columns]).rename(dict(file.columns))
    shared = tuple(name for name in side_attributes(data) if name in frame.columns)
    if not shared:
        raise DataError(
            f"the dictionary '{file.label}' shares no attribute with {data.source}; its columns are "
            f"{', '.join(frame.columns)}; name the pairs under columns: {{their column: our attribute}}"
        )
    identifier = _identifier(data, frame)
    if identifier is not None and identifier in data.columns and len(data) and frame.height:
        own_values, dictionary_values = to_common_type(data.frame[identifier], frame[identifier])
        if own_values.drop_nulls().len() and not own_values.is_in(dictionary_values.drop_nulls().implode()).any():
            raise DataError(
                f"no value of the identifier '{identifier}' of {data.source} occurs in the dictionary '{file.label}' "
                f"(such as '{own_values.drop_nulls()[0]}' here and '{dictionary_values[0]}' there); rename or drop that column "
                "if it means something else"
            )
    return Dictionary(file.label, frame, shared, identifier)


def _identifier(data: Microdata, frame: pl.DataFrame) -> str | None:
    """A_1: the first identifier or person attribute of the policy that the dictionary has too."""
    return next((name for name in data.policy.named(*PERSON_ROLES) if name in frame.columns), None)


@dataclass(frozen=True)
class Relation:
    """Whether one dictionary precedes another in the order of Definition 8, and if not, why."""

    holds: bool
    reason: str = ""


def precedes(theta: Dictionary, eta: Dictionary, attributes: Sequence[str]) -> Relation:
    """Test theta <= eta on the attributes of the microdata: eta contains each person of theta and no further values of them."""
    identifier = theta.identifier
    if identifier is None or identifier != eta.identifier:
        return Relation(False, "they share no identifier by which persons could be matched")
    theta_ids, eta_ids = to_common_type(theta.frame[identifier], eta.frame[identifier])
    if theta_ids.null_count() or theta_ids.n_unique() < theta_ids.len():
        return Relation(False, f"the identifier '{identifier}' of '{theta.name}' has nulls or duplicates")
    stated = [name for name in attributes if name in eta.frame.columns and eta.frame[name].null_count() < len(eta)]
    if missing := next((name for name in stated if name not in theta.frame.columns), None):
        return Relation(False, f"'{eta.name}' holds '{missing}', which '{theta.name}' does not")
    left = pl.DataFrame({"who": theta_ids, "row": np.arange(theta_ids.len())})
    right = pl.DataFrame({"who": eta_ids, "other": np.arange(eta_ids.len())})
    pairs = left.join(right, on="who", how="inner")
    fits = np.ones(pairs.height, dtype=np.bool_)
    theta_rows, eta_rows = pairs["row"].to_numpy(), pairs["other"].to_numpy()
    for name in stated:
        theta_values, eta_values = to_common_type(theta.frame[name], eta.frame[name])
        theta_values, eta_values = theta_values[theta_rows], eta_values[eta_rows]
        fits &= (eta_values.is_null() | theta_values.eq_missing(eta_values)).to_numpy()
    covered = np.zeros(len(theta), dtype=np.bool_)
    covered[theta_rows[fits]] = True
    if covered.all():
        return Relation(True)
    absent = len(theta) - int(theta_ids.is_in(eta_ids.drop_nulls().implode()).sum())
    return Relation(
        False,
        f"{absent:,} of its persons are not in '{eta.name}'"
        if absent
        else f"'{eta.name}' has other values for {int((~covered).sum()):,} of its persons",
    )
