"""The risk measure ``decision``: ``measure`` is the plug-in, the other modules are its own."""
