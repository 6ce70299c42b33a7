"""How far the verdict of a report holds: what it rests on, and how wrong the guesses behind it may be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from discreet import verbs
from discreet.engine.runtime.dispatch import is_distributed
from discreet.engine.runtime.progress import OutOfTimeError
from discreet.errors import DataError, MemoryLimitError, ParameterError
from discreet.model.microdata import Microdata
from discreet.model.results import Assessment, Release
from discreet.report.sensitivity_charts import tornado_rows

_SECONDS = 20.0
"""About how long the searches of one report may take."""


def describe_how_far(original: Microdata, masked: Microdata | Release, assessment: Assessment) -> list[dict[str, Any]]:
    """For each measure whose numbers rest on guesses: sentences, and the rows of the tornado; nothing where it cannot be said."""
    if is_distributed(original):
        return []
    names = [name for name in assessment.after if name != "coverage"]
    first, second = (masked, None) if isinstance(masked, Release) else (original, masked)
    try:
        results = verbs.sensitivity(first, second, names, seconds=_SECONDS, one_by_one=False)
    except OutOfTimeError:
        return []
    except (DataError, ParameterError, MemoryLimitError) as error:
        sentence = f"How far this holds was not examined: {error}."
        return [{"measure": "", "strongest": None, "limited": False, "sentences": [sentence], "rows": []}]
    return [
        {
            "measure": name,
            "strongest": result.strongest,
            "limited": bool(result.verdicts),
            "sentences": list(result.sentences[len(result.verdicts) :]),  # the table of limits stands above
            "rows": tornado_rows(result),
        }
        for name, result in results.items()
        if result.sentences or result.influence is not None
    ]


def _public_sentences(entry: Mapping[str, Any]) -> list[str]:
    if not entry["strongest"]:
        return []
    what = "The verdict rests" if entry["limited"] else f"No limit is on {entry['measure']}; its mean risk rests"
    return [f"{what} most on the guess for {entry['strongest']}."]


def publish_how_far(entries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The public form: which guess counts most, and changes rounded to whole percents.

    At which guess a verdict flips tells how near the riskiest record is to the threshold, so it is left out.
    """
    return [
        {
            "measure": entry["measure"],
            "strongest": entry["strongest"],
            "sentences": _public_sentences(entry),
            "rows": [
                {"label": row["label"], "less": round(row["less"], 2), "more": round(row["more"], 2)} for row in entry["rows"]
            ],
        }
        for entry in entries
        if entry["rows"]
    ]
