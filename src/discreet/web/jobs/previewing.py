"""The job that shows how a file or a database table would be read; a preview is a private file until its table is imported."""

from __future__ import annotations

import datetime as dt
import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from discreet.convert.files.expansion import check_expansion
from discreet.convert.reading.preview import MAX_CHARACTERS, Preview, preview_source
from discreet.convert.reading.source import is_url
from discreet.convert.writing.atomic import write_text
from discreet.engine.runtime.private_files import create_private_folder
from discreet.engine.runtime.progress import report_progress
from discreet.model.policy import Policy
from discreet.web.db.staging import delete_older_previews, preview_path, staging_key


def write_preview(inputs: dict[str, Any], policy: Policy) -> dict[str, Any]:
    """Write the preview as JSON beside the upload; the job's row holds nothing of the data."""
    report_progress(f"reading {inputs['name']}", 0, 1)
    source: str = inputs["source"]
    if not is_url(source):
        check_expansion(Path(source), (inputs.get("limits") or {}).get("expanded_bytes"))
    content = describe_preview(preview_source(source, policy), inputs)
    target = preview_path(Path(inputs["folder"]), inputs["parameters"], inputs["job"])
    create_private_folder(target.parent)
    write_text(target, json.dumps(content, allow_nan=False), private=True)
    delete_older_previews(target, staging_key(inputs["parameters"]))
    readable = not content["problem"]
    sentence = f"the preview of {inputs['name']} is ready" if readable else f"{inputs['name']} cannot be read with these options"
    return {"result": {"columns": content["column_count"], "readable": readable}, "sentence": sentence}


def describe_preview(preview: Preview, inputs: dict[str, Any]) -> dict[str, Any]:
    """A preview as JSON values, without paths of the server."""
    content = {name: value for name, value in vars(preview).items() if name not in ("policy", "choices", "columns")}
    return content | {
        "name": inputs["name"],
        "read": preview.policy.read.model_dump(mode="json", exclude_defaults=True),
        "problem": _with_display_names(preview.problem, inputs),
        "notes": [_with_display_names(note, inputs) for note in preview.notes],
        "choices": [asdict(choice) for choice in preview.choices],
        "columns": [asdict(column) for column in preview.columns],
        "rows": [[_json_value(value) for value in row] for row in preview.rows],
    }


def _with_display_names(sentence: str, inputs: dict[str, Any]) -> str:
    for path, name in inputs.get("display_names", {}).items():
        sentence = sentence.replace(path, name)
    return sentence


def _json_value(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    text = value.isoformat(" ") if isinstance(value, dt.datetime) else str(value)
    return text if len(text) <= MAX_CHARACTERS else text[:MAX_CHARACTERS] + "…"
