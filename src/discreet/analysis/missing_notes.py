"""What a profile says of texts that read like a missing value: which count as missing, which as a category, how to change it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import yaml

_MOST_LISTED = 4


def describe_categories(like_missing: Mapping[str, int], missing: Collection[str]) -> str:
    """The texts of a column that read like a missing value and are not in ``missing``; empty where there are none.

    >>> describe_categories({"NA": 30, "?": 1}, ["?"])
    "'NA' (30 records) reads like a missing value and is treated as a category"
    """
    kept = [f"{text!r} ({_format_records(records)})" for text, records in like_missing.items() if text not in missing]
    one = len(kept) == 1
    reads, treated = ("reads", "is") if one else ("read", "are")
    return f"{', '.join(kept)} {reads} like a missing value and {treated} treated as a category" if kept else ""


def note_texts_like_missing(columns: Iterable[tuple[str, Mapping[str, int], Collection[str]]]) -> tuple[str, ...]:
    """A note for every text that reads like a missing value; of a column: its name, its texts with records, its ``missing``."""
    categories: dict[str, list[str]] = {}
    proposed: dict[str, list[str]] = {}
    for name, like_missing, missing in columns:
        for text, records in like_missing.items():
            places = proposed if text in missing else categories
            places.setdefault(text, []).append(f"{name} ({_format_records(records)})")
    notes = []
    for text, places_of_text in categories.items():
        field = _as_field([text])
        notes.append(
            f"{text!r} reads like a missing value and is treated as a category in {_list(places_of_text)}; "
            f"where it means missing, write {field} at the attribute, or {field} at the top of the policy for all attributes"
        )
    for text, places_of_text in proposed.items():
        notes.append(
            f"{text!r} is proposed as a missing value in {_list(places_of_text)}; where it is a category, write missing: [] "
            "at the attribute"
        )
    return tuple(notes)


def describe_codes(codes: Mapping[str, int], others: str, missing: Collection[str]) -> str:
    """The numbers of a column that read like codes for a missing value, and what counts them as missing.

    >>> describe_codes({"999": 30}, "16 to 98", [])
    "999 (30 records) lies outside all other values (16 to 98) and reads like a code for a missing value; where it is one, write \
missing: ['999']"
    """
    numbers = ", ".join(f"{text} ({_format_records(records)})" for text, records in codes.items())
    lie, read, code = ("lies", "reads", "a code") if len(codes) == 1 else ("lie", "read", "codes")
    sentence = f"{numbers} {lie} outside all other values ({others}) and {read} like {code} for a missing value"
    open_codes = [text for text in codes if text not in missing]
    is_one = "it is one" if len(open_codes) == 1 else "they are such codes"
    return f"{sentence}; where {is_one}, write {_as_field([*missing, *open_codes])}" if open_codes else sentence


def note_codes(columns: Iterable[tuple[str, Mapping[str, int], Collection[str]]]) -> tuple[str, ...]:
    """A note for every set of codes; of a column: its name, its codes with records, its ``missing``."""
    undecided: dict[tuple[str, ...], list[str]] = {}
    proposed: dict[tuple[str, ...], list[str]] = {}
    for name, codes, missing in columns:
        for kept, places in ((True, undecided), (False, proposed)):
            own = tuple(text for text in codes if (text not in missing) is kept)
            if own:
                places.setdefault(own, []).append(f"{name} ({_format_records(sum(codes[text] for text in own))})")
    notes = []
    for numbers, columns_with in undecided.items():
        may_be = "may be a code for a missing value and is treated as a number; where it is such a code"
        may_be = (
            may_be
            if len(numbers) == 1
            else "may be codes for a missing value and are treated as numbers; where they are such codes"
        )
        where = f"{', '.join(numbers)} outside all other values in {_list(columns_with)}"
        notes.append(f"{where} {may_be}, write {_as_field(numbers)} at the attribute")
    for numbers, columns_with in proposed.items():
        because = "because no other value is negative; where it is a number, write missing: [] at the attribute"
        notes.append(f"{', '.join(numbers)} is proposed as a missing value in {_list(columns_with)}, {because}")
    return tuple(notes)


def _as_field(texts: Collection[str]) -> str:
    """The line of a policy that says that these texts mean missing."""
    return f"missing: {yaml.safe_dump(list(texts), default_flow_style=True, allow_unicode=True, width=1_000).strip()}"


def _format_records(records: int) -> str:
    return "1 record" if records == 1 else f"{records:,} records"


def _list(places: list[str]) -> str:
    more = len(places) - _MOST_LISTED
    shown = ", ".join(places[:_MOST_LISTED])
    return f"{shown} and {more:,} more columns" if more > 1 else ", ".join(places)
