"""The risk measure ``special_uniques``: ``measure`` is the plug-in, the other modules are its own."""
