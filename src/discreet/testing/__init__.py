"""For plug-in authors and tests: the conformance kit and makers of realistic data."""

from __future__ import annotations

from discreet.testing.conformance import check_loss, check_risk
from discreet.testing.employees import employees
from discreet.testing.findings import ConformanceError
from discreet.testing.hospital import hospital
from discreet.testing.items import items
from discreet.testing.masking_checks import check_masking
from discreet.testing.patients import patients
from discreet.testing.phonebook import phonebook
from discreet.testing.students import students
from discreet.testing.tables import table

__all__ = [
    "ConformanceError", "check_loss", "check_masking", "check_risk",
    "employees", "hospital", "items", "patients", "phonebook", "students", "table",
]  # fmt: skip
