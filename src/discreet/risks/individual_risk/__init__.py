"""The risk measure ``individual_risk``: ``measure`` is the plug-in, the other modules are its own."""
