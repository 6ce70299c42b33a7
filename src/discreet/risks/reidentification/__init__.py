"""The risk measure ``reidentification``: ``measure`` is the plug-in, the other modules are its own."""
