"""The risk measure ``repeated_records``: ``measure`` is the plug-in, the other modules are its own."""
