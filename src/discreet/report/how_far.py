"""How far the verdict of a report holds: what it rests on, and how wrong the guesses behind it may be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
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
        return [{"measure": "", "strongest": None, "sentences": [f"How far this holds was not examined: {error}."], "rows": []}]
    return [
        {
            "measure": name,
            "strongest": result.strongest,
            "sentences": list(replace(result, verdicts=()).sentences),  # the table of limits stands above
            "rows": tornado_rows(result),
        }
        for name, result in results.items()
        if result.sentences or result.influence is not None
    ]


def publish_how_far(entries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The public form: which guess counts most, and changes rounded to whole percents.

    At which guess a verdict flips tells how near the riskiest record is to the threshold, so it is left out.
    """
    return [
        {
            "measure": entry["measure"],
            "strongest": entry["strongest"],
            "sentences": [f"The verdict rests most on the guess for {entry['strongest']}."] if entry["strongest"] else [],
            "rows": [
                {"label": row["label"], "less": round(row["less"], 2), "more": round(row["more"], 2)} for row in entry["rows"]
            ],
        }
        for entry in entries
        if entry["rows"]
    ]
