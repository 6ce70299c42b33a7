"""The risk measure ``l_diversity``: ``measure`` is the plug-in, the other modules are its own."""
