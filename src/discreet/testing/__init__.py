"""For plug-in authors and tests: the conformance kit and makers of realistic data."""

from __future__ import annotations

from discreet.testing.hospital import hospital
from discreet.testing.items import items
from discreet.testing.patients import patients
from discreet.testing.phonebook import phonebook
from discreet.testing.students import students
from discreet.testing.tables import table

__all__ = ["hospital", "items", "patients", "phonebook", "students", "table"]
