"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# a busy machine is slow now and then, which says nothing about the code
settings.register_profile("discreet", deadline=None, print_blob=True)
settings.load_profile("discreet")

# one answer to how wide a terminal is and whether it has colours, whoever runs the tests
os.environ["COLUMNS"] = "120"
os.environ["NO_COLOR"] = "1"
os.environ.pop("FORCE_COLOR", None)
