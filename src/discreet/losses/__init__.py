"""Information loss measures, one per module or package."""
