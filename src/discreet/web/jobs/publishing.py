"""Publish an approved release: write its table where other programs read it, with the grants that the owner names.

The table is replaced in one step, and the file that is written is the one that was approved: its digest is checked first.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.convert import write_target
from discreet.engine.runtime.progress import report_progress
from discreet.errors import SourceError
from discreet.model.policy import Policy
from discreet.report.provenance import sha256
from discreet.web.jobs.labels import read_with_labels
from discreet.web.jobs.releasing import refuse_seed
from discreet.web.projects import published_tables


def publish_release(inputs: dict[str, Any]) -> dict[str, Any]:
    """Write the table of an approved release, which replaces that of the release published before."""
    release = inputs["release"]
    refuse_seed((release["policy"].get("plan") or {}).get("seed"))
    published, table_name = inputs["published"], inputs["project"]["table_name"]
    file = Path(inputs["folder"]) / release["file"]
    if sha256(file) != release["sha256"]:
        raise SourceError(f"the file of release {release['number']} is not the one that was approved (its SHA-256 differs)")
    published_tables.check_grantees(published, inputs["grants"])
    published_tables.prepare(published)
    published_tables.revoke_others(published, table_name, inputs["grants"])
    report_progress(f"publishing release {release['number']} as {table_name}", 0, 1)
    write_target(read_with_labels(file, Policy()), published_tables.table_address(published, table_name), private=True)
    published_tables.set_grants(published, table_name, inputs["grants"])
    result = {"release": release["number"], "table_name": table_name}
    return {"result": result, "sentence": f"release {release['number']} is published as the table {table_name}"}
