"""Tests of how far verdicts hold share an oracle, which is imported from this folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
