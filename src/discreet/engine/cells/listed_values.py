"""Values that a policy lists and the table does not hold: a typing error, or a value that does not occur in this table.

A listed value that matches nothing weighs nothing, so that a typing error would lower a risk silently. Errors are:

* a listed weight of a value that does not occur;
* a list of weights of which nothing matches a value that occurs;
* a value of ``order`` or of the groups of a hierarchy or step that does not occur, where one does that differs by a misspelling
  only and is not listed itself;
* no value of a group of a step occurs.

An interval that holds no value of the table, beside listed ones that do occur, gives a warning: intervals divide a range, and a
small table need not reach into each of its parts. ``allow_absent: true`` at the attribute turns all of this off.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from discreet.engine.encoding.columns import Column, encode
from discreet.errors import ParameterError, PolicyError, nearest
from discreet.model.attribute import Attribute, text_forms
from discreet.model.cells import parse_group, parse_interval
from discreet.model.microdata import Microdata

_WORD = re.compile(r"[^\W\d_]{3,}(?:[ \-'][^\W\d_]+)*", re.UNICODE)
"""Words and names: of codes and numbers two that differ by one sign are two values, not one with a slip."""
_MANY = 100_000
_LEAST_NAME = 4
"""Letters of a column name from which one letter more or less is taken for a typing error."""


def check_listed_values(data: Microdata, *, initial: bool = True) -> list[str]:
    """Warnings of listed values that do not occur; raises PolicyError where that may be a typing error.

    A table that may be a release (not ``initial``) may have lost listed values of an attribute by masking: that gives a warning.
    """
    if initial:
        _check_column_names(data)
    warnings: list[str] = []
    for name in data.columns:
        attribute = data.attribute(name)
        groups = attribute.hierarchy.groups[0] if attribute.hierarchy is not None and attribute.hierarchy.groups else {}
        if attribute.allow_absent or name in data.cells or not (attribute.values or attribute.order or groups):
            continue
        warnings += check_column(encode(data, [name])[0], attribute, data.policy.origin, initial=initial)
    return warnings


def _check_column_names(data: Microdata) -> None:
    """Raise PolicyError where the policy names a column that the initial microdata lack, by what looks like a typing error.

    Identifiers, persons and households may be absent, because a release is read under the same policy: a misspelt one would
    leave the column without its role. A column of ``cells`` that does not exist leaves labels unexplained.
    """
    free = [name for name in data.columns if name not in data.policy.attributes]
    for name in data.policy.attributes:
        if name in data.columns:
            continue
        meant = next((column for column in free if _plain(column) == _plain(name) or _is_misspelt_name(name, column)), None)
        if meant is not None:
            raise PolicyError(
                f"{data.policy.origin}: the attribute '{name}' is not a column of {data.source}; did you mean '{meant}', which "
                "the policy does not name?"
            )
    for name in data.policy.cells:
        if name not in data.columns and name not in data.policy.attributes:
            raise PolicyError(
                f"{data.policy.origin}: 'cells' describes '{name}', which is not a column of {data.source}; "
                f"{nearest(name, data.columns)}"
            )


def _is_misspelt_name(first: str, second: str) -> bool:
    """Whether two column names differ by a letter more, less, other or transposed; numbered columns are different ones."""
    if min(len(first), len(second)) < _LEAST_NAME or re.sub(r"\D", "", first) != re.sub(r"\D", "", second):
        return False
    return _within_edits(first, second, 1)


def check_column(column: Column, attribute: Attribute, origin: str, *, initial: bool = True) -> list[str]:
    """The same for one column by its dictionary."""
    values = column.values.to_list()
    if attribute.allow_absent or not values:
        return []
    if any(isinstance(value, str) and (parse_group(value) or parse_interval(value)) for value in values):
        return []  # cells of a release stand for values that do not occur any more
    warnings = _check_weights(column.name, values, attribute, origin, initial=initial)
    groups = attribute.hierarchy.groups[0] if attribute.hierarchy is not None and attribute.hierarchy.groups else {}
    if not (attribute.order or groups) or len(values) > _MANY:
        return warnings
    texts = {text for value in values for text in text_forms(value)}
    for where, listed in (
        ("order", attribute.order or ()),
        ("hierarchy.groups", [value for members in groups.values() for value in members]),
    ):
        _find_slips(f"{column.name}.{where}", listed, texts, origin)
    return warnings


def _check_weights(name: str, values: Sequence[Any], attribute: Attribute, origin: str, *, initial: bool) -> list[str]:
    absent = _find_absent_keys(values, attribute)
    if not absent:
        return []
    texts = {text for value in values if attribute.listed_key(value) is None for text in text_forms(value)[:1]}
    where = f"{name}.values"
    single = [key for key in absent if parse_interval(key) is None]
    if len(texts) <= _MANY:
        _find_slips(where, single, texts, origin)
    if initial and len(absent) == len(attribute.values):
        raise PolicyError(
            f"{origin}: '{where}' matches no value of '{name}': {_quoted(absent)} {_verb(absent)} not occur; "
            f"{_hint(absent[0], texts)}; set allow_absent: true at '{name}' if that is right"
        )
    if initial and single:
        raise PolicyError(
            f"{origin}: '{where}' names {_quoted(single)}, which {_verb(single)} not occur; {_hint(single[0], texts)}; set "
            f"allow_absent: true at '{name}' if the list is for other tables too"
        )
    suggestion = f"; {_hint(absent[0], texts)}" if texts else ""
    return [f"'{where}' names {_quoted(absent)}, which {_verb(absent)} not occur in this table{suggestion}"]


def _find_absent_keys(values: Sequence[Any], attribute: Attribute) -> list[str]:
    """The listed weights that no value has; ends with the value that matches the last of them."""
    absent = dict.fromkeys(attribute.values)
    for value in values:
        if not absent:
            break
        if (key := attribute.listed_key(value)) is not None:
            absent.pop(key, None)
    return list(absent)


def _hint(key: str, texts: set[str]) -> str:
    """The value that may be meant, or some of the values that are not listed; without a search among very many."""
    if not texts:
        return "every value of the table is listed"
    return nearest(key, texts) if len(texts) <= _MANY else f"it has {len(texts):,} values that are not listed"


def check_groups(column: Column, groups: Mapping[str, Sequence[str]], attribute: Attribute, method: str) -> None:
    """Raise ParameterError for a group of a step of which no value occurs, or PolicyError for a misspelt value."""
    if attribute.allow_absent or not len(column.values):
        return
    texts = {text for value in column.values.to_list() for text in text_forms(value)}
    for label, members in groups.items():
        if texts.isdisjoint(members):
            suggestion = nearest(members[0] if members else "", texts)
            raise ParameterError(f"{method}.groups: no value of '{column.name}' stands in the group '{label}'; {suggestion}")
    if len(texts) <= _MANY:
        _find_slips(f"{column.name}: groups", [value for members in groups.values() for value in members], texts, method)


def _find_slips(where: str, listed: Iterable[str], texts: set[str], origin: str) -> None:
    """Raise PolicyError where a listed value does not occur and one that is nearly the same does."""
    listed = list(listed)
    absent = [value for value in listed if value not in texts]
    free = texts - set(listed)
    plain = {_plain(text): text for text in free}
    for value in absent:
        meant = plain.get(_plain(value)) or next((text for text in sorted(free) if _is_slip(value, text)), None)
        if meant is not None:
            raise PolicyError(
                f"{origin}: '{where}' names '{value}', which does not occur; did you mean '{meant}'? "
                f"(allow_absent: true at '{re.split('[.:]', where)[0]}' if both are right)"
            )


def _plain(text: str) -> str:
    return "".join(text.split()).casefold()


def _is_slip(first: str, second: str) -> bool:
    """Whether two words differ by one letter more, less, other or transposed; by two where they are long."""
    if not (_WORD.fullmatch(first) and _WORD.fullmatch(second)):
        return False
    most = 1 if min(len(first), len(second)) < 8 else 2
    return _within_edits(first, second, most)


def _within_edits(first: str, second: str, most: int) -> bool:
    """Whether two texts differ by at most so many typing errors, upper and lower case alike."""
    from rapidfuzz.distance import OSA  # loaded here, because most policies list no value that is absent

    return OSA.distance(first.casefold(), second.casefold(), score_cutoff=most) <= most


def _quoted(keys: Sequence[str]) -> str:
    shown = ", ".join(f"'{key}'" for key in keys[:5])
    return shown + (f" and {len(keys) - 5:,} more" if len(keys) > 5 else "")


def _verb(keys: Sequence[str]) -> str:
    return "does" if len(keys) == 1 else "do"
