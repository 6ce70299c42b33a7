"""The Data Converter: files and database tables to and from Microdata."""

from __future__ import annotations

from discreet.convert.reading.policy_file import load_policy
from discreet.convert.reading.source import read_source
from discreet.convert.reading.streamed import scan_source
from discreet.convert.writing.target import convert, write_target

__all__ = ["convert", "load_policy", "read_source", "scan_source", "write_target"]
