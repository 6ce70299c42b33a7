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
        field = f"missing: {yaml.safe_dump([text], default_flow_style=True, allow_unicode=True).strip()}"
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


def _format_records(records: int) -> str:
    return "1 record" if records == 1 else f"{records:,} records"


def _list(places: list[str]) -> str:
    more = len(places) - _MOST_LISTED
    shown = ", ".join(places[:_MOST_LISTED])
    return f"{shown} and {more:,} more columns" if more > 1 else ", ".join(places)
