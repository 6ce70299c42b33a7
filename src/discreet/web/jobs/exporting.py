"""The masked table of a release in another file format, written by a job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.convert import convert, write_target
from discreet.convert.files.formats import format_of
from discreet.model.policy import Policy
from discreet.web.jobs.labels import has_labels, read_with_labels


def write_export(inputs: dict[str, Any]) -> dict[str, Any]:
    """Write the export that a job asks for, beside the masked table."""
    release, form = inputs["release"], inputs["parameters"]["format"]
    source = Path(inputs["folder"]) / release["file"]
    target = source.with_name(f"export.{form}")
    if has_labels(source) or format_of(target).module == "delimited":
        write_target(read_with_labels(source, Policy()), target, public=True)
    else:
        convert(source, target, Policy(), overwrite=True)
    result = {"release": release["number"], "format": form, "bytes": target.stat().st_size}
    return {"result": result, "sentence": f"release {release['number']} was written as {form}"}
