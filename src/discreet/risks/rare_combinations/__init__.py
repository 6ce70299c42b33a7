"""The risk measure ``rare_combinations``: ``measure`` is the plug-in, the other modules are its own."""
