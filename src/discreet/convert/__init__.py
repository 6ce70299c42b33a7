"""The Data Converter: files and database tables to and from Microdata."""

from __future__ import annotations

from discreet.convert.policy_file import load_policy
from discreet.convert.source import read_source
from discreet.convert.streamed import scan_source
from discreet.convert.target import convert, write_target

__all__ = ["convert", "load_policy", "read_source", "scan_source", "write_target"]
