"""The owner's secret keys: the key ring, the choice of a release's key, and the recognition of releases by their content."""
