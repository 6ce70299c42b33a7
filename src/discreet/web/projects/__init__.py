"""Projects, their policies, datasets and releases."""
