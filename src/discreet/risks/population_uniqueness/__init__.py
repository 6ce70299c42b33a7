"""The risk measure ``population_uniqueness``: ``measure`` is the plug-in, the other modules are its own."""
