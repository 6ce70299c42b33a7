"""The risk measure ``known_sets``: ``measure`` is the plug-in, the other modules are its own."""
